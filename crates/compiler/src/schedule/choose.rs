//! The default schedule of a witness: which axes blocks divide and in what chunks, and which axis the lanes take.
//!
//! Chunks come from sizes and the target alone, never from the number of threads, so partial results and with them
//! every bit of the answer are the same for any number of threads.

use ir::graph::{Fusion, Graph, Val};
use ir::index::{Expr, Sym};
use rustc_hash::FxHashMap;

use super::ahead::ahead;
use super::carry::carry;
use super::fuse::fuse;
use super::jam::jam;
use super::lanes::lanes;
use super::{LONGEST_SIDE, Schedule};
use crate::layout::{Layout, Memory, Stride};
use crate::segment::{Fold, Witness};
use crate::space::{Atoms, Axis, seams};
use crate::target::Target;

/// The largest value that is expected of anything: more bytes than machines have, and few enough to be summed and
/// multiplied by small factors.
const MOST: u64 = 1 << 48;

/// Sizes that the size symbols are expected to have. A symbol without one counts as 1024.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    sizes: FxHashMap<Sym, i64>,
}

impl Hints {
    /// Hints from known sizes.
    pub fn new(sizes: impl IntoIterator<Item = (Sym, i64)>) -> Hints {
        Hints { sizes: sizes.into_iter().collect() }
    }

    /// An expression's expected value, from 0 to 2^48.
    pub fn value(&self, expr: &Expr) -> u64 {
        let value = expr.eval(&|sym| Some(self.sizes.get(&sym).copied().unwrap_or(1024)));
        value.map_or(MOST, |value| (value.max(0) as u64).min(MOST))
    }

    /// How many elements all these axes together are expected to have.
    pub(super) fn elements(&self, witness: &Witness, axes: &[Axis]) -> u64 {
        axes.iter().fold(1, |n, &axis| n.saturating_mul(self.value(witness.space.size(axis))))
    }
}

/// A schedule for a group, good for the hinted sizes and right for all.
pub fn choose(
    graph: &Graph,
    view: &Fusion,
    witness: &Witness,
    memory: Memory<'_>,
    target: &Target,
    hints: &Hints,
) -> Schedule {
    let fused = fuse(graph, view, witness, memory);
    let mut schedule = Schedule { lanes: target.lanes, fused, ..Schedule::empty() };
    let beside = |beside: &dyn Fn(Axis) -> bool| contiguous(graph, view, witness, memory, hints, beside);
    let along = beside(&|_| true);
    let lane = lane_axis(witness, &along).map(|axis| schedule.loop_of(axis));
    let stage_axes = |axis: &Axis| !witness.workers.contains(axis);
    schedule.inner = schedule.loops_of(witness.order.iter().copied().filter(stage_axes));
    deal(witness, lane, &mut schedule);
    if let Some(lane) = schedule.lane {
        let across = beside(&|axis| schedule.loop_of(axis) == lane);
        tile(witness, &across, target, lane, &mut schedule);
    }
    divide(witness, target, hints, &mut schedule);
    let bytes = along.values().map(|contiguous| contiguous.bytes).sum();
    schedule.jam = jam(view, witness, &schedule, target, hints, bytes);
    schedule.lanes = lanes(graph, view, witness, target, hints, &schedule);
    schedule.ahead = ahead(graph, view, witness, &schedule, target, hints);
    schedule.split = split(graph, view, witness, &schedule);
    schedule.carried = carry(graph, view, witness, &schedule, target, hints);
    schedule
}

/// Deals an axis out to the lanes. Where blocks may divide it and stages wait for folds or a scan, the lanes stand around
/// the stages if they can; if not, and it is folds that stages wait for, the last axis within the stages takes its place.
fn deal(witness: &Witness, axis: Option<Axis>, schedule: &mut Schedule) {
    let has_inner_folds = witness.folds.iter().any(|fold| !fold.terminal);
    let waits = has_inner_folds || witness.scanned.is_some();
    let divided = axis.filter(|axis| witness.workers.contains(axis));
    schedule.lanes_outside = waits && divided.is_some_and(|axis| fits_outside(witness, schedule, axis));
    if schedule.lanes_outside {
        schedule.lane = axis;
        return;
    }
    let crosses_folds = has_inner_folds && divided.is_some();
    schedule.lane = if crosses_folds { schedule.inner.last().copied() } else { axis };
    schedule.inner.retain(|&other| Some(other) != schedule.lane);
    schedule.inner.extend(schedule.lane);
}

/// Whether the lanes can stand around the stages: each fold then fits registers of one lane.
fn fits_outside(witness: &Witness, schedule: &Schedule, axis: Axis) -> bool {
    let staged = |axis: Axis| schedule.inner.contains(&schedule.loop_of(axis));
    let keeps = |fold: &Fold| fold.kept_axes().any(staged);
    let crosses = |fold: &Fold| fold.terminal && fold.reduced.contains(&axis);
    !witness.folds.iter().any(|fold| keeps(fold) || crosses(fold))
}

/// The most pieces of all loops together: the code grows with them.
const PIECES: usize = 8;

/// Cuts the loops within the stages, and that of the lanes, where cats and pads change course.
fn split(graph: &Graph, view: &Fusion, witness: &Witness, schedule: &Schedule) -> Vec<Axis> {
    let mut pieces = 1;
    let mut split = Vec::new();
    let plain = |axis: &Axis| schedule.run(*axis).len() == 1 && witness.scanned != Some(*axis);
    let tiled =
        |axis: &Axis| schedule.tile.is_some_and(|(cross, _)| cross == *axis || schedule.lane == Some(*axis));
    let mut walked: Vec<Axis> = schedule.lane.into_iter().chain(schedule.inner.iter().copied()).collect();
    walked.retain(|axis| plain(axis) && !tiled(axis));
    for axis in walked {
        let seams = seams(graph, view, &witness.space, axis).len();
        if seams > 0 && pieces * (seams + 1) <= PIECES && !split.contains(&axis) {
            pieces *= seams + 1;
            split.push(axis);
        }
    }
    split
}

/// Walks tiles of the lanes' axis and of the one along which most of what has both axes lies. With folds that stages wait for, a
/// tile would keep the folds of all its rows in scratch.
fn tile(
    witness: &Witness,
    across: &FxHashMap<Axis, Contiguous>,
    target: &Target,
    lane: Axis,
    schedule: &mut Schedule,
) {
    let is_plain = witness.levels == 1 && witness.scanned.is_none() && !schedule.lanes_outside;
    if !is_plain || target.tile_bytes == 0 {
        return;
    }
    let lying = |axis: Axis| schedule.run(axis).into_iter().filter_map(|axis| across.get(&axis));
    let lies_along = |axis: Axis| lying(axis).map(|contiguous| contiguous.bytes).sum::<u64>();
    let mut crossing = schedule.loops_of(witness.order.iter().copied());
    crossing.retain(|&axis| axis != lane && lies_along(axis) > 0);
    let Some(cross) = crossing.into_iter().max_by_key(|&axis| lies_along(axis)) else { return };
    let widest = lying(cross).map(|contiguous| contiguous.widest).max().unwrap_or(1);
    let side = (target.tile_bytes / widest as u32).clamp(1, LONGEST_SIDE);
    schedule.tile = Some((cross, side));
    if !schedule.inner.contains(&cross) {
        schedule.inner.insert(schedule.inner.len() - 1, cross);
    }
}

/// What lies next to each other along an axis.
#[derive(Clone, Copy, Default)]
struct Contiguous {
    /// Bytes of the tensors that lie so.
    bytes: u64,
    /// Bytes of those that are stored.
    stored: u64,
    /// Bytes of their widest element.
    widest: usize,
}

/// What lies next to each other along each axis, of tensors that have one of some axes.
fn contiguous(
    graph: &Graph,
    view: &Fusion,
    witness: &Witness,
    memory: Memory<'_>,
    hints: &Hints,
    beside: &dyn Fn(Axis) -> bool,
) -> FxHashMap<Axis, Contiguous> {
    let mut found: FxHashMap<Axis, Contiguous> = FxHashMap::default();
    let mut add = |axis: Axis, val: Val, is_stored: bool| {
        let (known, bytes) = (found.entry(axis).or_default(), hints.value(&graph.ty(val).bytes()));
        known.bytes += bytes;
        known.stored += if is_stored { bytes } else { 0 };
        known.widest = known.widest.max(graph.dtype(val).size());
    };
    let counts = |axes: &[Atoms]| axes.iter().flatten().any(|&axis| beside(axis));
    for (store, layout) in witness.stores.iter().zip(memory.stores) {
        if let Some(axis) = contiguous_axis(&store.axes, layout).filter(|_| counts(&store.axes)) {
            add(axis, store.val, true);
        }
    }
    for &node in view.order() {
        for (k, operand) in graph.node(node).operands.iter().enumerate() {
            let Some(input) = view.inputs().iter().position(|input| input == operand) else { continue };
            let axes = witness.space.axes_of_operand(graph, view, node, k);
            if let Some(axis) = contiguous_axis(&axes, &memory.inputs[input]).filter(|_| counts(&axes)) {
                add(axis, *operand, false);
            }
        }
    }
    found
}

/// The axis along which most bytes lie next to each other; of two with as many, that with more of what is stored: long runs
/// of stores can go past the caches, and what is loaded can be fetched ahead.
fn lane_axis(witness: &Witness, along: &FxHashMap<Axis, Contiguous>) -> Option<Axis> {
    // Lanes do not take turns in order, as a scan wants them.
    let walked = witness.order.iter().copied().filter(|axis| Some(*axis) != witness.scanned);
    // Of equals the innermost wins: `max_by_key` keeps the last.
    walked
        .max_by_key(|axis| along.get(axis).map_or((0, 0), |contiguous| (contiguous.bytes, contiguous.stored)))
}

fn contiguous_axis(axes: &[Atoms], layout: &Layout) -> Option<Axis> {
    match layout {
        Layout::Strided(strides) => {
            let unit = axes
                .iter()
                .zip(strides)
                .rev()
                .find(|(atoms, stride)| !atoms.is_empty() && **stride == Stride::One);
            unit.and_then(|(atoms, _)| atoms.last().copied())
        }
        packed => packed.in_memory(axes)?.into_iter().flatten().last(),
    }
}

/// Cuts worker axes into blocks: first those that no fold reduces, then, if there are too few blocks, the others.
fn divide(witness: &Witness, target: &Target, hints: &Hints, schedule: &mut Schedule) {
    let lane = schedule.lane.filter(|axis| witness.workers.contains(axis));
    let folds_over = |axis: &Axis| witness.folds.iter().filter(|fold| fold.reduced.contains(axis)).count();
    let mut outer = schedule.loops_of(witness.workers.iter().copied());
    outer.retain(|axis| Some(*axis) != lane);
    outer.sort_by_key(folds_over);
    let total = hints.elements(witness, &witness.order).max(1);
    let mut cut = Cut { blocks: 1, total, target, hints, witness };
    let (free, folded): (Vec<Axis>, Vec<Axis>) = outer.iter().partition(|axis| folds_over(axis) == 0);
    let lane_is_free = lane.filter(|axis| folds_over(axis) == 0);
    let lane_is_folded = lane.filter(|axis| folds_over(axis) > 0);
    // Work that leaves nothing behind is cut finer than needed, to balance; each piece of a fold leaves a partial result.
    let [free_row, free_lane] = [1, target.strip].map(|unit| Pieces { unit, share: 4, longest: u64::MAX });
    let [folded_row, folded_lane] =
        [(1, CHAIN), (target.strip, u64::MAX)].map(|(unit, longest)| Pieces { unit, share: 1, longest });
    // A piece of an axis that tiles cross holds whole tiles.
    let tile = schedule.tile;
    let row = |pieces: Pieces, axis| match tile {
        Some((cross, side)) if cross == axis => Pieces { unit: side.into(), ..pieces },
        _ => pieces,
    };
    free.iter().for_each(|&axis| cut.axis(axis, row(free_row, axis), schedule));
    lane_is_free.iter().for_each(|&axis| cut.axis(axis, free_lane, schedule));
    folded.iter().for_each(|&axis| cut.axis(axis, row(folded_row, axis), schedule));
    lane_is_folded.iter().for_each(|&axis| cut.axis(axis, folded_lane, schedule));
    let walked = |axis: &Axis| schedule.chunk(*axis).is_some() || schedule.inner.contains(axis);
    schedule.rows = outer.into_iter().filter(|axis| !walked(axis)).collect();
}

/// Longest chain of additions along an axis that rows walk: its rounding errors add up.
const CHAIN: u64 = 4096;

/// How an axis is cut: into about as many pieces as give `share` times the target's blocks, each a multiple of `unit` that
/// holds at least the target's grain of work, none longer than `longest`.
#[derive(Clone, Copy)]
struct Pieces {
    unit: u64,
    share: u64,
    longest: u64,
}

/// The division into blocks so far.
struct Cut<'a> {
    blocks: u64,
    total: u64,
    target: &'a Target,
    hints: &'a Hints,
    witness: &'a Witness,
}

impl Cut<'_> {
    /// Divides one more axis, unless there are blocks enough and it is no longer than a piece may be.
    fn axis(&mut self, axis: Axis, pieces: Pieces, schedule: &mut Schedule) {
        let Pieces { unit, share, longest } = pieces;
        let size = self.hints.value(&schedule.extent(self.witness, axis)).max(1);
        if self.blocks.saturating_mul(2) > self.target.blocks && size <= longest {
            return;
        }
        let per_index = (self.total / (self.blocks.saturating_mul(size)).max(1)).max(1);
        let pieces = (self.target.blocks * share / self.blocks).max(1);
        let wanted = self.target.grain.div_ceil(per_index).max(size.div_ceil(pieces));
        let chunk = wanted.div_ceil(unit).saturating_mul(unit).clamp(1, longest);
        schedule.blocks.push((axis, chunk));
        self.blocks = self.blocks.saturating_mul(size.div_ceil(chunk));
    }
}
