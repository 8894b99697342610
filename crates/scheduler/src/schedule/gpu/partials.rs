//! How many blocks are enough if each leaves partial results: as many as have enough rows in flight, but no more than run at
//! the same time, as a second wave takes as long again.

use super::cluster;
use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use target::Gpu;
use target::gpu::{KEEPERS_REGISTERS, MAX_PARTIALS, MAX_ROW_ELEMENTS};

/// Whether each block leaves a single number for each fold, and folds of a row wait for each other: more blocks then have
/// more rows in flight.
fn leaves_little(work: &Workload<'_>) -> bool {
    let is_cut = |fold: &&Fold| fold.reduced.iter().any(|axis| work.witness.workers.contains(axis));
    let mut cut = work.witness.folds.iter().filter(is_cut);
    work.witness.stage_count > 1 && cut.all(|fold| fold.kept_axes().next().is_none())
}

/// How many blocks, or clusters of them; asked before the lanes' axis is cut, if folds reduce it.
pub(in crate::schedule) fn partial_blocks(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> u64 {
    let target = work.target;
    if leaves_little(work) {
        return target.blocks;
    }
    let row = schedule.lane.filter(|lane| !work.witness.workers.contains(lane));
    let threads = match row {
        Some(lane) => work.trip_count(schedule, lane).div_ceil(MAX_ROW_ELEMENTS).next_power_of_two(),
        None => target.lanes.into(),
    };
    let blocks = row.map_or(1, |lane| cluster::blocks(work, facts, schedule, lane));
    let threads = threads.clamp(facts.warp.into(), (facts.most_threads * blocks).into());
    let needed = (facts.latency * target.bandwidth) as u64 / target.cores;
    let wanted = needed.div_ceil(threads * facts.in_flight).clamp(facts.partials, MAX_PARTIALS);
    let registers = facts.multiprocessor.registers * target.cores;
    let fitting = row.map_or(u64::MAX, |_| registers / (threads * KEEPERS_REGISTERS));
    (wanted * target.cores).min(fitting).max(1)
}
