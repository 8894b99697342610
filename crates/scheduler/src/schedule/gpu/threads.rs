//! How many threads a block has: enough to walk a row in a few steps each, and to walk a flat loop's share in as few.

use super::keep::{longest_row, sums};
use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::gpu::{MAX_LONG_ROW_ELEMENTS, MAX_ROW_ELEMENTS, MAX_SUMS_ELEMENTS, STEPS_PER_THREAD};

/// The number of folds of a row that counts as many: those of a mean and a variance.
const MANY_FOLDS: usize = 3;

/// Neighbours that a thread takes at a time if operands are of half types: kept elements need half the registers.
const HALF_WIDTH: u32 = 8;

/// Elements of a row that several warps walk in any case.
const LONG_ROW: u64 = 2048;

/// The fewest threads of a multiprocessor, if rows are long enough.
const MIN_THREADS: u64 = 512;

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

/// The chunk of a block is no longer than the row: the block has registers for all of its chunk.
fn strip(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &mut Schedule) {
    schedule.lanes = of_strip(work, facts, lane, schedule);
    let taken = u64::from(schedule.lanes) * u64::from(schedule.width);
    let is_shorter = work.trip_count(schedule, lane) <= taken;
    if let Some((_, chunk)) = schedule.blocks.iter_mut().find(|(axis, _)| *axis == lane && is_shorter) {
        *chunk = taken.min(*chunk);
    }
}

/// As many threads as take the strip of a block at a time, if a block may have that many.
fn of_strip(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &Schedule) -> u32 {
    let extent = work.trip_count(schedule, lane);
    let strip = schedule.chunk(lane).unwrap_or(extent).min(extent);
    let taken = strip.div_ceil(schedule.width.into()).next_power_of_two();
    taken.clamp(facts.warp.into(), schedule.lanes.into()) as u32
}

/// Whether the threads of a row wait for each other often.
pub(super) fn is_folded_often(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> bool {
    let of_row = |fold: &&Fold| fold.reduced.iter().any(|&axis| schedule.loop_of(axis) == lane);
    work.witness.folds.iter().filter(of_row).count() >= MANY_FOLDS
}

/// Threads that walk a row in a few steps each.
fn of_row(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &Schedule) -> u32 {
    // The work of threads at each fold takes longer than more elements each would.
    let is_long = work.trip_count(schedule, lane) >= LONG_ROW;
    let is_half = schedule.width >= HALF_WIDTH;
    let elements = match sums(work, schedule, lane) {
        0 if is_long && is_half && is_folded_often(work, schedule, lane) => [MAX_LONG_ROW_ELEMENTS; 2],
        0 => [MAX_ROW_ELEMENTS, MAX_LONG_ROW_ELEMENTS],
        _ => [MAX_SUMS_ELEMENTS, MAX_ROW_ELEMENTS],
    };
    let threads = |most: u64| {
        let fitting = elements.iter().find(|&elements| most <= elements * u64::from(facts.most_threads));
        fitting.map(|elements| most.div_ceil(*elements))
    };
    // Registers hold a row if there are enough threads for the longest.
    let wanted = match longest_row(work, schedule, lane).and_then(threads) {
        Some(threads) => threads,
        None => {
            let vectors = work.trip_count(schedule, lane).div_ceil(schedule.width.into());
            vectors.div_ceil(STEPS_PER_THREAD).max(few_blocks(work, schedule).min(vectors / 2))
        }
    };
    let wanted = wanted.next_power_of_two();
    wanted.clamp(facts.warp.into(), facts.most_threads.into()) as u32
}

/// The threads that blocks need if so few blocks run that multiprocessors would otherwise be nearly empty.
fn few_blocks(work: &Workload<'_>, schedule: &Schedule) -> u64 {
    let pieces = |&(axis, chunk): &(Axis, u64)| work.trip_count(schedule, axis).div_ceil(chunk);
    let blocks: u64 = schedule.blocks.iter().map(pieces).product();
    (MIN_THREADS * work.target.cores).div_ceil(blocks.max(1))
}

/// A block takes as much of a flat loop as its threads have in flight: with more, blocks end at different times.
fn share(work: &Workload<'_>, facts: &Gpu, lane: Axis, schedule: &mut Schedule) {
    let Workload { graph, view, .. } = *work;
    let row = work.trip_count(schedule, lane).div_ceil(schedule.width.into()).next_power_of_two();
    schedule.lanes = row.clamp(facts.warp.into(), schedule.lanes.into()) as u32;
    let inputs = view.inputs().iter().map(|&input| graph.dtype(input).size() as u64);
    let bytes = inputs.sum::<u64>() * u64::from(schedule.width);
    let steps = (facts.in_flight / bytes.max(1)).clamp(1, STEPS_PER_THREAD).next_power_of_two();
    let chunk = u64::from(schedule.lanes) * u64::from(schedule.width) * steps;
    if let Some((_, known)) = schedule.blocks.iter_mut().find(|(axis, _)| *axis == lane) {
        *known = chunk;
    }
}
