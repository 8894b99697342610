//! Rows that are too long for the registers of one block, and that its shared memory serves badly: the threads of a cluster of
//! blocks have registers for all of one.

use super::keep::{keep, longest_row, sums};
use super::width::width;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::{MAX_KEPT_BYTES, MAX_ROW_ELEMENTS};

/// The blocks whose threads have registers for a row: 1 where one has, or where no cluster of the GPU keeps it there.
pub(super) fn blocks(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule, lane: Axis) -> u32 {
    let of_block = MAX_ROW_ELEMENTS * u64::from(facts.most_threads);
    let is_whole = schedule.chunk(lane).is_none() && width(work, schedule) > 1;
    let fits = is_whole && sums(work, schedule, lane) <= MAX_KEPT_BYTES;
    let most = longest_row(work, schedule, lane).filter(|_| fits);
    let blocks = most.map(|most| most.div_ceil(of_block).next_power_of_two());
    blocks.filter(|&blocks| blocks <= facts.max_cluster.into()).map_or(1, |blocks| blocks as u32)
}

/// Spreads the lanes over a cluster, if they then keep sums of columns or what they would read again.
pub(super) fn cluster(work: &Workload<'_>, facts: &Gpu, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane.filter(|_| !is_served(facts, schedule)) else { return };
    let cluster = blocks(work, facts, schedule, lane);
    if cluster == 1 {
        return;
    }
    let (lanes, warp) = (cluster * facts.most_threads, Some(facts.warp));
    let mut spread = Schedule { cluster, lanes, warp, ..schedule.clone() };
    (spread.private, spread.narrow, spread.persistent) = (false, false, Vec::new());
    keep(work, &mut spread);
    let keeps = sums(work, &spread, lane) > 0 || !spread.persistent.is_empty();
    if keeps && spread.check(work.witness).is_ok() {
        *schedule = spread;
    }
}

/// Whether a block has what it reads again, and leaves half of its multiprocessor's memory to another.
fn is_served(facts: &Gpu, schedule: &Schedule) -> bool {
    schedule.private && schedule.lanes <= facts.most_threads
}
