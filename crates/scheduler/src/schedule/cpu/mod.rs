//! What CPU schedules have besides: how many rows are jammed, how many lanes hide latency, what is unrolled and what is
//! prefetched. The numbers are in `target::cpu`.

mod jam;
mod lanes;
mod prefetch;
mod unroll;

use super::Schedule;
use super::workload::Workload;
use target::Cpu;

pub(super) use unroll::unroll;

/// Completes a schedule whose loops are chosen, of a segment whose memory along its axes is `bytes`.
pub(super) fn finish(work: &Workload<'_>, facts: &Cpu, bytes: u64, schedule: &mut Schedule) {
    schedule.jam = jam::jam(work, facts, schedule, bytes);
    schedule.lanes = lanes::lanes(work, facts, schedule);
    schedule.prefetch = prefetch::prefetch(work, facts, schedule);
}
