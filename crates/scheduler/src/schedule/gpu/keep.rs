//! What the threads of a row keep: the results of folds over other rows, inputs, cast, that later stages read again, and
//! values that take many instructions. In registers, if a row is so short that each thread has few elements; otherwise only
//! inputs, in shared memory, as they are in memory. All other values are recomputed from those.

use ir::graph::{Graph, Node, TensorOp, Val};
use ops::ScalarOp;

use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::persist::{is_costly, is_needed_again, narrow_value, needs};
use crate::schedule::workload::Workload;
use space::Axis;
use target::gpu::{MAX_BLOCK_THREADS, MAX_KEPT_BYTES, MAX_LONG_ROW_ELEMENTS, MAX_ROW_ELEMENTS};

/// The longest that a row of a block can be, if that is known: its threads then walk it in a known number of steps. By facts
/// alone, which kernels state as assumptions; they do not state the limits of hints.
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
    let short = MAX_ROW_ELEMENTS * u64::from(schedule.lanes);
    let sums = sums(work, schedule, lane) * most.div_ceil(schedule.lanes.into()).min(MAX_ROW_ELEMENTS);
    let inputs = wanted(work, &[]);
    let longest = if sums > 0 { short } else { MAX_LONG_ROW_ELEMENTS * u64::from(schedule.lanes) };
    if most > longest {
        if sums == 0 {
            keep_in_shared_memory(work, schedule, most, inputs);
        }
        return;
    }
    let values = [wanted(work, &costly(work)), inputs];
    let elements = if most > short { MAX_LONG_ROW_ELEMENTS } else { MAX_ROW_ELEMENTS };
    let held = |values: &Vec<Val>| elements * most_at_once(work, values, most > short);
    schedule.private = (sums > 0 || values.iter().any(|values| held(values) > 0)) && sums <= MAX_KEPT_BYTES;
    if schedule.private {
        let fitting = values.iter().find(|values| sums + held(values) <= MAX_KEPT_BYTES);
        schedule.persistent = fitting.cloned().unwrap_or_default();
        schedule.narrow = most > short && !schedule.persistent.is_empty();
    }
}

/// The most bytes of an element of these values that wait for a later stage at the same time; for widened inputs, as they
/// are in memory if they are kept that way.
fn most_at_once(work: &Workload<'_>, values: &[Val], narrow: bool) -> u64 {
    let Workload { graph, view, witness, .. } = *work;
    let waits = |val: &&Val, stage: u32| {
        let others: Vec<Val> = values.iter().copied().filter(|other| other != *val).collect();
        witness.stage_of(val.node).is_some_and(|own| own <= stage)
            && (stage + 1..witness.stage_count).any(|later| needs(work, &others, later, val.node))
    };
    let held = |val: &Val| if narrow { narrow_value(graph, view, *val) } else { *val };
    let at = |stage: u32| -> u64 {
        let waiting = values.iter().filter(|val| waits(val, stage));
        waiting.map(|val| graph.dtype(held(val)).size() as u64).sum()
    };
    (0..witness.stage_count).map(at).max().unwrap_or(0)
}

/// Keeps a row of `most` elements at most in shared memory, if it fits.
fn keep_in_shared_memory(work: &Workload<'_>, schedule: &mut Schedule, most: u64, wanted: Vec<Val>) {
    let Workload { graph, view, target, .. } = *work;
    let held = |val: &Val| graph.dtype(narrow_value(graph, view, *val)).size() as u64;
    let bytes = most.saturating_mul(wanted.iter().map(held).sum());
    if wanted.is_empty() || bytes > target.block_bytes {
        return;
    }
    (schedule.private, schedule.narrow, schedule.persistent) = (true, true, wanted);
    if 2 * bytes > target.block_bytes {
        // The only block of a multiprocessor has all the loads in flight there.
        schedule.lanes = MAX_BLOCK_THREADS;
    }
}

/// Bytes of the sums that folds keep of each element of a row.
pub(super) fn sums(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> u64 {
    let columns = work.witness.folds.iter().filter(|fold| is_along(schedule, fold, lane));
    columns.map(|fold| bytes(work.graph, fold.node)).sum()
}

/// Whether a fold leaves a result for each index along the lanes.
fn is_along(schedule: &Schedule, fold: &Fold, lane: Axis) -> bool {
    let mut kept = fold.kept_axes().map(|axis| schedule.loop_of(axis));
    fold.terminal && kept.any(|axis| axis == lane)
}

/// Bytes of an element of a node's results.
pub(super) fn bytes(graph: &Graph, node: Node) -> u64 {
    graph.results(node).map(|val| graph.dtype(val).size() as u64).sum()
}

/// The inputs, widened, that some stage reads and a later one would read again even with these values available, and those
/// values; operands before users.
fn wanted(work: &Workload<'_>, costly: &[Val]) -> Vec<Val> {
    let Workload { graph, view, .. } = *work;
    let is_widened = |node: &Node| {
        let data = graph.node(*node);
        matches!(data.op, TensorOp::Cast(_)) && view.is_input(data.operands[0])
    };
    let is_wanted = |node: &Node| {
        costly.contains(&(*node).into()) || is_widened(node) && is_needed_again(work, costly, *node)
    };
    view.order().iter().copied().filter(is_wanted).map(Val::from).collect()
}

/// Values that take many instructions and that a later stage would recompute; users first, as one may be all that needs an
/// operand. For wide random bits that several stages need, the value computed from them.
fn costly(work: &Workload<'_>) -> Vec<Val> {
    work.view.order().iter().rev().fold(Vec::new(), |mut costly, &node| {
        let is_random = matches!(work.graph.node(node).op, TensorOp::Map(ScalarOp::Philox));
        let stages =
            || (0..work.witness.stage_count).filter(|&stage| needs(work, &costly, stage, node)).count();
        if is_random && stages() > 1 && work.walks_all(node.into()) {
            costly.push(last_user(work, node).into());
        } else if is_costly(work.graph, node) && is_needed_again(work, &costly, node) {
            costly.push(node.into());
        }
        costly
    })
}

/// The last value that a node's stage computes from it and whose availability spares all other stages the node; the node
/// itself, if there is none.
fn last_user(work: &Workload<'_>, node: Node) -> Node {
    let stage = work.witness.stage_of(node);
    let suffices = |user: &Node| {
        work.witness.stage_of(*user) == stage
            && work.walks_all((*user).into())
            && !is_needed_again(work, &[(*user).into()], node)
    };
    work.view.order().iter().rev().copied().find(suffices).unwrap_or(node)
}
