//! What GPU schedules have besides: how many neighbours a thread takes at a time, how many threads walk a row, what they
//! keep of it, and how much of a flat loop a block takes.

mod cluster;
mod combine;
mod jam;
mod keep;
mod partials;
mod ring;
mod teams;
mod threads;
mod width;

pub(super) use partials::partial_blocks;
pub(super) use teams::teams;
pub(super) use width::strip;

use super::Schedule;
use super::workload::Workload;
use target::Gpu;

/// Completes a schedule whose loops are chosen.
pub(super) fn finish(work: &Workload<'_>, facts: &Gpu, schedule: &mut Schedule) {
    schedule.width = width::width(work, schedule);
    threads::threads(work, facts, schedule);
    keep::keep(work, schedule);
    cluster::cluster(work, facts, schedule);
    schedule.jam = jam::jam(work, facts, schedule);
    ring::ring(work, schedule);
    schedule.combine = combine::combine(work, facts, schedule);
    schedule.warp = (schedule.lanes > facts.warp).then_some(facts.warp);
}
