//! How many lanes a block has: those of the target, or more where operations would wait for each other, in the fold of a row
//! or in a long formula. Memory-bound groups gain nothing by more. Rows that are only summed, and jammed, take one register
//! at a time: memory delivers a line of each row in turn faster than two of one.

use ir::graph::Node;

use crate::legal::{Witness, cut};
use crate::schedule::Schedule;
use crate::schedule::contiguous::crosses_rows;
use crate::schedule::workload::{Workload, has_results_in_scratch};
use space::Axis;
use target::Cpu;
use target::cpu::{MAX_WIDE_OPS, MIN_WIDE_TRIP_COUNT};
use target::limits::MAX_SMALL_CALL_ELEMENTS;

/// Bytes of an element of which a register holds as many as the target has lanes.
const HALF: usize = 2;

/// The fewest lanes of a block whose rows have few elements.
const MIN_LANES: u32 = 8;

/// The lanes of a schedule whose loops are chosen: no more than iterations where these are few.
pub(super) fn lanes(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule) -> u32 {
    let lanes = of_long_rows(work, facts, schedule);
    let Some(lane) = schedule.lane.filter(|_| schedule.tile.is_none()) else { return lanes };
    let is_small = work.elements(&work.witness.order) <= MAX_SMALL_CALL_ELEMENTS as u64;
    let trips = match is_small {
        true => work.max_trip_count(schedule, lane).unwrap_or(lanes.into()),
        false => work.trip_count(schedule, lane),
    };
    let needed = trips.min(lanes.into()) as u32;
    needed.next_power_of_two().clamp(MIN_LANES.min(lanes), lanes)
}

/// The lanes where each has an iteration. Jammed rows have operations enough, and tiles have their own side; lanes
/// that cross tensors take a line of each.
fn of_long_rows(work: &Workload<'_>, facts: &Cpu, schedule: &Schedule) -> u32 {
    let Workload { graph, view, witness, target, .. } = *work;
    if let Some(lane) = schedule.lane.filter(|&lane| crosses_rows(work, schedule, lane)) {
        return of_a_register(work, schedule, lane);
    }
    let is_plain = schedule.tile.is_none() && witness.scanned.is_none();
    let Some(lane) = schedule.lane.filter(|_| is_plain && !schedule.lanes_outside) else {
        return target.lanes;
    };
    if let Some((row, _)) = schedule.jam {
        return if sums_rows(witness, schedule, row) {
            of_a_register(work, schedule, lane)
        } else {
            target.lanes
        };
    }
    let subranges = cut(graph, view, &witness.space, lane).map_or(1, |cut| cut.subranges() as u64);
    let is_long = work.trip_count(schedule, lane) / subranges >= MIN_WIDE_TRIP_COUNT * u64::from(facts.wide);
    let varying: Vec<Node> =
        view.order().iter().copied().filter(|&node| varies(witness, schedule, lane, node)).collect();
    let has_scratch = schedule.outer().last().is_some_and(|&row| has_scratch(witness, schedule, row));
    let is_crowded = has_scratch && witness.stage_count > 1;
    let waits = !witness.folds.is_empty() || varying.iter().any(|&node| work.is_polynomial(node));
    let fits = view.order().len() <= MAX_WIDE_OPS
        && varying.iter().flat_map(|&node| graph.results(node)).all(|val| graph.dtype(val).size() <= 4);
    if is_long && waits && fits && !is_crowded { facts.wide } else { target.lanes }
}

/// Whether nothing waits for the results that rows are folded into, and they stay in registers.
fn sums_rows(witness: &Witness, schedule: &Schedule, row: Axis) -> bool {
    witness.stage_count == 1 && !has_scratch(witness, schedule, row)
}

/// Whether rows are folded into scratch.
fn has_scratch(witness: &Witness, schedule: &Schedule, row: Axis) -> bool {
    witness.folds.iter().any(|fold| has_results_in_scratch(schedule, fold, row))
}

/// As many lanes as a register has elements of the narrowest operand that is read along them.
fn of_a_register(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> u32 {
    let Workload { graph, view, witness, target, .. } = *work;
    let operands = view.order().iter().flat_map(|&node| {
        let operands = graph.node(node).operands.iter().enumerate();
        operands.map(move |(k, &val)| (witness.space.axes_of_operand(node, k), val))
    });
    let along = operands
        .filter(|(axes, val)| {
            view.is_input(*val) && axes.iter().flatten().any(|&axis| schedule.loop_of(axis) == lane)
        })
        .map(|(_, val)| graph.dtype(val).size());
    let narrowest = along.min().unwrap_or(HALF).max(HALF);
    (target.lanes / (narrowest / HALF) as u32).max(1)
}

/// Whether a node's values differ between lanes.
fn varies(witness: &Witness, schedule: &Schedule, lane: Axis, node: Node) -> bool {
    let axes = witness.space.axes_of(node.into());
    axes.iter().flatten().any(|&axis| schedule.loop_of(axis) == lane)
}
