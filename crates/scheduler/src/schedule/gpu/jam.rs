//! How many rows threads walk together: several where each row has few bytes in flight, and is folded into one result.

use crate::legal::Fold;
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;
use target::Gpu;
use target::limits::MAX_JAMMED_ROWS;

/// The most elements that a thread folds before threads combine their results.
const MAX_ELEMENTS: u64 = 64;

/// Bytes of a row that a thread loads for its neighbours at a time, at least 1: of the inputs with the most axes.
fn bytes_of_step(work: &Workload<'_>, schedule: &Schedule) -> u64 {
    let sizes = work.view.inputs_of_most_axes(work.graph).map(|input| work.graph.dtype(input).size() as u64);
    let bytes = sizes.sum::<u64>();
    (bytes * u64::from(schedule.width)).max(1)
}

/// The axis of the rows, and their number.
pub(super) fn jam(work: &Workload<'_>, facts: &Gpu, schedule: &Schedule) -> Option<(Axis, u32)> {
    let lane = schedule.lane.filter(|lane| schedule.inner == [*lane] && schedule.chunk(*lane).is_none())?;
    let row = *schedule.outer().last()?;
    let folds = &work.witness.folds;
    if schedule.private || work.witness.scanned.is_some() || folds.is_empty() {
        return None;
    }
    let reduces = |fold: &Fold, walked| fold.reduced.iter().any(|&axis| schedule.loop_of(axis) == walked);
    if !folds.iter().all(|fold| fold.terminal && reduces(fold, lane) && reduces(fold, row)) {
        return None;
    }
    let of_thread = work.trip_count(schedule, lane).div_ceil(schedule.lanes.into()).max(1);
    let extent = work.trip_count(schedule, row);
    let of_block = schedule.chunk(row).unwrap_or(extent).min(extent);
    let rows = (facts.in_flight / bytes_of_step(work, schedule)).min(MAX_ELEMENTS / of_thread).min(of_block);
    let rows = rows.min(MAX_JAMMED_ROWS.into());
    (rows > 1).then_some((row, rows as u32))
}
