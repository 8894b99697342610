//! How the values of a fusion are connected: what chains of kernels are found from, whatever else is counted along them.

use ir::graph::{Fusion, Node, TensorOp, Val};
use rustc_hash::FxHashSet;

use super::combined::combined;
use super::components::Components;
use super::compulsory::CompulsoryReads;
use super::forced::Forced;
use super::min_reads::MinReads;
use super::sweeps::columns;
use crate::axis_classes::{AxisClasses, Class};
use crate::cost::Amounts;

/// The connections of a fusion.
pub(super) struct Connections<'a> {
    pub classes: AxisClasses,
    pub components: Components<'a>,
    pub reads: CompulsoryReads,
    /// Classes of axes that some scan walks: kernels that walk no others need no workers.
    pub scanned: FxHashSet<Class>,
    /// Classes of axes that are the last one of every value that has them.
    pub columns: FxHashSet<Class>,
    /// The minimum that a kernel reads of a value.
    pub min_reads: MinReads,
    /// The nodes that combine what is in memory with others.
    pub combined: FxHashSet<Node>,
}

impl<'a> Connections<'a> {
    /// Those of a fusion, of which kernels read these bytes in any segmentation.
    pub(super) fn of(
        amounts: &'a Amounts<'a>,
        fusion: &Fusion,
        forced: &Forced,
        reads: &[(Val, u64)],
    ) -> Connections<'a> {
        let graph = amounts.graph;
        let classes = AxisClasses::of(graph, fusion);
        let components = Components::of(fusion, amounts);
        let scanned = fusion.order().iter().filter_map(|&node| match graph.node(node).op {
            TensorOp::Scan { axis, .. } => classes.of_axis(graph, node.into(), axis),
            _ => None,
        });
        Connections {
            scanned: scanned.collect(),
            columns: columns(graph, fusion, &classes),
            min_reads: MinReads::of(amounts, fusion),
            combined: combined(graph, fusion, forced, &classes, &components),
            reads: CompulsoryReads::of(graph, fusion, reads, &components),
            classes,
            components,
        }
    }
}
