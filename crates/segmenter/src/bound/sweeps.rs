//! How often a kernel reads its inputs at least: once more for each stage that waits for a fold, where blocks are too few to
//! keep between stages what they read.
//!
//! Workers divide only axes that a fold keeps whose result is used in the kernel (`scheduler::legal`), so these sizes are its
//! blocks at most. Where lanes take the last of them each block takes a strip, of one of two widths (`cost::access`).

use ir::graph::{Fusion, Graph, Node, Val};
use rustc_hash::FxHashSet;
use target::cpu::MAX_STREAMED_ROWS;
use target::{Processor, Target};

use crate::axis_classes::{AxisClasses, Class};
use crate::cost::Amounts;

/// The blocks of a kernel in which the result of a fold is used.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    /// How many there are at most.
    most: u64,
}

impl Blocks {
    /// The blocks in which a fold's result is used, in a fusion that has these columns.
    pub(super) fn of(
        amounts: &Amounts<'_>,
        classes: &AxisClasses,
        columns: &FxHashSet<Class>,
        fold: Node,
    ) -> Blocks {
        let (graph, hints) = (amounts.graph, amounts.hints);
        let operand = graph.node(fold).operands[0];
        let kept = amounts.of(fold.into()).elements.max(1);
        let rows = amounts.of(operand).elements / kept;
        let last = classes.of_val(graph, operand).last();
        let lanes_take = |class: &Class| {
            columns.contains(class) && classes.of_fold(graph, fold, false).last() == Some(class)
        };
        if last.filter(lanes_take).is_none() || rows <= MAX_STREAMED_ROWS {
            return Blocks { most: kept };
        }
        let last = graph.shape(operand).iter().rfind(|size| !size.is_one());
        let last = last.map_or(1, |size| hints.value(size).max(1));
        let strip = amounts.target.strip.min(amounts.target.column_strip);
        // Workers divide the last axis, of which each block takes a strip, or they do not.
        Blocks { most: kept.div_ceil(strip).max(kept / last) }
    }

    /// Whether such a kernel reads what it needs again for each stage, if it reads and writes at least these bytes.
    pub(super) fn sweep_again(self, target: &Target, read: u64, written: u64) -> bool {
        let kept = match target.processor {
            Processor::Cpu(_) => read.saturating_add(written),
            Processor::Gpu(_) => read,
        };
        kept / self.most > target.row_bytes()
    }
}

/// Classes of axes that are the last one of each value that has them, so that lanes take them where workers divide them.
pub(super) fn columns(graph: &Graph, fusion: &Fusion, classes: &AxisClasses) -> FxHashSet<Class> {
    let results = fusion.order().iter().flat_map(|&node| graph.results(node));
    let vals: Vec<Val> = fusion.inputs().iter().copied().chain(results).collect();
    let of = |val: Val| -> Vec<Class> { classes.of_val(graph, val).collect() };
    let mut columns: FxHashSet<Class> = vals.iter().filter_map(|&val| of(val).last().copied()).collect();
    for &val in &vals {
        if let [before @ .., _] = &of(val)[..] {
            before.iter().for_each(|class| _ = columns.remove(class));
        }
    }
    columns
}
