//! How many lanes a block has, and how many neighbouring ones folds combine first.

use std::fmt;

use index::integer;

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, ensure};
use target::gpu::MAX_BLOCK_THREADS;

pub(super) const KNOB: Knob = Knob { forms: &["schedule lanes N [warps N]"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let warps = schedule.warp.map(|warp| format!(" warps {warp}")).unwrap_or_default();
    writeln!(f, "schedule lanes {}{warps}", schedule.lanes)
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["schedule", "lanes", lanes, warps @ ..] = words else { return Ok(false) };
    let warp = match warps {
        [] => None,
        ["warps", warp] => Some(integer(warp).ok_or("the lanes of a warp")?),
        _ => return Ok(false),
    };
    schedule.lanes =
        integer(lanes).filter(|&lanes: &u32| lanes > 0).ok_or("a number of lanes, at least 1")?;
    schedule.warp = warp;
    Ok(true)
}

fn check(schedule: &Schedule, _: &Witness) -> Result<(), ScheduleError> {
    let lanes = schedule.lanes;
    check_lanes(lanes, schedule.cluster)?;
    let warp = schedule.warp.unwrap_or(lanes);
    ensure(warp.is_power_of_two() && warp <= lanes, || {
        format!("warps must have a power of two of lanes, at most all {lanes}, not {warp}")
    })
}

/// An error unless `blocks` blocks can have `lanes` lanes.
fn check_lanes(lanes: u32, blocks: u32) -> Result<(), ScheduleError> {
    let most = MAX_BLOCK_THREADS.saturating_mul(blocks);
    ensure(lanes.is_power_of_two() && lanes <= most, || {
        format!("lanes must be a power of two from 1 to {most}, not {lanes}")
    })
}

fn draw(schedule: &mut Schedule, _: &Witness, draws: &mut Draws) {
    let digits = draws.below(7);
    schedule.lanes = 1 << digits;
    schedule.warp = draws.percent(30).then(|| 1 << draws.below(digits + 1));
}
