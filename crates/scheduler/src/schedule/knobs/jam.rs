//! How many rows are walked together within the stages: unroll-and-jam.

use std::fmt;

use index::integer;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, check_known, read_axis, reject};
use target::limits::MAX_JAMMED_ROWS;

const _: () = assert!(MAX_JAMMED_ROWS == 16, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["jam X by N"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((axis, rows)) = schedule.jam else { return Ok(()) };
    writeln!(f, "jam {axis} by {rows}")
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["jam", axis, "by", rows] = words else { return Ok(false) };
    schedule.jam = Some((read_axis(axis)?, integer(rows).ok_or("a number of rows")?));
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Some((axis, rows)) = schedule.jam else { return Ok(()) };
    check_known(witness, axis)?;
    let is_innermost = !schedule.lanes_outside && schedule.outer().last() == Some(&axis);
    let reasons = [
        (!(2..=MAX_JAMMED_ROWS).contains(&rows), "at least 2 and at most 16 can be jammed"),
        (!is_innermost, "it is not the innermost axis outside the stages"),
        (witness.scanned.is_some() && !witness.folds.is_empty(), "the segment scans and folds"),
    ];
    reject(&reasons, |reason| format!("axis {axis} cannot be walked {rows} at a time: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let rows = draws.between(2, 5) as u32;
    schedule.jam = schedule.outer().last().map(|&row| (row, rows)).filter(|_| draws.percent(50));
    if check(schedule, witness).is_err() {
        schedule.jam = None;
    }
}
