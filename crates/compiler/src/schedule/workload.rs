//! What a schedule is chosen for: a group, the target, and what is expected of sizes.

use ir::graph::{Fusion, Graph};

use super::Schedule;
use crate::hints::Hints;
use crate::layout::SegmentLayouts;
use crate::segment::Witness;
use crate::space::Axis;
use crate::target::Target;

/// A group on a target, at the sizes that are expected.
#[derive(Clone, Copy)]
pub struct Workload<'a> {
    pub graph: &'a Graph,
    /// What the group takes, gives and computes.
    pub view: &'a Fusion,
    pub witness: &'a Witness,
    /// The layouts of what it touches.
    pub memory: SegmentLayouts<'a>,
    pub target: &'a Target,
    pub hints: &'a Hints,
}

impl Workload<'_> {
    /// How many elements all these axes together are expected to have.
    pub(super) fn elements(&self, axes: &[Axis]) -> u64 {
        axes.iter().fold(1, |n, &axis| n.saturating_mul(self.hints.value(self.witness.space.size(axis))))
    }

    /// The number of iterations that a loop is expected to make.
    pub(super) fn trip_count(&self, schedule: &Schedule, walked: Axis) -> u64 {
        self.hints.value(&schedule.extent(self.witness, walked))
    }
}
