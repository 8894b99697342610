//! Which axis of few indices is unrolled within the loop over lanes: its indices are written one after the other for each
//! iteration, so that lanes can walk the axis around it.

use std::fmt;

use super::{Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_loop, read_axis, reject};

/// The most indices that are unrolled.
pub(in crate::schedule) const MAX_UNROLLED: i64 = 4;

pub(super) const KNOB: Knob = Knob { forms: &["unroll X"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    schedule.unroll.map_or(Ok(()), |axis| writeln!(f, "unroll {axis}"))
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["unroll", axis] = words else { return Ok(false) };
    schedule.unroll = Some(read_axis(axis)?);
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Some(axis) = schedule.unroll else { return Ok(()) };
    check_loop(schedule, witness, axis)?;
    let is_inner = schedule.inner.contains(&axis) && schedule.lane != Some(axis);
    let reasons = [
        (!is_inner, "it is not an inner axis beside that of the lanes"),
        (
            schedule.lane.is_none() || schedule.lanes_outside,
            "no axis is mapped to the lanes within the stages",
        ),
        (schedule.run(axis).len() > 1, "its loop walks other axes, too"),
        (schedule.chunk(axis).is_some(), "blocks divide it"),
        (schedule.tile.is_some(), "tiles are walked"),
        (unrolled_indices(witness, axis).is_none(), "its size is not a number from 1 to 4"),
        (witness.levels > 1 || witness.scanned.is_some(), "stages wait for folds or a scan"),
        (witness.folds.iter().any(|fold| fold.domain().any(|own| own == axis)), "a fold walks it"),
    ];
    reject(&reasons, |reason| format!("axis {axis} cannot be unrolled: {reason}"))
}

/// Whether the axis that is unrolled can be.
pub(in crate::schedule) fn may_unroll(schedule: &Schedule, witness: &Witness) -> bool {
    check(schedule, witness).is_ok()
}

/// The number of an axis's indices, if they are few enough to be unrolled.
pub(in crate::schedule) fn unrolled_indices(witness: &Witness, axis: Axis) -> Option<i64> {
    witness.space.size(axis).as_const().filter(|size| (1..=MAX_UNROLLED).contains(size))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let inner = schedule.inner.clone();
    for axis in inner {
        schedule.unroll = draws.percent(50).then_some(axis);
        if schedule.unroll.is_some() && check(schedule, witness).is_ok() {
            return;
        }
    }
    schedule.unroll = None;
}
