//! How many neighbours a lane takes at a time.

use std::fmt;

use index::integer;
use kernel::MAX_WIDTH;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};

const _: () = assert!(MAX_WIDTH == 16, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["width N"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if schedule.width > 1 { writeln!(f, "width {}", schedule.width) } else { Ok(()) }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["width", width] = words else { return Ok(false) };
    schedule.width = integer(width).ok_or("a number of neighbours")?;
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let width = schedule.width;
    if width == 1 {
        return Ok(());
    }
    let is_within = schedule.lane.is_some() && !schedule.lanes_outside;
    let reasons = [
        (!width.is_power_of_two() || width > MAX_WIDTH, "it must be a power of two from 1 to 16"),
        (!is_within, "no axis is mapped to the lanes within the stages"),
        (schedule.tile.is_some(), "tiles are walked one element at a time"),
        (witness.scanned.is_some(), "the segment scans"),
    ];
    reject(&reasons, |reason| format!("lanes cannot take {width} neighbours at a time: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let digits = draws.between(1, 4);
    schedule.width = if draws.percent(20) { 1 << digits } else { 1 };
    if check(schedule, witness).is_err() {
        schedule.width = 1;
    }
}
