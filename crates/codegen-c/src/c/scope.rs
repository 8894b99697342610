//! What is known where a statement is written.

use cranelift_entity::SecondaryMap;
use index::{Expr, Facts, Sym};
use kernel::{Kernel, Loop};

use super::accesses::launched;
use super::dialect::Dialect;
use super::registers::trip_count;

/// What is known where a statement is written.
pub(super) struct Scope {
    /// Facts about sizes and the variables of the loops around it.
    pub(super) facts: Facts,
    /// Whether it is within a loop over lanes.
    pub(super) in_lanes: bool,
    /// Index expressions that symbols are bound to.
    pub(super) bound: SecondaryMap<Sym, Option<Expr>>,
    /// The variable of the loop over one strip of each lane whose guard is outside it.
    pub(super) guarded: Option<Sym>,
}

impl Scope {
    /// At the top of a kernel's function.
    pub(super) fn of_launch(kernel: &Kernel, dialect: &Dialect) -> Scope {
        let facts = launched(kernel, dialect);
        Scope { facts, in_lanes: false, bound: SecondaryMap::new(), guarded: None }
    }

    /// Enters a loop, whose variable is at least its first value; returns what was known outside.
    pub(super) fn enter(&mut self, for_loop: &Loop) -> (Facts, bool) {
        let mut within = self.facts.clone();
        let min = self.facts.bounds(&for_loop.begin).lo().and_then(|min| i64::try_from(min).ok());
        within.assume_range(for_loop.var, min, None);
        let outside = (std::mem::replace(&mut self.facts, within), self.in_lanes);
        self.in_lanes |= for_loop.kind.is_over_lanes();
        outside
    }

    /// Leaves the loop.
    pub(super) fn leave(&mut self, outside: (Facts, bool)) {
        (self.facts, self.in_lanes) = outside;
    }

    /// The most iterations of each of `lanes` lanes, if that does not depend on sizes.
    pub(super) fn trip_count(&self, for_loop: &Loop, lanes: u32) -> Option<i64> {
        trip_count(&self.with_known_end(for_loop), lanes, &self.facts)
    }

    /// The most iterations of a loop that a lane makes by itself and of which `unrolled` are unrolled, where nearly all such
    /// loops have that many and some fewer.
    pub(super) fn usual_count(&self, for_loop: &Loop, unrolled: u64) -> Option<i64> {
        let is_constant = (for_loop.end.clone() - for_loop.begin.clone()).as_const().is_some();
        let most = self.trip_count(for_loop, 1)?;
        (self.in_lanes && unrolled > 1 && !is_constant && most > 0 && (most as u64).is_multiple_of(unrolled))
            .then_some(most)
    }

    /// The head of a loop, with the symbol of its end replaced by the expression.
    fn with_known_end(&self, for_loop: &Loop) -> Loop {
        let end = for_loop.end.as_sym().and_then(|symbol| self.bound[symbol].clone());
        let end = end.unwrap_or_else(|| for_loop.end.clone());
        Loop { end, body: Vec::new(), ..for_loop.clone() }
    }
}
