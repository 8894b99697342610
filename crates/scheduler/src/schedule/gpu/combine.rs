//! How many results a block of a combine step has, and how many teams of threads share the chunks of each: so many that every
//! multiprocessor has all in flight that it can, and that no thread adds up many partial results one after the other.

use ir::graph::TensorOp;

use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::{COMBINED_CHUNKS, MAX_BLOCK_THREADS};

/// Results and teams of a block, where blocks divide what a fold that leaves the kernel reduces.
pub(super) fn combine(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> Option<(u32, u32)> {
    let is_cut = |axis: &&Axis| schedule.chunk(schedule.loop_of(**axis)).is_some();
    let folds = || {
        work.witness
            .folds
            .iter()
            .filter(|fold| fold.terminal && fold.reduced.iter().any(|axis| is_cut(&axis)))
    };
    let results = folds().map(|fold| work.elements(&fold.kept_axes().collect::<Vec<_>>())).min()?;
    let share = (results / (facts.partials * work.target.cores)).max(1).next_power_of_two();
    let results = share.clamp(facts.warp.into(), work.target.lanes.into());
    let pieces =
        |axis: Axis| schedule.chunk(axis).map_or(1, |chunk| work.trip_count(schedule, axis).div_ceil(chunk));
    let chunks =
        |axes: &[Axis]| schedule.loops_of(axes.iter().copied()).into_iter().map(pieces).product::<u64>();
    let chunks = folds().map(|fold| chunks(&fold.reduced)).max()?;
    let wanted = chunks.div_ceil(COMBINED_CHUNKS).next_power_of_two();
    // Teams meet in shared memory.
    let states = folds().map(|fold| match work.graph.op(fold.node.into()) {
        TensorOp::Fold { monoid, .. } => monoid.states() as u64,
        _ => 0,
    });
    let most = (work.target.block_bytes / (8 * states.sum::<u64>()).max(1)).max(1).ilog2();
    let lanes = u64::from(MAX_BLOCK_THREADS).min(1 << most);
    Some((results as u32, wanted.min(lanes / results).max(1) as u32))
}
