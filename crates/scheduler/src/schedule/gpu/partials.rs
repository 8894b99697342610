//! How many blocks are enough where each leaves partial results: as many as have enough of their rows in flight.

use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use crate::target::Gpu;
use crate::target::gpu::{MAX_PARTIALS, MAX_ROW_ELEMENTS};

/// How many blocks; asked before a lanes' axis that folds reduce is cut.
pub(in crate::schedule) fn partial_blocks(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> u64 {
    let target = work.target;
    let threads = match schedule.lane.filter(|lane| !work.witness.workers.contains(lane)) {
        Some(lane) => work.trip_count(schedule, lane).div_ceil(MAX_ROW_ELEMENTS).next_power_of_two(),
        None => target.lanes.into(),
    };
    let of_block = threads.clamp(facts.warp.into(), facts.most_threads.into()) * facts.in_flight;
    let needed = (facts.latency * target.bandwidth) as u64 / target.cores;
    needed.div_ceil(of_block).clamp(facts.partials, MAX_PARTIALS) * target.cores
}
