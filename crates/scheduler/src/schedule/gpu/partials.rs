//! How many blocks are enough where each leaves partial results: as many as have enough of their rows in flight, all of them at
//! once where they fold the rows besides.

use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use crate::target::gpu::{MAX_PARTIALS, MAX_ROW_ELEMENTS};
use crate::target::{BlockNeeds, Gpu};

/// Registers of a thread that keeps a row and sums along it.
const ROW_REGISTERS: u64 = 128;

/// How many blocks; asked before a lanes' axis that folds reduce is cut.
pub(in crate::schedule) fn partial_blocks(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> u64 {
    let target = work.target;
    let threads = match schedule.lane.filter(|lane| !work.witness.workers.contains(lane)) {
        Some(lane) => work.trip_count(schedule, lane).div_ceil(MAX_ROW_ELEMENTS).next_power_of_two(),
        None => target.lanes.into(),
    };
    let threads = threads.clamp(facts.warp.into(), facts.most_threads.into());
    let of_block = threads * facts.in_flight;
    let needed = (facts.latency * target.bandwidth) as u64 / target.cores;
    let wanted = needed.div_ceil(of_block).clamp(facts.partials, MAX_PARTIALS);
    // Blocks that find no place would be a second wave, as long as the first.
    let needs = BlockNeeds { threads, registers: Some(ROW_REGISTERS), shared_bytes: 0 };
    let places = facts.multiprocessor.blocks_of(&needs).max(1);
    let folds_rows = work.witness.folds.iter().any(|fold| !fold.terminal);
    target.cores * if folds_rows { wanted.min(places) } else { wanted }
}
