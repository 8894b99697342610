//! Whether each lane keeps its own values, and its own sums along its axis.

use std::fmt;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};

pub(super) const KNOB: Knob = Knob { forms: &["private"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if schedule.private { writeln!(f, "private") } else { Ok(()) }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let is_own = words == ["private"];
    schedule.private |= is_own;
    Ok(is_own)
}

/// Each lane must walk the same elements in all stages.
fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    if !schedule.private {
        return Ok(());
    }
    let lane = schedule.lane;
    let lie_along = schedule.persistent.iter().all(|&val| {
        let mut axes = witness.space.axes_of(val).iter().flatten();
        axes.any(|&axis| Some(schedule.loop_of(axis)) == lane)
    });
    let reasons = [
        (lane.is_none(), "no axis is mapped to them"),
        (witness.scanned.is_some(), "the segment scans"),
        (schedule.inner.as_slice() != lane.as_slice(), "stages walk other axes, too"),
        (lane.is_some_and(|lane| schedule.partition.contains(&lane)), "their axis is partitioned"),
        (!lie_along, "a value that persists lacks their axis"),
        (schedule.tile.is_some() || schedule.jam.is_some(), "tiles or several rows are walked together"),
    ];
    reject(&reasons, |reason| {
        format!("lanes cannot keep values and sums along their axis for themselves: {reason}")
    })
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    schedule.private = draws.percent(30);
    schedule.private &= check(schedule, witness).is_ok();
}
