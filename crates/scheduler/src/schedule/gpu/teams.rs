//! How many short rows a block takes side by side, each by a team with as many threads as the row has vectors.

use super::keep::longest_row;
use crate::legal::{Fold, cut};
use crate::schedule::Schedule;
use crate::schedule::workload::Workload;
use space::Axis;

/// Gives a complete schedule teams, if rows are short and lanes need not wait for each other: one row each, as for blocks
/// that keep nothing from row to row. Of many blocks some load while others fold.
pub(in crate::schedule) fn teams(work: &Workload<'_>, schedule: &mut Schedule) {
    let Some(lane) = schedule.lane.filter(|lane| schedule.chunk(*lane).is_none()) else { return };
    let lanes = lanes(work, schedule, lane);
    let teams = work.target.lanes / lanes;
    let with_teams = Schedule { lanes, teams, warp: None, ..schedule.clone() };
    let has_teams = teams > 1 && with_teams.check(work.witness).is_ok();
    if has_teams {
        *schedule = with_teams;
    }
    if has_teams || keeps_nothing(work, schedule) {
        let rows = std::mem::take(&mut schedule.rows);
        schedule.blocks.extend(rows.into_iter().map(|row| (row, 1)));
        schedule.blocks.iter_mut().for_each(|(_, chunk)| *chunk = 1);
    }
}

/// Whether a block starts afresh with each of its rows, which it folds or only maps.
fn keeps_nothing(work: &Workload<'_>, schedule: &Schedule) -> bool {
    if work.witness.stage_count == 1 && work.witness.folds.is_empty() {
        return schedule.tile.is_none() && !schedule.lanes_outside;
    }
    let is_inner = |axis: &Axis| schedule.inner.contains(&schedule.loop_of(*axis));
    let folds = &work.witness.folds;
    let is_of_row = |fold: &Fold| fold.reduced.iter().all(is_inner);
    schedule.private && !folds.is_empty() && folds.iter().all(is_of_row)
}

/// As many as the longest part of a row has vectors; for folded rows, no more than the schedule has.
fn lanes(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> u32 {
    let Workload { graph, view, witness, .. } = *work;
    let row = longest_row(work, schedule, lane).unwrap_or(work.trip_count(schedule, lane));
    let is_cut = schedule.partition.contains(&lane);
    let cut = cut(graph, view, &witness.space, lane).filter(|_| is_cut);
    let subranges = cut.map_or(1, |cut| cut.subranges() as u64);
    let vectors = row.div_ceil(subranges).div_ceil(schedule.width.into()).max(1);
    let most = if witness.folds.is_empty() { work.target.lanes } else { schedule.lanes };
    vectors.checked_next_power_of_two().map_or(most, |lanes| lanes.min(u64::from(most)) as u32)
}
