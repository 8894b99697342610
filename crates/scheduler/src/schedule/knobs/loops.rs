//! The place of each loop: divided among blocks, in rows, or within the stages.

use std::fmt;

use index::integer;

use super::{
    Axis, Draws, Knob, Read, Schedule, ScheduleError, Witness, check_loop, ensure, print_each, read_axis,
};

/// The largest chunk: indices computed with it stay far below 2^63.
const MAX_CHUNK: u64 = 1 << 52;

/// The most elements of all random chunks together: an interpreter keeps arrays of them for a block.
const MAX_DRAWN_ELEMENTS: u64 = 1 << 14;

pub(super) const KNOB: Knob = Knob { forms: &["block X by N", "row X", "inner X"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    schedule.blocks.iter().try_for_each(|(axis, chunk)| writeln!(f, "block {axis} by {chunk}"))?;
    print_each(f, "row", &schedule.rows)?;
    print_each(f, "inner", &schedule.inner)
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    match words {
        ["block", axis, "by", chunk] => {
            schedule.blocks.push((read_axis(axis)?, integer(chunk).ok_or("a chunk size")?));
        }
        ["row", axis] => schedule.rows.push(read_axis(axis)?),
        ["inner", axis] => schedule.inner.push(read_axis(axis)?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let blocks = schedule.blocks.iter().map(|(axis, _)| axis);
    let mut named = blocks.chain(&schedule.rows).chain(&schedule.inner);
    named.try_for_each(|&axis| check_loop(schedule, witness, axis))?;
    for &(axis, chunk) in &schedule.blocks {
        ensure((1..=MAX_CHUNK).contains(&chunk), || {
            format!("axis {axis} has chunks of size {chunk}, which must be from 1 to {MAX_CHUNK}")
        })?;
    }
    let loops = schedule.loops_of(witness.order.iter().copied());
    loops.into_iter().try_for_each(|axis| check_place(schedule, witness, axis))
}

/// Each loop has one place. Those of the lanes and of tiles may have two: blocks cut them into chunks, a stage walks a
/// chunk.
fn check_place(schedule: &Schedule, witness: &Witness, axis: Axis) -> Result<(), ScheduleError> {
    let in_blocks = schedule.blocks.iter().filter(|(block, _)| *block == axis).count();
    let in_rows = schedule.rows.iter().filter(|row| **row == axis).count();
    let in_inner = schedule.inner.iter().filter(|inner| **inner == axis).count();
    let lane_outside = usize::from(schedule.is_lane_outside(axis));
    let in_stages = schedule.lane == Some(axis) || schedule.tile.is_some_and(|(cross, _)| cross == axis);
    let is_chunked = in_stages && in_blocks == 1 && in_inner + lane_outside == 1;
    ensure(in_blocks + in_rows + in_inner + lane_outside == 1 || is_chunked, || {
        format!("axis {axis} must stand in exactly one of block, rows and inner")
    })?;
    let is_divided = in_blocks + in_rows + lane_outside > 0;
    ensure(!is_divided || witness.workers.contains(&axis), || {
        let why = "scanned, or reduced by a fold whose result the segment needs";
        format!("axis {axis} is {why}, so blocks and rows cannot divide it")
    })
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    let mut loops = schedule.loops_of(witness.order.iter().copied());
    if draws.percent(50) {
        draws.shuffle(&mut loops);
    }
    for axis in loops {
        match draws.below(3) {
            _ if !witness.workers.contains(&axis) => schedule.inner.push(axis),
            0 => schedule.rows.push(axis),
            1 => schedule.inner.push(axis),
            _ => draw_chunk(schedule, axis, draws),
        }
    }
}

/// Divides an axis among blocks, in chunks of a random size.
pub(super) fn draw_chunk(schedule: &mut Schedule, axis: Axis, draws: &mut Draws) {
    let place = draws.below(schedule.blocks.len() + 1);
    let others = schedule.blocks.iter().map(|(_, chunk)| chunk).product::<u64>();
    let most = draws.one_of(&[2, 9, 70]);
    let chunk = (draws.between(1, most) as u64).min((MAX_DRAWN_ELEMENTS / others).max(1));
    schedule.blocks.insert(place, (axis, chunk));
}
