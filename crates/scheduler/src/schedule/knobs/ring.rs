//! Whether lanes load a row while they are at the one before: a ring of two rows, of which each lane has its elements.

use std::fmt;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};

pub(super) const KNOB: Knob = Knob { forms: &["ring 2"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if schedule.ring { writeln!(f, "ring 2") } else { Ok(()) }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["ring", rows] = words else { return Ok(false) };
    schedule.ring = true;
    if *rows == "2" { Ok(true) } else { Err("a ring of 2 rows") }
}

fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    if !schedule.ring {
        return Ok(());
    }
    let reasons = [
        (!schedule.private, "lanes have nothing for themselves"),
        (schedule.outer().is_empty(), "there is no loop over rows"),
    ];
    reject(&reasons, |reason| format!("a row cannot be loaded while lanes are at the one before: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    schedule.ring = draws.percent(50);
    schedule.ring &= check(schedule, witness).is_ok();
}
