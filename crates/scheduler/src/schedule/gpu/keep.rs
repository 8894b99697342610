//! What the threads of a row keep: what they fold over other rows, and what they read of inputs, cast, if later stages want it
//! again. In registers, where a row is short enough for each to have a few elements; else in shared memory, as it is in memory.
//! All else is computed again from those.

use ir::graph::{Graph, Node, TensorOp, Val};

use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::persist::{narrow_value, needs};
use crate::schedule::workload::Workload;
use crate::space::Axis;
use crate::target::gpu::{MAX_BLOCK_THREADS, MAX_KEPT_BYTES, MAX_ROW_ELEMENTS};

/// The longest that a row of a block can be, if that is known: its threads then walk it in a known number of steps.
pub(super) fn longest_row(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> Option<u64> {
    let most = work.view.facts().bounds(&schedule.extent(work.witness, lane)).hi();
    let most = most.and_then(|most| u64::try_from(most).ok());
    most.into_iter().chain(schedule.chunk(lane)).min()
}

/// Chooses what is kept, if anything.
pub(super) fn keep(work: &Workload<'_>, schedule: &mut Schedule) {
    let Some(lane) =
        schedule.lane.filter(|lane| schedule.inner == [*lane] && !schedule.partition.contains(lane))
    else {
        return;
    };
    let Some(most) = longest_row(work, schedule, lane).filter(|_| schedule.width > 1) else { return };
    let columns = work.witness.folds.iter().filter(|fold| is_along(schedule, fold, lane));
    let sums: u64 = columns.map(|fold| bytes(work.graph, fold.node)).sum();
    let wanted = wanted(work);
    if most > MAX_ROW_ELEMENTS * u64::from(schedule.lanes) {
        if sums == 0 {
            keep_in_shared_memory(work, schedule, most, wanted);
        }
        return;
    }
    let values: u64 = wanted.iter().map(|val| bytes(work.graph, val.node)).sum();
    schedule.private = sums + values > 0 && sums <= MAX_KEPT_BYTES;
    if schedule.private && sums + values <= MAX_KEPT_BYTES {
        schedule.persistent = wanted;
    }
}

/// Keeps a row of no more than so many elements in shared memory, if it fits.
fn keep_in_shared_memory(work: &Workload<'_>, schedule: &mut Schedule, most: u64, wanted: Vec<Val>) {
    let Workload { graph, view, target, .. } = *work;
    let held = |val: &Val| graph.dtype(narrow_value(graph, view, *val)).size() as u64;
    let bytes = most.saturating_mul(wanted.iter().map(held).sum());
    if wanted.is_empty() || bytes > target.block_bytes {
        return;
    }
    (schedule.private, schedule.narrow, schedule.persistent) = (true, true, wanted);
    if 2 * bytes > target.block_bytes {
        // The only block of a multiprocessor has all that is in flight there.
        schedule.lanes = MAX_BLOCK_THREADS;
    }
}

/// Whether a fold leaves a result for each index along the lanes.
fn is_along(schedule: &Schedule, fold: &Fold, lane: Axis) -> bool {
    let mut kept = fold.kept_axes().map(|axis| schedule.loop_of(axis));
    fold.terminal && kept.any(|axis| axis == lane)
}

/// Bytes of a thread's elements of a node's results.
fn bytes(graph: &Graph, node: Node) -> u64 {
    graph.results(node).map(|val| graph.dtype(val).size() as u64 * MAX_ROW_ELEMENTS).sum()
}

/// The inputs, widened, that some stage reads and a later one would read again; operands before users.
fn wanted(work: &Workload<'_>) -> Vec<Val> {
    let Workload { graph, view, witness, .. } = *work;
    let is_widened = |node: &Node| {
        let data = graph.node(*node);
        matches!(data.op, TensorOp::Cast(_))
            && view.is_input(data.operands[0])
            && work.walks_all((*node).into())
    };
    let is_wanted = |node: &Node| {
        let own = witness.stage_of(*node);
        own.is_some_and(|own| (own + 1..witness.levels).any(|stage| needs(work, &[], stage, *node)))
    };
    view.order().iter().copied().filter(is_widened).filter(is_wanted).map(Val::from).collect()
}
