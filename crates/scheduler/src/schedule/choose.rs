//! The default schedule of a witness: which axes blocks divide and in what chunks, and which axis the lanes take.
//!
//! Chunks come from sizes and the target alone, never from the number of threads, so partial results, and every bit of the
//! answer, are the same for any number of threads.

use rustc_hash::FxHashMap;

use super::contiguous::{Contiguous, contiguous, has_loop};
use super::divide::divide;
use super::fuse::fuse;
use super::partition::partition;
use super::persist::persist;
use super::workload::Workload;
use super::{Schedule, cpu, gpu};
use crate::legal::Witness;
use space::Axis;
use target::Processor;
use target::limits::MAX_TILE_SIDE;

/// A schedule for a group: fast at the hinted sizes, correct at all.
pub fn choose(work: &Workload<'_>) -> Schedule {
    let witness = work.witness;
    let mut schedule = Schedule { lanes: work.target.lanes, fused: fuse(work), ..Schedule::empty() };
    let along = contiguous(work, |_| true);
    let lane = lane_axis(work, &along).map(|axis| schedule.loop_of(axis));
    let stage_axes = |axis: &Axis| !witness.workers.contains(axis);
    schedule.inner = schedule.loops_of(witness.order.iter().copied().filter(stage_axes));
    map_lanes(witness, lane, &mut schedule);
    let crossing = schedule.lane.and_then(|lane| crossing(work, &schedule, lane));
    if let Processor::Cpu(_) = &work.target.processor {
        cpu::unroll(work, crossing.map(|(axis, _)| axis), &mut schedule);
    }
    if let Some(crossing) = crossing {
        tile(work, crossing, &mut schedule);
    }
    divide(work, &mut schedule);
    // The jam of a CPU decides what is partitioned; on a GPU the partition decides what threads keep.
    match &work.target.processor {
        Processor::Cpu(facts) => {
            let bytes = along.values().map(|contiguous| contiguous.bytes).sum();
            cpu::finish(work, facts, bytes, &mut schedule);
            schedule.partition = partition(work, &schedule);
        }
        Processor::Gpu(facts) => {
            schedule.partition = partition(work, &schedule);
            gpu::finish(work, facts, &mut schedule);
        }
    }
    if !schedule.private {
        schedule.persistent = persist(work, &schedule);
    }
    if let Processor::Gpu(_) = &work.target.processor {
        gpu::teams(work, &mut schedule);
    }
    schedule
}

/// Maps an axis to the lanes. If blocks may divide it and stages wait for folds or a scan, the loop over lanes is around the
/// stages where that is possible; if it is not and stages wait for folds, the last axis within the stages is mapped instead.
fn map_lanes(witness: &Witness, axis: Option<Axis>, schedule: &mut Schedule) {
    let divided = axis.filter(|axis| witness.workers.contains(axis));
    schedule.lanes_outside =
        witness.stages_wait() && divided.is_some_and(|axis| witness.lanes_fit_outside(axis));
    if schedule.lanes_outside {
        schedule.lane = axis;
        return;
    }
    let crosses_folds = witness.has_inner_folds() && divided.is_some();
    schedule.lane = if crosses_folds { schedule.inner.last().copied() } else { axis };
    schedule.inner.retain(|&other| Some(other) != schedule.lane);
    schedule.inner.extend(schedule.lane);
}

/// The axis along which most tensors with both it and the lanes' axis are contiguous, and the bytes of their widest element.
fn crossing(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> Option<(Axis, usize)> {
    let across = contiguous(work, |axes| has_loop(schedule, axes, lane));
    let lying = |axis: Axis| schedule.run(axis).into_iter().filter_map(|axis| across.get(&axis));
    let lies_along = |axis: Axis| lying(axis).map(|contiguous| contiguous.bytes).sum::<u64>();
    let mut crossing = schedule.loops_of(work.witness.order.iter().copied());
    crossing.retain(|&axis| axis != lane && lies_along(axis) > 0);
    let cross = crossing.into_iter().max_by_key(|&axis| lies_along(axis))?;
    Some((cross, lying(cross).map(|contiguous| contiguous.widest).max().unwrap_or(1)))
}

/// Walks tiles of the lanes' axis and of the one that crosses it. If stages wait for folds, scratch keeps those of all rows
/// of a tile, of which a GPU has too little.
fn tile(work: &Workload<'_>, (cross, widest): (Axis, usize), schedule: &mut Schedule) {
    let Workload { witness, target, .. } = *work;
    let is_plain = witness.scanned.is_none() && !schedule.lanes_outside && schedule.unroll.is_none();
    let keeps_folds = witness.stage_count > 1;
    if !is_plain || (keeps_folds && matches!(target.processor, Processor::Gpu(_))) {
        return;
    }
    let (side, pad) = match &target.processor {
        Processor::Cpu(cpu) => ((cpu.tile_bytes / widest as u32).clamp(1, MAX_TILE_SIDE), 0),
        Processor::Gpu(gpu) => (gpu.tile_side, 1),
    };
    (schedule.tile, schedule.pad) = (Some((cross, side)), pad);
    if !schedule.inner.contains(&cross) {
        schedule.inner.insert(schedule.inner.len() - 1, cross);
    }
}

/// The axis along which most bytes are contiguous; on a tie, the one with more stored bytes: long runs of stores can be
/// non-temporal, and loads can be prefetched. `None` if that axis is scanned and little else is done: each lane of a CPU
/// would load and store elements of its own row.
fn lane_axis(work: &Workload<'_>, along: &FxHashMap<Axis, Contiguous>) -> Option<Axis> {
    let Workload { view, witness, target, .. } = *work;
    let lying = |axis: &Axis| along.get(axis).map_or((0, 0), |found| (found.bytes, found.stored));
    // Lanes do not take iterations in order, as a scan needs them.
    let walked = witness.order.iter().copied().filter(|axis| Some(*axis) != witness.scanned);
    // On a tie the innermost wins: `max_by_key` keeps the last.
    let lane = walked.max_by_key(lying)?;
    let takes_rows = witness.scanned.is_some_and(|scanned| lying(&scanned) > lying(&lane));
    let has_polynomials = || view.order().iter().any(|&node| work.is_polynomial(node));
    let is_plain = witness.folds.is_empty() && work.is_little() && !has_polynomials();
    let on_cpu = matches!(target.processor, Processor::Cpu(_));
    (!(takes_rows && is_plain && on_cpu)).then_some(lane)
}
