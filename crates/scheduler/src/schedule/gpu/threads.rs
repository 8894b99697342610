//! How many threads a block has: as many as walk a row in a few steps each, and a flat loop's share of so many steps.

use super::keep::longest_row;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::{MAX_ROW_ELEMENTS, STEPS};

/// The threads of a block, and the chunk of a flat loop.
pub(super) fn threads(work: &Workload<'_>, facts: &Gpu, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane else { return };
    if let Some((_, side)) = schedule.tile {
        schedule.lanes = side;
        return;
    }
    match schedule.chunk(lane) {
        _ if schedule.lanes_outside => schedule.lanes = of_strip(work, facts, lane, schedule),
        None => schedule.lanes = of_row(work, facts, lane, schedule),
        Some(_) if work.witness.folds.is_empty() => share(work, facts, lane, schedule),
        Some(_) => strip(work, facts, lane, schedule),
    }
}

/// A block takes no more of a row than there is: what it keeps has registers for all of that.
fn strip(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &mut Schedule) {
    schedule.lanes = of_strip(work, facts, lane, schedule);
    let taken = u64::from(schedule.lanes) * u64::from(schedule.width);
    let is_shorter = work.trip_count(schedule, lane) <= taken;
    if let Some((_, chunk)) = schedule.blocks.iter_mut().find(|(axis, _)| *axis == lane && is_shorter) {
        *chunk = taken.min(*chunk);
    }
}

/// As many threads as take the strip of a block at a time, if a block may have so many.
fn of_strip(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &Schedule) -> u32 {
    let extent = work.trip_count(schedule, lane);
    let strip = schedule.chunk(lane).unwrap_or(extent).min(extent);
    let taken = strip.div_ceil(schedule.width.into()).next_power_of_two();
    taken.clamp(facts.warp.into(), schedule.lanes.into()) as u32
}

/// Threads that walk a row in a few steps each.
fn of_row(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &Schedule) -> u32 {
    // Registers hold a row if there are enough threads for its longest.
    let wanted = match longest_row(work, schedule, lane) {
        Some(most) if most <= MAX_ROW_ELEMENTS * u64::from(facts.most_threads) => {
            most.div_ceil(MAX_ROW_ELEMENTS)
        }
        _ => work.trip_count(schedule, lane).div_ceil(u64::from(schedule.width) * STEPS),
    };
    let wanted = wanted.next_power_of_two();
    wanted.clamp(facts.warp.into(), facts.most_threads.into()) as u32
}

/// A block takes of a flat loop what its threads have in flight: with more of it, blocks end at different times.
fn share(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &mut Schedule) {
    let Workload { graph, view, .. } = *work;
    let row = work.trip_count(schedule, lane).div_ceil(schedule.width.into()).next_power_of_two();
    schedule.lanes = row.clamp(facts.warp.into(), schedule.lanes.into()) as u32;
    let inputs = view.inputs().iter().map(|&input| graph.dtype(input).size() as u64);
    let bytes = inputs.sum::<u64>() * u64::from(schedule.width);
    let steps = (facts.in_flight / bytes.max(1)).clamp(1, STEPS).next_power_of_two();
    let chunk = u64::from(schedule.lanes) * u64::from(schedule.width) * steps;
    if let Some((_, known)) = schedule.blocks.iter_mut().find(|(axis, _)| *axis == lane) {
        *known = chunk;
    }
}
