//! How many results a block of a combine step has: so few that every multiprocessor has blocks, as each thread adds up the partial
//! results of one after the other.

use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use crate::space::Axis;
use crate::target::Gpu;

/// Results of a block, where blocks divide what a fold that leaves the kernel reduces.
pub(super) fn combine(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> Option<u32> {
    let crosses = |axes: &[Axis]| axes.iter().any(|&axis| schedule.chunk(schedule.loop_of(axis)).is_some());
    let folds = work.witness.folds.iter().filter(|fold| fold.terminal && crosses(&fold.reduced));
    let results = folds.map(|fold| work.elements(&fold.kept_axes().collect::<Vec<_>>())).min()?;
    let share = (results / (facts.partials * work.target.cores)).max(1).next_power_of_two();
    Some(share.clamp(facts.warp.into(), work.target.lanes.into()) as u32)
}
