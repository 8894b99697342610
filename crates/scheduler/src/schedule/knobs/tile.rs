//! Tiles of an inner axis and that of the lanes, in which tensors along the former are transposed.

use std::fmt;

use index::integer;

use super::loops::draw_chunk;
use super::{Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_loop, read_axis, reject};
use target::limits::MAX_TILE_SIDE;

const _: () = assert!(MAX_TILE_SIDE == 128, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["tile X by N [pad N]"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((axis, side)) = schedule.tile else { return Ok(()) };
    let pad = if schedule.pad == 0 { String::new() } else { format!(" pad {}", schedule.pad) };
    writeln!(f, "tile {axis} by {side}{pad}")
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["tile", axis, "by", side, pad @ ..] = words else { return Ok(false) };
    let tile = (read_axis(axis)?, integer(side).ok_or("a side")?);
    let pad = match pad {
        [] => 0,
        ["pad", pad] => integer(pad).ok_or("elements between rows")?,
        _ => return Ok(false),
    };
    (schedule.tile, schedule.pad) = (Some(tile), pad);
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Some((axis, side)) = schedule.tile else { return Ok(()) };
    check_loop(schedule, witness, axis)?;
    let is_within = schedule.lane.is_some() && !schedule.lanes_outside;
    let is_crossing = schedule.inner.contains(&axis) && schedule.lane != Some(axis);
    let reasons = [
        (!side.is_power_of_two() || side > MAX_TILE_SIDE, "the side must be a power of two from 1 to 128"),
        (schedule.pad > side, "there are at most as many elements between rows as in them"),
        (!is_within, "no axis is mapped to the lanes within the stages"),
        (!is_crossing, "it is not an inner axis besides that of the lanes"),
    ];
    reject(&reasons, |reason| format!("axis {axis} cannot be walked in tiles of {side}: {reason}"))
}

/// With an axis that blocks cut or not.
fn draw(schedule: &mut Schedule, _: &Witness, draws: &mut Draws) {
    let crossing: Vec<Axis> =
        schedule.inner.iter().copied().filter(|axis| Some(*axis) != schedule.lane).collect();
    let is_prefetched = schedule.prefetch.is_some_and(|prefetch| Some(prefetch.axis) == schedule.lane);
    let may = schedule.lane.is_some() && !schedule.lanes_outside && schedule.width == 1 && !is_prefetched;
    if crossing.is_empty() || !may || draws.percent(30) {
        return;
    }
    let cross = draws.one_of(&crossing);
    if draws.percent(30) {
        draw_chunk(schedule, cross, draws);
    }
    schedule.tile = Some((cross, 1 << draws.below(5)));
    schedule.pad = u32::from(draws.percent(30));
}
