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

/// A block that runs has a row at least where it has a chunk of them, of one range: the first is loaded without being asked for.
fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    if !schedule.ring {
        return Ok(());
    }
    let row = schedule.outer().last().copied();
    let reasons = [
        (!schedule.private, "lanes have nothing for themselves"),
        (row.is_none_or(|row| schedule.chunk(row).is_none()), "no rows are divided among blocks"),
        (row.is_some_and(|row| schedule.partition.contains(&row)), "rows are partitioned"),
    ];
    reject(&reasons, |reason| format!("a row cannot be loaded while lanes are at the one before: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    schedule.ring = draws.percent(50);
    schedule.ring &= check(schedule, witness).is_ok();
}
