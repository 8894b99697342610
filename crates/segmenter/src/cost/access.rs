//! How a kernel accesses memory: how often, in which pattern, on how many cores at once.
//!
//! Takes a witness; the results hold for the schedules that are chosen. Factors were measured on graphs of one and two folds
//! (`docs/internals/cost.md`).

use ir::graph::{Fusion, Graph, TensorOp, Val};
use scheduler::hints::Hints;
use scheduler::legal::{Fold, Store, When, Witness};
use space::{Atoms, Axis};
use target::cpu::MAX_STREAMED_ROWS;
use target::{Processor, Target};

/// Elements of a vector.
const VECTOR: u64 = 16;

/// How a kernel accesses memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Access {
    /// How often it reads its inputs from main memory.
    pub sweeps: u32,
    /// How many rows the lanes of a block walk in sequence in each sweep, since no two blocks may share them.
    pub rows: u64,
    /// How much longer each byte takes than in a loop over contiguous memory.
    pub slowdown: f64,
    /// The part of the machine's cores that are busy.
    pub busy: f64,
}

impl Access {
    /// The accesses of a kernel whose blocks keep `bytes` from stage to stage.
    pub(super) fn of(
        (graph, view): (&Graph, &Fusion),
        witness: &Witness,
        bytes: u64,
        hints: &Hints,
        target: &Target,
    ) -> Access {
        let accessed = accessed(graph, view, witness, hints);
        let last = contiguous(witness, &accessed);
        let columns = last.is_some_and(|last| walks_columns(witness, last, hints));
        let strip = if !columns {
            1
        } else if stands_outside(witness, last) {
            target.column_strip
        } else {
            target.strip
        };
        let divided = hints.value(&witness.divided()).max(1);
        let blocks = divided.div_ceil(strip).max(1);
        let slowdown = if lies_across(witness, last) || (columns && folds_across(witness, last)) {
            target.across_lanes
        } else if columns {
            target.in_columns
        } else {
            1.0 + part_across(witness, last, &accessed) * (target.in_tiles - 1.0)
        };
        let slowdown = slowdown * lanes_per_index((graph, view), witness, last, hints);
        let most = match target.processor {
            // Cores that have one block less wait at the end.
            Processor::Cpu(_) => blocks.next_multiple_of(target.cores),
            Processor::Gpu(_) => blocks.max(target.cores),
        };
        let busy = blocks as f64 / most as f64;
        let rows = rows_of_block(witness, hints);
        Access { sweeps: sweeps(witness, bytes / blocks, target), rows, slowdown, busy }
    }
}

/// The fewest rows that a block walks, if lanes walk rows: the axes around those that blocks do not divide.
fn rows_of_block(witness: &Witness, hints: &Hints) -> u64 {
    let is_divided = |axis: &&Axis| witness.workers.contains(axis);
    let around = witness.order.iter().rev().skip_while(|axis| !is_divided(axis));
    let walked = around.filter(|axis| !is_divided(axis));
    let rows = walked.map(|&axis| hints.value(witness.space.size(axis))).fold(1, u64::saturating_mul);
    if witness.order.last().is_some_and(|last| witness.workers.contains(last)) { 1 } else { rows }
}

/// A tensor that a kernel accesses.
struct Accessed<'a> {
    axes: &'a [Atoms],
    /// The axis along which it is contiguous.
    along: Axis,
    is_input: bool,
    bytes: u64,
}

/// The tensors that a kernel accesses.
fn accessed<'a>(graph: &Graph, view: &Fusion, witness: &'a Witness, hints: &Hints) -> Vec<Accessed<'a>> {
    let bytes = |val: Val| hints.value(&graph.ty(val).bytes());
    let read = view.inputs().iter().filter_map(|&input| {
        let (axes, along) = innermost(graph, view, witness, input)?;
        Some(Accessed { axes, along, is_input: true, bytes: bytes(input) })
    });
    let stored = witness.stores.iter().filter_map(|Store { axes, val, .. }| {
        let order = view.outputs().iter().find(|output| output.val == *val).map(|output| &output.order);
        let along = innermost_of(axes, order.map_or(&[], |order| order))?;
        Some(Accessed { axes, along, is_input: false, bytes: bytes(*val) })
    });
    read.chain(stored).collect()
}

/// The contiguous axis: that of most bytes, as the lanes are chosen; on a tie the innermost one. A group that scans along
/// its last axis has the inputs' order in memory if most are contiguous along another, or lanes are strided in one of the
/// two.
fn contiguous(witness: &Witness, accessed: &[Accessed<'_>]) -> Option<Axis> {
    let most = |counts: &dyn Fn(&Accessed<'_>) -> bool| {
        let along = |axis: &Axis| {
            let own = accessed.iter().filter(|tensor| tensor.along == *axis && counts(tensor));
            own.map(|tensor| tensor.bytes).sum::<u64>()
        };
        witness.order.iter().copied().max_by_key(along)
    };
    match witness.scanned {
        None => most(&|_| true),
        Some(scanned) if witness.order.last() == Some(&scanned) => most(&|tensor| tensor.is_input),
        Some(_) => witness.order.last().copied(),
    }
}

/// The axes of an input, and the one along which it is contiguous.
fn innermost<'a>(
    graph: &Graph,
    view: &Fusion,
    witness: &'a Witness,
    input: Val,
) -> Option<(&'a [Atoms], Axis)> {
    let user = *view.uses(input).first()?;
    let k = graph.node(user).operands.iter().position(|&operand| operand == input)?;
    let axes = witness.space.axes_of_operand(user, k);
    let order: &[u8] = match graph.op(input) {
        TensorOp::Input { layout, .. } => &layout.order,
        _ => &[],
    };
    Some((axes, innermost_of(axes, order)?))
}

/// The innermost axis in memory of a tensor with these axes, whose order there is row-major if it is empty.
fn innermost_of(axes: &[Atoms], order: &[u8]) -> Option<Axis> {
    if order.is_empty() {
        return axes.iter().flatten().last().copied();
    }
    order.iter().flat_map(|&axis| &axes[usize::from(axis)]).last().copied()
}

/// Whether each block walks many rows for a few neighbours in each: workers divide the contiguous axis, but not the rows.
fn walks_columns(witness: &Witness, last: Axis, hints: &Hints) -> bool {
    let walked = witness.order.iter().filter(|axis| **axis != last && !witness.workers.contains(axis));
    let rows = walked.map(|&axis| hints.value(witness.space.size(axis))).fold(1, u64::saturating_mul);
    witness.workers.contains(&last) && rows > MAX_STREAMED_ROWS
}

/// Whether a fold reduces the contiguous axis. If workers divide it, its lanes are strided in memory.
fn folds_across(witness: &Witness, last: Option<Axis>) -> bool {
    last.is_some_and(|last| witness.folds.iter().any(|fold| fold.reduced.contains(&last)))
}

/// Whether the loop over lanes is around stages that wait for folds or a scan, if workers divide the contiguous axis.
fn stands_outside(witness: &Witness, last: Option<Axis>) -> bool {
    let may_divide = |last: Axis| witness.workers.contains(&last) && witness.lanes_fit_outside(last);
    witness.stages_wait() && last.is_some_and(may_divide)
}

/// Whether lanes are strided in memory: stages wait for folds while workers divide the contiguous axis, and the loop over
/// lanes cannot be around the stages.
fn lies_across(witness: &Witness, last: Option<Axis>) -> bool {
    let is_divided = last.is_some_and(|last| witness.workers.contains(&last));
    is_divided && witness.has_inner_folds() && !stands_outside(witness, last)
}

/// The part of a kernel's bytes that lanes walk, but that lie along another axis. Those of a single stage cost no more in
/// tiles.
fn part_across(witness: &Witness, last: Option<Axis>, accessed: &[Accessed<'_>]) -> f64 {
    let Some(last) = last.filter(|_| witness.stage_count > 1 && witness.scanned.is_none()) else {
        return 0.0;
    };
    let is_across = |tensor: &&Accessed<'_>| {
        tensor.along != last && tensor.axes.iter().flatten().any(|&axis| axis == last)
    };
    let across = accessed.iter().filter(is_across).map(|tensor| tensor.bytes).sum::<u64>();
    let all = accessed.iter().map(|tensor| tensor.bytes).sum::<u64>();
    across as f64 / all.max(1) as f64
}

/// How many lanes of a vector there are for each index that they walk: more than one where stages wait for each other along
/// an axis of few indices.
fn lanes_per_index(
    (graph, view): (&Graph, &Fusion),
    witness: &Witness,
    last: Option<Axis>,
    hints: &Hints,
) -> f64 {
    let Some(last) = last.filter(|_| witness.stage_count > 1) else { return 1.0 };
    // One loop walks both.
    let joins = |axis: Axis| {
        let mut nodes = view.order().iter();
        witness.alike(axis, last) && !nodes.any(|&node| witness.is_moved_along(graph, node, [axis, last]))
    };
    let alike = witness.order.iter().filter(|&&axis| axis == last || joins(axis));
    let walked = alike.map(|&axis| hints.value(witness.space.size(axis))).fold(1, u64::saturating_mul);
    (VECTOR as f64 / walked.max(1) as f64).max(1.0)
}

/// How often a kernel reads its inputs from main memory: once if what a block re-reads between stages fits the memory that
/// serves it, or its cluster; otherwise once for each stage that walks axes that workers do not divide.
fn sweeps(witness: &Witness, block: u64, target: &Target) -> u32 {
    if witness.stage_count <= 1 || block <= target.row_bytes() {
        return 1;
    }
    let walks = |stage: u32| {
        let folded = witness.folds.iter().filter(|fold| fold.stage == stage).flat_map(Fold::domain);
        let stored = witness.stores.iter().filter(|store| store.when == When::Stage(stage));
        folded.chain(stored.flat_map(Store::domain)).any(|axis| !witness.workers.contains(&axis))
    };
    (0..witness.stage_count).filter(|&stage| walks(stage)).count().max(1) as u32
}
