//! Neighbours that are too few for the lanes: pairs that a rotary embedding rotates, coordinates of a point.

use crate::schedule::Schedule;
use crate::schedule::knobs::may_unroll;
use crate::schedule::workload::Workload;
use space::Axis;

/// Iterations of the loop around, at least, that lanes take instead.
const MIN_ITERATIONS: u64 = 16;

/// Unrolls the lanes' axis where it has a few indices, and has the lanes walk the axis before it: they then load and store every
/// second element, or third or fourth, which shuffles put in order. So they do where what is loaded lies along another axis of few
/// indices, the colours of an image. Or else another axis of few indices, of which slices take one each: what they are computed
/// from is then there for all that use it.
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

/// A schedule that unrolls the first of these axes within the loop over the second, where that pays.
fn with_unrolled(work: &Workload<'_>, schedule: &Schedule, (few, lane): (Axis, Axis)) -> Option<Schedule> {
    let mut unrolled = Schedule { unroll: Some(few), lane: Some(lane), ..schedule.clone() };
    unrolled.inner.retain(|&axis| axis != few && axis != lane);
    unrolled.inner.extend([few, lane]);
    let is_long = work.witness.unrolled_indices(few).is_ok_and(|indices| indices > 1)
        && work.trip_count(&unrolled, lane) >= MIN_ITERATIONS;
    (is_long && may_unroll(&unrolled, work.witness)).then_some(unrolled)
}

/// The loop around that of an axis.
fn axis_before(work: &Workload<'_>, schedule: &Schedule, axis: Axis) -> Option<Axis> {
    let loops = schedule.loops_of(work.witness.order.iter().copied());
    let place = loops.iter().position(|&own| own == axis)?;
    loops.get(place.checked_sub(1)?).copied()
}
