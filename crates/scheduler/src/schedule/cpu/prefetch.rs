//! What is prefetched, and at what distance.
//!
//! * Where a row is read in one stage and processed in another, the next row is prefetched in between: memory would be idle.
//! * Where nothing is folded, elements further along the lanes are prefetched where the lanes read: the hardware prefetcher
//!   stops at the end of a page, and looks no further than the operations in flight.

use crate::schedule::workload::Workload;
use crate::schedule::{Prefetch, Schedule};
use target::Cpu;
use target::cpu::{
    MAX_PREFETCHED_INPUTS, MAX_UNPREFETCHED_OPS, MIN_PREFETCHED_BYTES, MIN_PREFETCHED_ROWS, PREFETCH_BYTES,
};

/// What is prefetched, if anything.
pub(super) fn prefetch(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule) -> Option<Prefetch> {
    if schedule.lanes_outside {
        return None;
    }
    if work.witness.stage_count > 1 {
        return next_row(work, facts, schedule);
    }
    along_lanes(work, facts, schedule)
}

/// Along the lanes, if elements need much computation and nothing else: by as many as the distance holds of the widest
/// input.
fn along_lanes(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule) -> Option<Prefetch> {
    let Workload { graph, view, witness, .. } = *work;
    let is_much = view.order().len() > MAX_UNPREFETCHED_OPS;
    let is_plain = witness.folds.is_empty() && witness.scanned.is_none() && schedule.tile.is_none();
    let are_few = view.inputs().len() <= MAX_PREFETCHED_INPUTS;
    let axis = schedule
        .lane
        .filter(|_| is_plain && is_much && are_few && facts.prefetch_bytes >= PREFETCH_BYTES as u64)?;
    let widest = view.inputs().iter().map(|&input| graph.dtype(input).size()).max()?;
    Some(Prefetch { axis, distance: (PREFETCH_BYTES / widest) as u32, l2: false })
}

/// The next row, while one is processed, into L2: a line on its way to L1 occupies one of the few line fill buffers until it
/// arrives.
fn next_row(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule) -> Option<Prefetch> {
    let axis = *schedule.outer().last()?;
    let extent = work.trip_count(schedule, axis);
    let rows = schedule.chunk(axis).unwrap_or(extent).min(extent);
    let bytes = work.row_bytes(schedule, axis);
    (rows >= MIN_PREFETCHED_ROWS && (MIN_PREFETCHED_BYTES..=facts.prefetch_bytes).contains(&bytes))
        .then_some(Prefetch { axis, distance: 1, l2: true })
}
