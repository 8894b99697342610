//! Which axis of few indices is unrolled within the loop over lanes: the body is written once for each of its indices, so
//! that lanes can walk the axis around it.

use std::fmt;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, check_loop, read_axis, reject};

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
    ];
    let say = |reason: &str| format!("axis {axis} cannot be unrolled: {reason}");
    reject(&reasons, say)?;
    witness.unrolled_indices(axis).map(|_| ()).map_err(|reason| ScheduleError::new(say(reason)))
}

/// Whether the axis to be unrolled can be.
pub(in crate::schedule) fn may_unroll(schedule: &Schedule, witness: &Witness) -> bool {
    check(schedule, witness).is_ok()
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
