//! The open loops: which axis each walks, over which part of it, and what is known about its variable.

use index::{Expr, Prover, Sym};
use rustc_hash::FxHashMap;

use space::Axis;

/// A part of an axis: its first index and one past its last, over the kernel's arguments.
pub(crate) type Subrange = (Expr, Expr);

/// The loops that are open, and the block that they are in.
#[derive(Default)]
pub(crate) struct OpenLoops {
    /// The loop variable of each axis that is walked now.
    pub vars: FxHashMap<Axis, Sym>,
    /// The index of each axis that a combine step walks, in the one loop over its results, and of one that is unrolled.
    pub at: FxHashMap<Axis, Expr>,
    /// First index, one past the last, and number of the chunk, for each axis that blocks divide.
    pub chunks: FxHashMap<Axis, (Expr, Expr, Expr)>,
    /// The part of each axis that loops walk now: a strip, for the block of a fold, or that of a tile.
    parts: FxHashMap<Axis, Subrange>,
    /// What is known about sizes and the variables of the open loops, with one more loop in each.
    scopes: Vec<Scope>,
}

impl OpenLoops {
    /// Notes that a loop walks an axis and that its indices are within a subrange.
    pub fn walks(&mut self, axis: Axis, var: Sym, subrange: &Subrange) {
        self.vars.insert(axis, var);
        let (begin, end) = subrange;
        let facts = match self.scopes.last() {
            Some(scope) => scope.facts.in_loop(var, begin, end),
            None => Prover::default().in_loop(var, begin, end),
        };
        let subrange = subrange.clone();
        let (decided, unproved) = Default::default();
        self.scopes.push(Scope { facts, var, subrange, decided, unproved });
    }

    /// Notes that `indices` indices from `first` on are within a subrange.
    pub fn are_within(&mut self, first: &Expr, indices: u32, (begin, end): &Subrange) {
        let Some(scope) = self.scopes.last_mut() else { return };
        // Contradictions are ignored: the loop does not run then.
        let _ = scope.facts.assume_le(begin, first);
        let _ = scope.facts.assume_le(&(first + i64::from(indices)), end);
    }

    /// Forgets the loop of an axis, which is closed, and what its variable implied.
    pub fn forget(&mut self, axis: Axis) {
        self.vars.remove(&axis);
        self.scopes.pop();
    }

    /// The part of an axis that was entered.
    pub fn part(&self, axis: Axis) -> Option<&Subrange> {
        self.parts.get(&axis)
    }

    /// Loops now walk this part of an axis; gives the part that they walked before, for [`leave`](Self::leave).
    pub fn enter(&mut self, axis: Axis, part: Subrange) -> Option<Subrange> {
        self.parts.insert(axis, part)
    }

    /// Loops walk the part of an axis that they walked before it was entered.
    pub fn leave(&mut self, axis: Axis, outside: Option<Subrange>) {
        self.parts.remove(&axis);
        self.parts.extend(outside.map(|part| (axis, part)));
    }

    /// Whether `0 <= at < size` holds inside the open loops.
    pub fn is_within(&mut self, at: &Expr, size: &Expr) -> Known {
        self.scopes.last_mut().map_or(Known::Unknown, |scope| scope.is_within(at, size))
    }

    /// The range of an index that is the variable of a loop, shifted.
    pub fn span(&self, at: &Expr) -> Option<Subrange> {
        let of_loop = self.scopes.iter().rev().find(|scope| at.mentions(scope.var))?;
        let (_, shift) = at.split_linear(of_loop.var).filter(|(step, _)| step.is_one())?;
        let (begin, end) = &of_loop.subrange;
        Some((begin + &shift, end + &shift))
    }
}

/// What is known of a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    True,
    False,
    Unknown,
}

/// What is known inside a loop.
struct Scope {
    facts: Prover,
    /// The variable of the innermost loop, and its range.
    var: Sym,
    subrange: Subrange,
    /// Predicates that were decided with these facts: cats of slices of one another ask for the same ones repeatedly.
    decided: FxHashMap<(Expr, Expr), Known>,
    /// The minimum of the constants of indices, by what else they have, that were not proved less than a size: of jammed rows the
    /// next ones are not either, and to fail takes longest.
    unproved: FxHashMap<(Expr, Expr), i64>,
}

impl Scope {
    /// Whether `0 <= at < size` holds.
    fn is_within(&mut self, at: &Expr, size: &Expr) -> Known {
        let Scope { facts, decided, unproved, .. } = self;
        let shift = at.constant_term();
        let mut is_less = || {
            let minimum = unproved.entry((at - shift, size.clone())).or_insert(i64::MAX);
            let is_proved = shift < *minimum && facts.prove_lt(at, size);
            *minimum = if is_proved { *minimum } else { shift.min(*minimum) };
            is_proved
        };
        // Most parts of a cat end before the subrange, so that is asked first: giving up takes longest.
        let decide = || {
            let zero = Expr::zero();
            if facts.prove_le(size, at) {
                Known::False
            } else if facts.prove_le(&zero, at) {
                if is_less() { Known::True } else { Known::Unknown }
            } else if facts.prove_lt(at, &zero) {
                Known::False
            } else {
                Known::Unknown
            }
        };
        *decided.entry((at.clone(), size.clone())).or_insert_with(decide)
    }
}
