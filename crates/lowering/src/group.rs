//! What lowering takes: a group, its witness and its schedule.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ir::layout::LayoutClass;
use scheduler::legal::Witness;
use scheduler::schedule::Schedule;

use crate::counted::Counted;

/// A group to lower, with the decisions about it.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    pub graph: &'a Graph,
    /// What the group takes, gives and computes.
    pub view: &'a Fusion,
    pub witness: &'a Witness,
    pub schedule: &'a Schedule,
    /// The layouts of its inputs.
    pub layouts: &'a [LayoutClass],
    /// The layouts of its stores, in the order of the witness.
    pub stores: &'a [LayoutClass],
    /// Whether known sizes are arguments too, so that the kernels serve similar segments of other sizes. Only for groups
    /// that map elements: others rely on known sizes.
    pub general: bool,
    /// A C identifier that the kernels are named after.
    pub name: &'a str,
}

impl Group<'_> {
    /// The values whose indices are data and may be out of range.
    pub(crate) fn checked(&self) -> Vec<Val> {
        let gathers = |node: &&Node| matches!(self.graph.node(**node).op, TensorOp::Gather(_));
        let is_checked = |gather: &Val| Counted::of(self.graph, self.view.facts(), *gather).is_none();
        self.view.order().iter().filter(gathers).map(|&node| node.into()).filter(is_checked).collect()
    }

    /// Whether a fold crosses blocks.
    pub(crate) fn crosses(&self, fold: usize) -> bool {
        self.schedule.crosses(&self.witness.folds[fold])
    }

    /// The folds that cross blocks.
    pub(crate) fn crossing(&self) -> impl Iterator<Item = usize> {
        (0..self.witness.folds.len()).filter(|&fold| self.crosses(fold))
    }
}
