//! What the first stage reads is prefetched, at a distance along one axis.

use std::fmt;

use index::integer;

use super::{Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_known, read_axis, reject};

pub(super) const KNOB: Knob = Knob { forms: &["prefetch X by N [L2]"], print, read, check, draw };

/// The distance at which what the first stage reads is prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefetch {
    /// The innermost axis outside the stages, if a later stage prefetches, or that of the lanes, if the first one does
    /// itself.
    pub axis: Axis,
    /// How many of its indices.
    pub distance: u32,
    /// Whether it goes to L2 only, because L1 does not hold all that is read in between.
    pub l2: bool,
}

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(Prefetch { axis, distance, l2 }) = schedule.prefetch else { return Ok(()) };
    writeln!(f, "prefetch {axis} by {distance}{}", if l2 { " L2" } else { "" })
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["prefetch", axis, "by", distance, l2 @ ..] = words else { return Ok(false) };
    if !matches!(l2, [] | ["L2"]) {
        return Ok(false);
    }
    let distance = integer(distance).ok_or("a distance")?;
    schedule.prefetch = Some(Prefetch { axis: read_axis(axis)?, distance, l2: !l2.is_empty() });
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Some(Prefetch { axis, distance, .. }) = schedule.prefetch else { return Ok(()) };
    check_known(witness, axis)?;
    let along_lanes = schedule.lane == Some(axis);
    let is_row = schedule.outer().last() == Some(&axis);
    let reasons = [
        (distance == 0, "the distance must be at least 1"),
        (schedule.lanes_outside, "the loop over lanes stands around the stages"),
        (along_lanes && schedule.tile.is_some(), "it is walked in tiles"),
        (
            !along_lanes && !is_row,
            "it is neither the innermost axis outside the stages nor that of the lanes",
        ),
        (!along_lanes && witness.stage_count < 2, "there is one stage only"),
    ];
    reject(&reasons, |reason| format!("what lies along axis {axis} cannot be prefetched: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let along = if draws.percent(50) { schedule.lane } else { schedule.outer().last().copied() };
    let prefetch = |axis| Prefetch { axis, distance: draws.between(1, 40) as u32, l2: draws.percent(50) };
    schedule.prefetch = along.map(prefetch).filter(|_| draws.percent(30));
    if check(schedule, witness).is_err() {
        schedule.prefetch = None;
    }
}
