//! Axes whose loops are cut into subranges.

use std::fmt;

use super::{
    Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_known, print_each, read_axis, reject,
};

pub(super) const KNOB: Knob = Knob { forms: &["partition X"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    print_each(f, "partition", &schedule.partition)
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["partition", axis] = words else { return Ok(false) };
    schedule.partition.push(read_axis(axis)?);
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    schedule.partition.iter().enumerate().try_for_each(|(place, &axis)| {
        check_known(witness, axis)?;
        let is_shared = schedule.run(axis).len() > 1 || schedule.loop_of(axis) != axis;
        let reasons = [
            (is_shared, "its loop walks other axes, too"),
            (schedule.partition[..place].contains(&axis), "it is partitioned already"),
            (is_several(schedule, axis), "it is walked in tiles, or unrolled"),
            (witness.scanned == Some(axis), "it is scanned"),
        ];
        reject(&reasons, |reason| format!("axis {axis} cannot be partitioned: {reason}"))
    })
}

/// Whether several indices of an axis within the stages are walked together.
fn is_several(schedule: &Schedule, axis: Axis) -> bool {
    let in_tiles = schedule.tile.is_some_and(|(cross, _)| cross == axis || schedule.lane == Some(axis));
    in_tiles || schedule.unroll == Some(axis)
}

/// Whether the loop of an axis can be cut.
pub(in crate::schedule) fn may_partition(schedule: &Schedule, witness: &Witness, axis: Axis) -> bool {
    schedule.run(axis).len() == 1 && witness.scanned != Some(axis) && !is_several(schedule, axis)
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let loops = schedule.loops_of(witness.order.iter().copied());
    let fits = loops.into_iter().filter(|&axis| may_partition(schedule, witness, axis));
    schedule.partition = fits.filter(|_| draws.percent(30)).collect();
}
