//! What was found out under facts that stay as they are, and points at which they hold.
//!
//! To fail at a proof takes hundreds of steps. At a point where an expression is negative none has to be tried.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::{Atom, Expr, Sym};

/// The points of a prover: some are left in loops that few of them enter.
const MAX_POINTS: usize = 12;
/// What symbols are at points: sizes below, between and above the constants of definitions; zero for the first block.
const VALUES: [i64; 9] = [0, 0, 1, 3, 40, 700, 1500, 6000, 100_000];

/// What was found out under facts that stay as they are.
#[derive(Default)]
pub(super) struct Known {
    /// What atoms that are no symbols became: bounds of loops repeat within each other.
    simplest: RefCell<FxHashMap<Atom, Expr>>,
    /// Which expressions are proved zero or more.
    nonnegative: RefCell<FxHashMap<Expr, bool>>,
    /// Points at which the facts hold.
    points: Vec<Point>,
}

/// Values of all symbols: of variables that loops gave, of any other one that follows from its number.
#[derive(Clone)]
struct Point {
    number: u32,
    variables: Vec<(Sym, i64)>,
}

impl Known {
    /// Nothing, and points for facts that do not exclude any.
    pub(super) fn anywhere() -> Known {
        let point = |number| Point { number, variables: Vec::new() };
        Known { points: (0..MAX_POINTS as u32).map(point).collect(), ..Known::default() }
    }

    /// Nothing more, and the points at which this holds besides.
    pub(super) fn restricted(&self, holds: impl Fn(&dyn Fn(Sym) -> Option<i64>) -> bool) -> Known {
        let held = self.points.iter().filter(|point| holds(&|sym| Some(point.value(sym))));
        Known { points: held.take(MAX_POINTS).cloned().collect(), ..Known::default() }
    }

    /// Nothing, and points with a new variable within a range, and outside it, at each of the points.
    pub(super) fn with_variable(&self, var: Sym, begin: &Expr, end: &Expr) -> Known {
        let with = |point: &Point| {
            let value = |e: &Expr| e.eval(&|sym| Some(point.value(sym))).ok();
            let (Some(begin), Some(end)) = (value(begin), value(end)) else { return vec![] };
            let [first, last] = [begin, end.saturating_sub(1)];
            let inside = match point.number % 3 {
                0 => first,
                1 => last,
                _ => first.midpoint(last),
            };
            let values = if point.number.is_multiple_of(4) { vec![inside, end] } else { vec![inside] };
            values.into_iter().map(|value| point.with(var, value)).collect()
        };
        Known { points: self.points.iter().flat_map(with).collect(), ..Known::default() }
    }

    /// What an atom became, if it was met.
    pub(super) fn simplest(&self, atom: &Atom) -> Option<Expr> {
        self.simplest.borrow().get(atom).cloned()
    }

    /// Notes what an atom became.
    pub(super) fn note_simplest(&self, atom: &Atom, simplest: &Expr) {
        self.simplest.borrow_mut().insert(atom.clone(), simplest.clone());
    }

    /// Whether an expression is proved zero or more, by a proof that is made once, and only if no point refutes it.
    pub(super) fn is_nonnegative(&self, e: &Expr, prove: impl FnOnce() -> bool) -> bool {
        if let Some(&decided) = self.nonnegative.borrow().get(e) {
            return decided;
        }
        let decided = !self.refutes(e) && prove();
        self.nonnegative.borrow_mut().insert(e.clone(), decided);
        decided
    }

    /// Whether an expression is negative at a point.
    pub(super) fn refutes(&self, e: &Expr) -> bool {
        self.points.iter().any(|point| matches!(e.eval(&|sym| Some(point.value(sym))), Ok(..0)))
    }
}

impl Point {
    fn value(&self, sym: Sym) -> i64 {
        let variable = self.variables.iter().find(|(var, _)| *var == sym);
        variable.map_or_else(|| scattered(self.number, sym.as_u32()), |(_, value)| *value)
    }

    fn with(&self, var: Sym, value: i64) -> Point {
        let mut variables = self.variables.clone();
        variables.push((var, value));
        Point { number: self.number, variables }
    }
}

/// One of the values, so that neither two symbols nor two points have the same ones throughout.
pub(super) fn scattered(point: u32, sym: u32) -> i64 {
    let mixed = (point.wrapping_mul(0x9e37_79b9) ^ sym.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
    let mixed = (mixed ^ (mixed >> 15)) as usize;
    let value = VALUES[mixed % VALUES.len()];
    if value > 3 { value + (mixed / 16 % 97) as i64 } else { value }
}
