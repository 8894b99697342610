//! Rows that are too long for the registers of one block, and poorly served by its shared memory: the threads of a cluster
//! of blocks have enough registers for one.

use super::keep::{keep, longest_row, sums};
use super::threads::is_folded_often;
use super::width::width;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::{MAX_KEPT_BYTES, MAX_LONG_ROW_ELEMENTS, MAX_ROW_ELEMENTS};

/// How many blocks have registers for a row together: 1 if one has, or if no cluster of the GPU does.
pub(super) fn blocks(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule, lane: Axis) -> u32 {
    let sums = sums(work, schedule, lane);
    let elements = if sums > 0 { MAX_ROW_ELEMENTS } else { MAX_LONG_ROW_ELEMENTS };
    let of_block = elements * u64::from(facts.most_threads);
    let is_whole = schedule.chunk(lane).is_none() && width(work, schedule) > 1;
    let fits = is_whole && MAX_ROW_ELEMENTS * sums <= MAX_KEPT_BYTES;
    let most = longest_row(work, schedule, lane).filter(|_| fits);
    let blocks = most.map(|most| most.div_ceil(of_block).next_power_of_two());
    blocks.filter(|&blocks| blocks <= facts.max_cluster.into()).map_or(1, |blocks| blocks as u32)
}

/// Spreads the lanes over a cluster, if they then keep sums of columns or values that they would read again.
pub(super) fn cluster(work: &Workload<'_>, facts: &Gpu, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane.filter(|&lane| !is_served(work, schedule, lane)) else { return };
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

/// Whether the threads of a block have in registers what they read again; or in shared memory, if they fold so often that
/// waiting for other blocks takes longer.
fn is_served(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> bool {
    let most = MAX_LONG_ROW_ELEMENTS * u64::from(schedule.lanes);
    let has_registers = longest_row(work, schedule, lane).is_some_and(|row| row <= most);
    schedule.private && (has_registers || is_folded_often(work, schedule, lane))
}
