//! How many results a block of a combine step has, and how many teams of threads share the chunks of each: enough that every
//! multiprocessor has as many loads in flight as it can, and that no thread adds up many partial results in sequence.

use ir::graph::TensorOp;

use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::COMBINED_CHUNKS;

/// The fewest neighbouring results of a block: of f32 they fill a sector of memory.
const MIN_RESULTS: u64 = 8;

/// The most threads of a block of a combine step: two blocks share a multiprocessor.
const MAX_COMBINE_THREADS: u64 = 512;

/// Results and teams of a block of each combine step, if blocks divide axes that folds leaving the kernel reduce.
pub(super) fn combine(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> Vec<(u32, u32)> {
    let steps = schedule.combine_steps(work.witness);
    let folds = |step: &Vec<usize>| step.iter().map(|&fold| &work.witness.folds[fold]).collect::<Vec<_>>();
    let mut lanes: Vec<_> = steps.iter().map(|step| of_step(work, facts, schedule, &folds(step))).collect();
    // The last line of a schedule applies to all steps after it.
    while lanes.len() > 1 && lanes[lanes.len() - 1] == lanes[lanes.len() - 2] {
        lanes.pop();
    }
    lanes
}

fn of_step(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule, folds: &[&Fold]) -> (u32, u32) {
    let results = work.elements(&folds[0].kept_axes().collect::<Vec<_>>());
    let share = (results / (facts.partials * work.target.cores)).max(1).next_power_of_two();
    let results = share.clamp(MIN_RESULTS, work.target.lanes.into());
    let pieces =
        |axis: Axis| schedule.chunk(axis).map_or(1, |chunk| work.trip_count(schedule, axis).div_ceil(chunk));
    let chunks = schedule.loops_of(folds[0].reduced.iter().copied()).into_iter().map(pieces).product::<u64>();
    let wanted = chunks.div_ceil(COMBINED_CHUNKS).next_power_of_two();
    // Teams meet in shared memory.
    let states = folds.iter().map(|fold| match work.graph.op(fold.node.into()) {
        TensorOp::Fold { monoid, .. } => monoid.states() as u64,
        _ => 0,
    });
    let most = (work.target.block_bytes / (8 * states.sum::<u64>()).max(1)).max(1).ilog2();
    let lanes = MAX_COMBINE_THREADS.min(1 << most);
    (results as u32, wanted.min(lanes / results).max(1) as u32)
}
