//! Which axis is mapped to the lanes, and whether their loop is around the stages.

use std::fmt;

use super::loops::draw_chunk;
use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, check_loop, read_axis, reject};
use crate::legal::Fold;

pub(super) const KNOB: Knob = Knob { forms: &["lane X [outside]"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some(axis) = schedule.lane else { return Ok(()) };
    writeln!(f, "lane {axis}{}", if schedule.lanes_outside { " outside" } else { "" })
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["lane", axis, outside @ ..] = words else { return Ok(false) };
    if !matches!(outside, [] | ["outside"]) {
        return Ok(false);
    }
    schedule.lane = Some(read_axis(axis)?);
    schedule.lanes_outside |= !outside.is_empty();
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Some(axis) = schedule.lane else { return Ok(()) };
    check_loop(schedule, witness, axis)?;
    let outside = schedule.lanes_outside;
    // Its results would lie in an array that the lanes share.
    let keeps = |fold: &Fold| schedule.keeps_in_stages(fold);
    let crosses =
        |fold: &Fold| fold.terminal && fold.reduced.iter().any(|&own| schedule.loop_of(own) == axis);
    let reasons = [
        (!outside && schedule.inner.last() != Some(&axis), "it is not the last inner axis"),
        (outside && witness.folds.iter().any(keeps), "a fold keeps an axis that is walked within the stages"),
        (outside && witness.folds.iter().any(crosses), "a fold that leaves the kernel reduces it"),
    ];
    reject(&reasons, |reason| format!("axis {axis} cannot be mapped to the lanes: {reason}"))
}

/// None, one around the stages, or the last one within them; cut by blocks or not.
fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let loops = schedule.loops_of(witness.order.iter().copied());
    if loops.is_empty() || draws.percent(15) {
        return;
    }
    schedule.lanes_outside = draws.percent(40);
    let axis = match schedule.inner.last() {
        Some(&last) if !schedule.lanes_outside => last,
        _ => draws.one_of(&loops),
    };
    schedule.lane = Some(axis);
    schedule.rows.retain(|&row| row != axis);
    schedule.inner.retain(|&inner| inner != axis);
    if !schedule.lanes_outside {
        schedule.inner.push(axis);
    }
    let is_cut = schedule.chunk(axis).is_some();
    if !draws.percent(40) {
        schedule.blocks.retain(|(block, _)| *block != axis);
    } else if !is_cut {
        draw_chunk(schedule, axis, draws);
    }
}
