//! What a schedule is chosen for: a group, the target, and the expected sizes.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ops::CpuSpelling;

use super::Schedule;
use crate::cycles::OpCycles;
use crate::hints::Hints;
use crate::legal::{Fold, Witness};
use ir::layout::SegmentLayouts;
use space::Axis;
use target::Target;

/// A group on a target, at the expected sizes.
#[derive(Clone, Copy, Debug)]
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

    /// Whether a value of the group has every axis that the group walks, so that computing it in each row repeats nothing.
    pub(super) fn walks_all(&self, val: Val) -> bool {
        let axes = self.witness.space.axes_of(val);
        self.witness.order.iter().all(|axis| axes.iter().flatten().any(|own| own == axis))
    }

    /// Whether the segment has so few operations that it is memory-bound, if none is costly.
    pub(super) fn is_short(&self) -> bool {
        self.view.order().len() <= self.target.little
    }

    /// Whether the segment is so little work that it is memory-bound: few operations, and few cycles per element of all
    /// axes.
    pub(super) fn is_little(&self) -> bool {
        let Workload { graph, view, target, .. } = *self;
        let ops = OpCycles::of(target);
        let is_counted = |node: &Node| match graph.node(*node).op {
            TensorOp::Fold { .. } => true,
            TensorOp::Scan { .. } => false,
            _ => self.walks_all((*node).into()),
        };
        let cycles =
            || view.order().iter().filter(|node| is_counted(node)).map(|&node| ops.of_node(graph, node));
        self.is_short() && cycles().sum::<u64>() <= target.little as u64
    }

    /// Whether a node is computed by a polynomial.
    pub(super) fn is_polynomial(&self, node: Node) -> bool {
        let TensorOp::Map(op) = self.graph.node(node).op else { return false };
        matches!(op.row().cpu.of(self.graph.dtype(node.into())), Some(CpuSpelling::Polynomial(_)))
    }

    /// The number of iterations that a loop is expected to make.
    pub(super) fn trip_count(&self, schedule: &Schedule, walked: Axis) -> u64 {
        self.hints.value(&schedule.extent(self.witness, walked))
    }

    /// The most iterations that a loop makes in a block at any sizes, if that is known.
    pub(super) fn max_trip_count(&self, schedule: &Schedule, walked: Axis) -> Option<u64> {
        let most = self.hints.most(self.view.facts(), &schedule.extent(self.witness, walked));
        most.into_iter().chain(schedule.chunk(walked)).min()
    }

    /// Bytes of the inputs for one index of an axis, at one index of the others outside the stages.
    pub(super) fn row_bytes(&self, schedule: &Schedule, row: Axis) -> u64 {
        let Workload { graph, view, witness, .. } = *self;
        let mut counted = Vec::new();
        let mut sum = 0_u64;
        for &node in view.order() {
            for (place, &operand) in graph.node(node).operands.iter().enumerate() {
                let axes = witness.space.axes_of_operand(node, place);
                let loops = schedule.loops_of(axes.iter().flatten().copied());
                if !view.is_input(operand) || !loops.contains(&row) || counted.contains(&operand) {
                    continue;
                }
                counted.push(operand);
                let within = loops.iter().filter(|axis| schedule.inner.contains(axis));
                let elements =
                    within.fold(1, |n: u64, &axis| n.saturating_mul(self.trip_count(schedule, axis)));
                sum = sum.saturating_add(elements.saturating_mul(graph.dtype(operand).size() as u64));
            }
        }
        sum
    }
}

/// Whether a terminal fold over rows has results for each index within the stages, so that they are in scratch.
pub(super) fn has_results_in_scratch(schedule: &Schedule, fold: &Fold, row: Axis) -> bool {
    let reduces = fold.reduced.iter().any(|&axis| schedule.loop_of(axis) == row);
    fold.terminal && reduces && schedule.keeps_in_stages(fold)
}
