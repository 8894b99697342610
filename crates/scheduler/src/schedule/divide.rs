//! How worker axes are cut into blocks: chunks come from sizes and the target alone.

use super::Schedule;
use super::contiguous::crosses_rows;
use super::gpu;
use super::workload::{Workload, has_results_in_scratch};
use space::Axis;
use target::Processor;
use target::cpu::{CROSSING_STRIP, PAGE_BYTES};
use target::gpu::MAX_PARTIAL_ROWS;

/// Cuts worker axes into blocks: first those that no fold reduces, then, if there are too few blocks, the others.
pub(super) fn divide(work: &Workload<'_>, schedule: &mut Schedule) {
    let Workload { witness, target, .. } = *work;
    let lane = schedule.lane.filter(|axis| witness.workers.contains(axis));
    let folds_over = |axis: &Axis| witness.folds.iter().filter(|fold| fold.reduced.contains(axis)).count();
    let mut outer = schedule.loops_of(witness.workers.iter().copied());
    outer.retain(|axis| Some(*axis) != lane && Some(*axis) != schedule.unroll);
    outer.sort_by_key(folds_over);
    let total = work.elements(&witness.order).max(1);
    let mut blocking = Blocking { blocks: 1, total, work };
    let (free, folded): (Vec<Axis>, Vec<Axis>) = outer.iter().partition(|axis| folds_over(axis) == 0);
    let lane_is_free = lane.filter(|axis| folds_over(axis) == 0);
    let lane_is_folded = lane.filter(|axis| folds_over(axis) > 0);
    // Work without partial results is cut finer than needed, to balance; each piece of a fold leaves a partial result.
    let takes_fewer_rows = !folded.is_empty() && total >= target.large();
    let strip = match (&target.processor, schedule.tile) {
        // Threads walk a side of a tile at a time, however long the run.
        (Processor::Gpu(_), Some((_, side))) => side.into(),
        (Processor::Gpu(_), None) => gpu::strip(work, schedule),
        (Processor::Cpu(_), _) if lane.is_some_and(|lane| crosses_rows(work, schedule, lane)) => {
            CROSSING_STRIP
        }
        (Processor::Cpu(_), _) if schedule.lanes_outside => target.column_strip,
        _ if takes_fewer_rows && !work.is_little() => target.run,
        (Processor::Cpu(_), _) if takes_fewer_rows => page(work).max(target.strip),
        _ => target.strip,
    };
    let pieces = Pieces { unit: 1, share: 1, shortest: 1, longest: u64::MAX, blocks: target.blocks };
    let [free_row, free_lane] = [1, strip].map(|unit| Pieces { unit, share: 4, ..pieces });
    // A piece of an axis that tiles cross consists of whole tiles.
    let tile = schedule.tile;
    let row = |pieces: Pieces, axis| match tile {
        Some((cross, side)) if cross == axis => Pieces { unit: side.into(), ..pieces },
        _ => pieces,
    };
    free.iter().for_each(|&axis| blocking.axis(axis, row(free_row, axis), schedule));
    lane_is_free.iter().for_each(|&axis| blocking.axis(axis, free_lane, schedule));
    let (blocks, on_gpu) = match &target.processor {
        Processor::Cpu(_) => (target.blocks, false),
        Processor::Gpu(facts) => (gpu::partial_blocks(work, facts, schedule), true),
    };
    let folded_row = Pieces { blocks, ..pieces };
    // A block of a GPU keeps the states of one piece of the row that it walks.
    let kept = |axis: Axis| witness.folds.iter().any(|fold| fold.kept_axes().any(|kept| kept == axis));
    let longest = match lane {
        Some(lane) if on_gpu && kept(lane) => {
            (target.block_bytes / COLUMN_STATE_BYTES).next_multiple_of(target.strip) - target.strip
        }
        _ => u64::MAX,
    };
    let folded_lane = Pieces { unit: target.strip, longest, blocks, ..pieces };
    // Work for which one block is enough leaves no partial results: combining them would take another launch.
    let is_divided = total > target.grain;
    for &axis in folded.iter().filter(|_| is_divided) {
        let shortest = enough_rows(work, schedule, &folded, axis);
        let keeps = witness.folds.iter().any(|fold| has_results_in_scratch(schedule, fold, axis));
        let longest = if !(keeps && on_gpu) {
            MAX_CHAIN
        } else if witness.stage_count == 1 {
            // With nothing but sums in registers there is room for totals.
            2 * MAX_PARTIAL_ROWS
        } else {
            MAX_PARTIAL_ROWS
        };
        blocking.folded_axis(axis, row(Pieces { shortest, longest, ..folded_row }, axis), schedule);
    }
    let folded_lanes = lane_is_folded.iter().filter(|_| is_divided);
    folded_lanes.for_each(|&axis| blocking.folded_axis(axis, folded_lane, schedule));
    let walked = |axis: &Axis| schedule.chunk(*axis).is_some() || schedule.inner.contains(axis);
    schedule.rows = outer.into_iter().filter(|axis| !walked(axis)).collect();
}

/// Neighbours of the narrowest input that fill a page: shorter runs end before the hardware has prefetched the next.
fn page(work: &Workload<'_>) -> u64 {
    let sizes = work.view.inputs_of_most_axes(work.graph).map(|val| work.graph.dtype(val).size() as u64);
    let narrowest = sizes.min();
    PAGE_BYTES / narrowest.unwrap_or(PAGE_BYTES).max(1)
}

/// The shortest piece of a folded axis, so that a block has enough rows to be worth its partial results, which are as long
/// as a row; the other folded axes give it rows as well.
fn enough_rows(work: &Workload<'_>, schedule: &Schedule, folded: &[Axis], axis: Axis) -> u64 {
    if !work.witness.folds.iter().any(|fold| has_results_in_scratch(schedule, fold, axis)) {
        return 1;
    }
    let of_block = |&other: &Axis| schedule.chunk(other).unwrap_or(work.trip_count(schedule, other));
    let others = folded.iter().filter(|&&other| other != axis).map(of_block);
    let of_an_index = others.fold(1, u64::saturating_mul).max(1);
    work.target.partial.div_ceil(of_an_index).min(work.trip_count(schedule, axis) / MIN_PIECES)
}

/// Bytes of all states of a column, roughly.
const COLUMN_STATE_BYTES: u64 = 16;

/// The longest chain of additions along an axis that rows walk: its rounding errors add up.
const MAX_CHAIN: u64 = 4096;

/// The pieces into which an axis is still cut when pieces are lengthened to be worth their partial results.
const MIN_PIECES: u64 = 16;

/// How an axis is cut: into about `share` times `blocks` pieces. Each is a multiple of `unit`, holds at least the target's
/// grain of work, and is neither shorter nor longer than said.
#[derive(Clone, Copy)]
struct Pieces {
    unit: u64,
    share: u64,
    shortest: u64,
    longest: u64,
    /// How many blocks are enough.
    blocks: u64,
}

/// A length for about equal chunks, as many as with `chunk`: otherwise the last would be the remainder.
fn evenly(size: u64, chunk: u64, lanes: u64) -> u64 {
    let chunks = size.div_ceil(chunk).max(1);
    if chunks == 1 { chunk } else { size.div_ceil(chunks).next_multiple_of(lanes).min(chunk) }
}

/// The division into blocks so far.
struct Blocking<'a> {
    blocks: u64,
    total: u64,
    work: &'a Workload<'a>,
}

impl Blocking<'_> {
    /// Divides one more axis, unless there are enough blocks and it is no longer than a piece may be.
    fn axis(&mut self, axis: Axis, pieces: Pieces, schedule: &mut Schedule) {
        if let Some(chunk) = self.chunk(axis, pieces, schedule) {
            self.divide(axis, chunk, schedule);
        }
    }

    /// The same for an axis that a fold reduces, unless its size is known and fits one piece: the fold then needs no partial
    /// results.
    fn folded_axis(&mut self, axis: Axis, pieces: Pieces, schedule: &mut Schedule) {
        let size = schedule.extent(self.work.witness, axis).as_const();
        let chunk = self.chunk(axis, pieces, schedule);
        if let Some(chunk) = chunk.filter(|&chunk| size.is_none_or(|size| size as u64 > chunk)) {
            self.divide(axis, chunk, schedule);
        }
    }

    fn divide(&mut self, axis: Axis, chunk: u64, schedule: &mut Schedule) {
        let size = self.work.trip_count(schedule, axis).max(1);
        schedule.blocks.push((axis, chunk));
        self.blocks = self.blocks.saturating_mul(size.div_ceil(chunk));
    }

    /// The length of a piece of an axis, if it is divided.
    fn chunk(&self, axis: Axis, pieces: Pieces, schedule: &Schedule) -> Option<u64> {
        let Pieces { unit, share, shortest, longest, blocks } = pieces;
        let target = self.work.target;
        let size = self.work.trip_count(schedule, axis).max(1);
        if self.blocks.saturating_mul(2) > blocks && size <= longest {
            return None;
        }
        let per_index = (self.total / (self.blocks.saturating_mul(size)).max(1)).max(1);
        let pieces = (blocks * share / self.blocks).max(1);
        let wanted = target.grain.div_ceil(per_index).max(size.div_ceil(pieces)).max(shortest);
        let chunk = wanted.div_ceil(unit).saturating_mul(unit).clamp(1, longest);
        let is_even = unit == 1 || matches!(target.processor, Processor::Gpu(_));
        let known = schedule.extent(self.work.witness, axis).as_const().filter(|_| !is_even);
        Some(known.map_or(chunk, |size| evenly(size as u64, chunk, target.lanes.into())))
    }
}
