//! How many blocks of a GPU the lanes are spread over: for rows that one block cannot keep in registers.

use std::fmt;

use index::integer;
use kernel::{GPU_WARP, MAX_CLUSTER};

use super::{Draws, Knob, Read, Schedule, ScheduleError, Witness, reject};
use crate::legal::Fold;
use space::Axis;

const _: () = assert!(MAX_CLUSTER == 8 && GPU_WARP == 32, "messages say so");

pub(super) const KNOB: Knob = Knob { forms: &["cluster N"], print, read, check, draw };

fn print(schedule: &Schedule, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if schedule.cluster > 1 { writeln!(f, "cluster {}", schedule.cluster) } else { Ok(()) }
}

fn read(schedule: &mut Schedule, words: &[&str]) -> Read {
    let ["cluster", blocks] = words else { return Ok(false) };
    schedule.cluster = integer(blocks).ok_or("a number of blocks")?;
    Ok(true)
}

/// Blocks share no scratch, and synchronize only at folds.
fn check(schedule: &Schedule, witness: &Witness) -> Result<(), ScheduleError> {
    let Schedule { cluster, lanes, warp, lane, .. } = *schedule;
    if cluster == 1 {
        return Ok(());
    }
    let keeps = witness.folds.iter().any(|fold| schedule.keeps_in_stages(fold));
    let outer = schedule.outer();
    let place = |axis: Axis| outer.iter().position(|&other| other == schedule.loop_of(axis));
    let keeps_over_loop = |fold: &Fold| {
        let first = fold.reduced.iter().filter_map(|&axis| place(axis)).min();
        fold.kept_axes().filter_map(place).any(|kept| first.is_some_and(|reduced| reduced < kept))
    };
    let shares = !schedule.private && (!schedule.persistent.is_empty() || keeps);
    let reasons = [
        (!cluster.is_power_of_two() || cluster > MAX_CLUSTER, "2, 4 or 8 blocks are one"),
        (warp != Some(GPU_WARP) || lanes / GPU_WARP < cluster, "each has whole warps of 32 lanes"),
        (schedule.lanes_outside || lane.is_none(), "no axis within the stages is mapped to the lanes"),
        (schedule.tile.is_some() || witness.scanned.is_some(), "the lanes of a tile or a scan share scratch"),
        (schedule.teams > 1, "one of its blocks is several teams"),
        (shares, "what persists or a fold keeps lies in scratch that lanes share"),
        (
            witness.folds.iter().any(keeps_over_loop),
            "a fold over an outer loop keeps its states in scratch that lanes share",
        ),
        (keeps && outer.len() > 1, "what a fold keeps of several axes lies in scratch that lanes share"),
    ];
    reject(&reasons, |reason| format!("{cluster} blocks cannot be a cluster: {reason}"))
}

fn draw(schedule: &mut Schedule, witness: &Witness, draws: &mut Draws) {
    if !draws.percent(40) {
        return;
    }
    let cluster = 1 << draws.between(1, 3);
    let (lanes, warp) = ((cluster * GPU_WARP) << draws.below(2), Some(GPU_WARP));
    let private = draws.percent(50);
    let base = schedule.clone();
    let spread = |private| Schedule { cluster, lanes, warp, private, teams: 1, ..base.clone() };
    let mut tried = [private, base.private].into_iter().map(spread);
    if let Some(fitting) = tried.find(|spread| spread.check(witness).is_ok()) {
        *schedule = fitting;
    }
}
