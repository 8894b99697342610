//! How many rows are jammed, if any: each stage then walks its axes once for all of them.

use crate::legal::{Fold, When, Witness};
use crate::schedule::Schedule;
use crate::schedule::contiguous::{contiguous, has_loop};
use crate::schedule::workload::{Workload, has_results_in_scratch};
use ir::graph::TensorOp;
use space::{Atoms, Axis};
use target::Cpu;
use target::cpu::{
    L2_PART, LINE_BYTES, MAX_FOLDED_OPS, MAX_JAMMED_OPS, MIN_COSTLY_BYTES, MIN_SHARED_FOLDS, PAGE_BYTES,
    SCANNED_ROWS, SHARED_BYTES, SHORT_ROW_BYTES, WALKED_AGAIN_REGISTERS,
};
use target::limits::MAX_STATEMENTS;

/// Walks several rows together where that pays. Folds over rows that lie in scratch load and store it once for all of them;
/// of rows shorter than a page only as many are walked together as are one run of memory. Where rows are many and so short
/// that each waits for the result of its folds, the next one runs meanwhile. A block with fewer rows would walk all of them
/// in the remainder loop. Where a single fold is so little work that only memory counts, memory decides: a fold over
/// contiguous rows walks them one by one, unless they are short; a fold of each row walks rows of pages together, so that
/// one goes on where another reaches the end of its page, but with short vectors not if a later stage walks them again. Rows that need the same tiles are walked together. Rows that are
/// scanned without lanes are walked together, as each step waits for the one before.
pub(super) fn jam(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule, bytes: u64) -> Option<(Axis, u32)> {
    let Workload { witness, target, .. } = *work;
    if schedule.lanes_outside {
        return None;
    }
    let row = *schedule.outer().last()?;
    let extent = work.trip_count(schedule, row);
    let of_block = schedule.chunk(row).unwrap_or(extent).min(extent);
    if witness.scanned.is_some() {
        let has_rows = schedule.lane.is_none() && witness.folds.is_empty() && of_block >= SCANNED_ROWS.into();
        return has_rows.then_some((row, SCANNED_ROWS));
    }
    let total = work.elements(&witness.order);
    let is_large = total >= target.large();
    let of_row = |fold: &Fold| bytes / (total / work.elements(&fold.reduced).max(1)).max(1);
    let waits = |fold: &Fold| !fold.terminal && of_row(fold) <= SHORT_ROW_BYTES;
    let has_pages = |fold: &Fold| {
        is_one_run(work, schedule)
            && !has_results_in_scratch(schedule, fold, row)
            && of_row(fold) >= PAGE_BYTES
            && (fold.terminal || facts.registers >= WALKED_AGAIN_REGISTERS)
    };
    let of_each = is_large && witness.folds.iter().any(|fold| waits(fold) || has_pages(fold));
    let shares_tiles = shares_tiles(work, schedule, row);
    let gain = if of_each || shares_tiles {
        facts.rows
    } else {
        rows_that_share(work, schedule, row).min(facts.rows)
    };
    let most = if shares_tiles { of_block.min(u64::from(facts.rows)) as u32 } else { facts.rows };
    let rows = gain.min(rows_that_fit(work, facts)).min(most);
    (rows > 1 && of_block >= rows.into()).then_some((row, rows))
}

/// Whether tiles are walked, and what they transpose is the same for all rows.
fn shares_tiles(work: &Workload<'_>, schedule: &Schedule, row: Axis) -> bool {
    let Some(((cross, _), lane)) = schedule.tile.zip(schedule.lane) else { return false };
    let brought = |of_row: bool| {
        let counts =
            |axes: &[Atoms]| has_loop(schedule, axes, lane) && has_loop(schedule, axes, row) == of_row;
        contiguous(work, counts).into_keys().any(|axis| schedule.loop_of(axis) == cross)
    };
    brought(false) && !brought(true)
}

/// How many rows gain by loading and storing their folds' states together.
fn rows_that_share(work: &Workload<'_>, schedule: &Schedule, row: Axis) -> u32 {
    let Workload { witness, target, .. } = *work;
    let folds: Vec<&Fold> =
        witness.folds.iter().filter(|fold| has_results_in_scratch(schedule, fold, row)).collect();
    if folds.is_empty() {
        return 1;
    }
    if folds.iter().any(|fold| takes_several(work, fold)) {
        return u32::MAX;
    }
    let bytes = folds.iter().map(|fold| bytes_kept(work, schedule, fold)).fold(0, u64::saturating_add);
    let are_moments = |fold: &&Fold| work.graph.results(fold.node).count() > 2;
    let are_costly = work.is_short() || folds.iter().any(are_moments);
    let is_long = bytes >= MIN_COSTLY_BYTES && only_leaves_folds(witness) && are_costly;
    let of_row = work.row_bytes(schedule, row).max(1);
    if of_row < PAGE_BYTES && !is_long && !cuts_rows(work, schedule) {
        let stays = is_one_run(work, schedule) && of_row > LINE_BYTES;
        return if stays { 1 } else { (SHARED_BYTES / of_row).checked_ilog2().map_or(1, |rows| 1 << rows) };
    }
    let enough = if work.is_little() { 1 } else { MIN_SHARED_FOLDS };
    let many = bytes >= target.block_bytes / L2_PART || folds.len() >= enough || is_long;
    if many && !is_one_run(work, schedule) { u32::MAX } else { 1 }
}

/// Whether a fold takes several rows with less work than one after the other.
fn takes_several(work: &Workload<'_>, fold: &Fold) -> bool {
    matches!(&work.graph.node(fold.node).op, TensorOp::Fold { monoid, .. } if monoid.rescaled().is_some())
}

/// Whether a single fold is so little work that memory decides, and rows are contiguous.
fn is_one_run(work: &Workload<'_>, schedule: &Schedule) -> bool {
    work.is_little() && work.witness.folds.len() == 1 && !cuts_rows(work, schedule)
}

/// Whether blocks cut an axis that is walked within the stages, so that the next row does not follow this one in memory.
fn cuts_rows(work: &Workload<'_>, schedule: &Schedule) -> bool {
    let is_cut =
        |&axis: &Axis| schedule.chunk(axis).is_some_and(|chunk| chunk < work.trip_count(schedule, axis));
    schedule.inner.iter().any(is_cut)
}

/// Bytes of scratch for the results that a fold keeps within the stages.
fn bytes_kept(work: &Workload<'_>, schedule: &Schedule, fold: &Fold) -> u64 {
    let kept = schedule.loops_of(fold.kept_axes());
    let inner = kept.iter().filter(|axis| schedule.inner.contains(axis));
    let elements =
        inner.map(|&axis| work.trip_count(schedule, axis).min(schedule.chunk(axis).unwrap_or(u64::MAX)));
    let states =
        work.graph.results(fold.node).map(|state| work.graph.dtype(state).size() as u64).sum::<u64>();
    elements.fold(states, u64::saturating_mul)
}

/// The most rows that a segment walks together. Folds of rows have a state for each row, in two registers of often 32. Where
/// one fold is accumulated in a stage, the states of four rows fit beside everything else; where more are, or the kernel is
/// long, those of two. Where rows only leave the results of folds, no state stays in registers. Eight rows of little work
/// fit 32 registers; with 16 a gradient of softmax took 1.2 to 1.4 times as long as with four (Xeon, AVX2).
fn rows_that_fit(work: &Workload<'_>, facts: &Cpu) -> u32 {
    let Workload { graph, view, witness, .. } = *work;
    let of_rows = |stage: u32| witness.folds.iter().filter(move |fold| !fold.terminal && fold.stage == stage);
    let states = |stage: u32| of_rows(stage).map(|fold| graph.results(fold.node).count()).sum::<usize>();
    match view.order().len() {
        _ if work.is_short() && only_leaves_folds(witness) => 8,
        _ if work.is_short() => facts.registers / 4,
        operations if operations > MAX_JAMMED_OPS => 1,
        _ if only_leaves_folds(witness) && witness.folds.iter().all(|fold| takes_several(work, fold)) => 8,
        _ if witness.statements.saturating_mul(2) > MAX_STATEMENTS => 1,
        _ if witness.statements.saturating_mul(4) > MAX_STATEMENTS => 2,
        _ if (0..witness.stage_count).any(|stage| states(stage) > 1) => 2,
        operations if operations <= MAX_FOLDED_OPS && only_leaves_folds(witness) => 8,
        _ => 4,
    }
}

/// Whether a group stores nothing but the results of folds.
fn only_leaves_folds(witness: &Witness) -> bool {
    witness.stores.iter().all(|store| matches!(store.when, When::After(_)))
}
