//! How many results a block of a combine step has.

use std::fmt;

use index::integer;

use super::lanes::check_lanes;
use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness};

pub(super) const KNOB: Knob = Knob { forms: &["combine by N"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(results) = schedule.combine else { return Ok(()) };
    writeln!(f, "combine by {results}")
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["combine", "by", results] = words else { return Ok(false) };
    schedule.combine = Some(integer(results).ok_or("a number of results")?);
    Ok(true)
}

fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    schedule.combine.map_or(Ok(()), check_lanes)
}

fn draw(schedule: &mut Schedule, _: &Witness, draws: &mut Draws) {
    schedule.combine = draws.percent(30).then(|| 1 << draws.below(7));
}
