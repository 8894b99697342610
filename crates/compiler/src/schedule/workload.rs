//! What a schedule is chosen for: a group, the target, and what is expected of sizes.

use ir::graph::{Fusion, Graph};
use ir::index::{Expr, Sym};
use rustc_hash::FxHashMap;

use super::Schedule;
use crate::layout::Memory;
use crate::segment::Witness;
use crate::space::Axis;
use crate::target::Target;

/// The largest value that is expected of anything: more bytes than machines have, and few enough to be summed and
/// multiplied by small factors.
const MOST: u64 = 1 << 48;

/// Sizes that the size symbols are expected to have. A symbol without one counts as 1024.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    sizes: FxHashMap<Sym, i64>,
}

impl Hints {
    /// Hints from known sizes.
    pub fn new(sizes: impl IntoIterator<Item = (Sym, i64)>) -> Hints {
        Hints { sizes: sizes.into_iter().collect() }
    }

    /// An expression's expected value, from 0 to 2^48.
    pub fn value(&self, expr: &Expr) -> u64 {
        let value = expr.eval(&|sym| Some(self.sizes.get(&sym).copied().unwrap_or(1024)));
        value.map_or(MOST, |value| (value.max(0) as u64).min(MOST))
    }
}

/// A group on a target, at the sizes that are expected.
#[derive(Clone, Copy)]
pub struct Workload<'a> {
    /// The container.
    pub graph: &'a Graph,
    /// What the group takes, gives and computes.
    pub view: &'a Fusion,
    /// Why it is legal.
    pub witness: &'a Witness,
    /// How what it touches lies in memory.
    pub memory: Memory<'a>,
    /// What it runs on.
    pub target: &'a Target,
    /// Which sizes are expected.
    pub hints: &'a Hints,
}

impl Workload<'_> {
    /// How many elements all these axes together are expected to have.
    pub(super) fn elements(&self, axes: &[Axis]) -> u64 {
        axes.iter().fold(1, |n, &axis| n.saturating_mul(self.hints.value(self.witness.space.size(axis))))
    }

    /// The number of turns that a loop is expected to make.
    pub(super) fn turns(&self, schedule: &Schedule, walked: Axis) -> u64 {
        self.hints.value(&schedule.extent(self.witness, walked))
    }
}
