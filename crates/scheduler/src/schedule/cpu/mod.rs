//! What a CPU's schedules have besides: rows that are walked together, how many lanes hide what operations wait for, what is
//! unrolled and what is prefetched. Numbers are in `target::cpu`.

mod jam;
mod lanes;
mod prefetch;
mod unroll;

use super::Schedule;
use super::workload::Workload;
use target::Cpu;

pub(super) use unroll::unroll;

/// Completes a schedule whose loops are chosen, of a segment with so many bytes that lie along its axes.
pub(super) fn finish(work: &Workload<'_>, facts: &Cpu, bytes: u64, schedule: &mut Schedule) {
    schedule.jam = jam::jam(work, facts, schedule, bytes);
    schedule.lanes = lanes::lanes(work, facts, schedule);
    schedule.prefetch = prefetch::prefetch(work, facts, schedule);
}
