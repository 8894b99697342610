//! How many blocks run side by side as one, each by a team of its threads: short rows are then taken together.

use std::fmt;

use index::integer;
use kernel::GPU_WARP;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};
use crate::legal::Fold;
use space::Axis;
use target::gpu::MAX_BLOCK_THREADS;

const _: () = assert!(MAX_BLOCK_THREADS == 1024 && GPU_WARP == 32, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["teams N"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if schedule.teams > 1 { writeln!(f, "teams {}", schedule.teams) } else { Ok(()) }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["teams", teams] = words else { return Ok(false) };
    schedule.teams = integer(teams).ok_or("a number of teams")?;
    Ok(true)
}

/// Lanes of a team share no scratch and never wait for each other at a barrier.
fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Schedule { teams, lanes, warp, .. } = *schedule;
    if teams == 1 {
        return Ok(());
    }
    let (folds, most) = (&witness.folds, MAX_BLOCK_THREADS / lanes.max(1));
    let is_inner = |axis: Axis| schedule.inner.contains(&schedule.loop_of(axis));
    let keeps = folds.iter().any(|fold| schedule.keeps_in_stages(fold));
    let shares = !schedule.persistent.is_empty() || keeps;
    let takes_rows = |fold: &Fold| fold.terminal && !fold.reduced.iter().copied().all(is_inner);
    let are_few = lanes <= GPU_WARP && warp.is_none_or(|warp| warp == lanes);
    let folds_at_once = are_few || folds.is_empty() || schedule.lanes_outside;
    let reasons = [
        (!teams.is_power_of_two() || teams > most, "a power of two of them must have 1024 lanes at most"),
        (schedule.tile.is_some(), "the lanes of a tile share it"),
        (witness.scanned.is_some() || schedule.jam.is_some(), "they scan, or walk several rows together"),
        (!folds_at_once, "lanes that fold must be 32 at most, all combined at once"),
        (folds.iter().any(takes_rows), "a fold takes rows of several"),
        (!schedule.private && shares, "what persists or a fold keeps lies in scratch that lanes share"),
    ];
    reject(&reasons, |reason| format!("blocks cannot be {teams} teams: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    schedule.teams = if draws.percent(40) { 1 << draws.between(1, 4) } else { 1 };
    if check(schedule, witness).is_err() {
        schedule.teams = 1;
    }
}
