//! How many results a block of each combine step has, and how many teams of lanes share the chunks of each.

use std::fmt;

use index::integer;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, ensure};
use target::gpu::MAX_BLOCK_THREADS;

pub(super) const KNOB: Knob = Knob { forms: &["combine by N [teams N]"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    schedule.combine.iter().try_for_each(|step| match step {
        (results, 1) => writeln!(f, "combine by {results}"),
        (results, teams) => writeln!(f, "combine by {results} teams {teams}"),
    })
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let (results, teams) = match words {
        ["combine", "by", results] => (results, "1"),
        ["combine", "by", results, "teams", teams] => (results, *teams),
        _ => return Ok(false),
    };
    let number = |word| integer(word).ok_or("a number of results, and of teams");
    schedule.combine.push((number(results)?, number(teams)?));
    Ok(true)
}

fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    schedule.combine.iter().try_for_each(|(results, teams)| {
        let lanes = results.saturating_mul(*teams);
        ensure(lanes.is_power_of_two() && lanes <= MAX_BLOCK_THREADS, || {
            let most = MAX_BLOCK_THREADS;
            format!("combine by {results} teams {teams} has blocks of {lanes} lanes: a power of two from 1 to {most}")
        })
    })
}

fn draw(schedule: &mut Schedule, _: &Witness, draws: &mut Draws) {
    let steps = if draws.percent(30) { draws.between(1, 2) } else { 0 };
    schedule.combine = (0..steps).map(|_| (1 << draws.below(7), 1 << draws.below(4))).collect();
}
