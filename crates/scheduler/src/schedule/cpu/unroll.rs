//! Axes with too few indices for the lanes: pairs that a rotary embedding rotates, coordinates of a point.

use crate::schedule::Schedule;
use crate::schedule::knobs::may_unroll;
use crate::schedule::workload::Workload;
use space::Axis;

/// The fewest iterations of the loop around it that lanes take instead.
const MIN_ITERATIONS: u64 = 16;

/// Unrolls the lanes' axis if it has few indices, and has the lanes walk the axis before it: they then load and store every
/// second element, or third or fourth, which shuffles put in order. Likewise where loads are contiguous along another axis
/// of few indices, such as the colours of an image. Otherwise another axis of few indices, of which slices take one each:
/// the values that the slices are taken of are then computed once for all users.
pub(in crate::schedule) fn unroll(work: &Workload<'_>, crossing: Option<Axis>, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane else { return };
    let neighbours = axis_before(work, schedule, lane).map(|before| (lane, before));
    let sliced = work.witness.sliced_axis(work.graph, work.view, lane).map(|few| (few, lane));
    let crossing = crossing.map(|few| (few, lane));
    let unrolled = neighbours
        .into_iter()
        .chain(crossing)
        .chain(sliced)
        .find_map(|axes| with_unrolled(work, schedule, axes));
    if let Some(unrolled) = unrolled {
        *schedule = unrolled;
    }
}

/// A schedule that unrolls the axis `few` within the loop over `lane`, where that pays.
fn with_unrolled(work: &Workload<'_>, schedule: &Schedule, (few, lane): (Axis, Axis)) -> Option<Schedule> {
    let mut unrolled = Schedule { unroll: Some(few), lane: Some(lane), ..schedule.clone() };
    unrolled.inner.retain(|&axis| axis != few && axis != lane);
    unrolled.inner.extend([few, lane]);
    let is_long = work.witness.unrolled_indices(few).is_ok_and(|indices| indices > 1)
        && work.trip_count(&unrolled, lane) >= MIN_ITERATIONS;
    (is_long && may_unroll(&unrolled, work.witness)).then_some(unrolled)
}

/// The loop directly around that of an axis.
fn axis_before(work: &Workload<'_>, schedule: &Schedule, axis: Axis) -> Option<Axis> {
    let loops = schedule.loops_of(work.witness.order.iter().copied());
    let place = loops.iter().position(|&own| own == axis)?;
    loops.get(place.checked_sub(1)?).copied()
}
