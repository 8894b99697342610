//! Loops over subranges: a partitioned axis is walked from breakpoint to breakpoint, so that a subrange needs no predicate
//! for what a cat or a pad chooses. What is known of the open loops' variables decides predicates, here and in whole loops.

use index::{Expr, Facts, Sym};
use ir::kernel::LoopKind;
use rustc_hash::FxHashMap;

use super::nest::Nest;
use crate::space::{Axis, breakpoints};

/// What is known of a predicate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    True,
    False,
    Unknown,
}

/// What is known where a loop stands.
pub(super) struct Scope {
    facts: Facts,
    /// Predicates that were decided by it: cats of slices of one another ask for the same ones again and again.
    decided: FxHashMap<(Expr, Expr), Known>,
}

impl Scope {
    /// A place where these facts hold.
    pub fn new(facts: Facts) -> Scope {
        Scope { facts, decided: FxHashMap::default() }
    }

    /// The facts.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether `0 <= at < size` holds.
    fn is_within(&mut self, at: &Expr, size: &Expr) -> Known {
        let Scope { facts, decided } = self;
        // Of the parts of a cat most end before the subrange, so that is asked first: to give up takes longest.
        let decide = || {
            let zero = Expr::zero();
            if facts.prove_le(size, at) {
                Known::False
            } else if facts.prove_le(&zero, at) {
                if facts.prove_lt(at, size) { Known::True } else { Known::Unknown }
            } else if facts.prove_lt(at, &zero) {
                Known::False
            } else {
                Known::Unknown
            }
        };
        *decided.entry((at.clone(), size.clone())).or_insert_with(decide)
    }
}

/// A part of an axis: its first index and one past its last, over the kernel's arguments.
pub(super) type Subrange = (Expr, Expr);

impl Nest<'_> {
    /// The subranges that the loop of an axis walks.
    fn subranges(&mut self, axis: Axis) -> Vec<Subrange> {
        let group = self.emitter.group;
        let mut ends = match group.schedule.partition.contains(&axis) {
            true => breakpoints(group.graph, group.view, &group.witness.space, axis, usize::MAX),
            false => Vec::new(),
        };
        ends.push(group.schedule.extent(group.witness, axis));
        let ends: Vec<Expr> = ends.iter().map(|end| self.emitter.size(end)).collect();
        let begins = std::iter::once(Expr::zero()).chain(ends.iter().cloned());
        begins.zip(ends.iter().cloned()).collect()
    }

    /// Opens the loop of an axis over what a subrange and the block's part of it have in common.
    fn open_subrange(&mut self, axis: Axis, kind: LoopKind, subrange: &Subrange) {
        let (begin, end) = self.range(axis);
        let (begin, end) = (Expr::max(&begin, &subrange.0), Expr::min(&end, &subrange.1));
        let width = self.width_of(axis, kind);
        let width =
            if self.emitter.divides(width, &begin) && self.emitter.divides(width, &end) { width } else { 1 };
        let var = self.emitter.open_wide_loop(axis.to_string(), begin, end, kind, width);
        self.walks(axis, var, subrange);
    }

    /// Walks axes, each in its subranges; `body` is emitted within each of them.
    pub fn each_subrange(&mut self, axes: &[Axis], kind: LoopKind, body: &mut dyn FnMut(&mut Self)) {
        let [axis, within @ ..] = axes else { return body(self) };
        let subranges = self.subranges(*axis);
        for (number, subrange) in subranges.iter().enumerate() {
            match subranges.len() {
                1 => self.open_axis(*axis, kind),
                _ => self.open_subrange(*axis, kind, subrange),
            }
            self.subrange.insert(*axis, number);
            self.each_subrange(within, kind, body);
            self.subrange.remove(axis);
            self.close_axis(*axis);
        }
    }

    /// Which subrange of an axis its loop walks, by number.
    pub fn subrange_of(&self, axis: Axis) -> usize {
        self.subrange.get(&axis).copied().unwrap_or(0)
    }

    /// Whether `0 <= at < size` holds where the loops stand.
    pub fn is_within(&mut self, at: &Expr, size: &Expr) -> Known {
        self.scopes.last_mut().map_or(Known::Unknown, |scope| scope.is_within(at, size))
    }
}

/// Facts with a variable within a subrange. Of loops that are known not to run nothing is noted, as anything
/// would follow from it.
pub(super) fn with_subrange(mut facts: Facts, var: Sym, (begin, end): &Subrange) -> Facts {
    for size in begin.symbols().into_iter().chain(end.symbols()) {
        facts.assume_range(size, 0, None);
    }
    if facts.prove_lt(begin, end) || begin.as_const().is_none() || end.as_const().is_none() {
        facts.assume_range(var, 0, None);
        match (begin.as_const(), end.as_const()) {
            (Some(begin), Some(end)) => facts.assume_range(var, begin, end - 1),
            _ => {
                // What contradicts is left out; the facts are then fewer, not wrong.
                let _ = facts.assume_le(begin, &Expr::sym(var));
                let _ = facts.assume_lt(&Expr::sym(var), end);
            }
        }
    }
    facts
}
