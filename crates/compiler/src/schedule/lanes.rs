//! How many lanes a block has: those of the target, or more where operations would wait for each other, be it in the fold of
//! a row or in a long formula. What only moves memory gains nothing by more. Rows that are only read, and go together, take a
//! register each at a time: memory gives a line of each in turn faster than two of one.

use ir::graph::{Form, Graph, Node};
use ir::ops::CpuSpelling;

use super::Schedule;
use super::workload::Workload;
use crate::segment::Witness;
use crate::space::{Axis, seams};

/// Fewest turns of a loop over many lanes: the last is masked, and costs as much as a whole one.
const TURNS: u64 = 4;

/// Bytes of the elements that the lanes of a target are a register of.
const HALF: usize = 2;

/// Bytes of the largest elements of which many lanes fit the registers.
const SINGLE: usize = 4;

/// The most operations of a segment whose values fit the registers when there are many lanes.
const OPERATIONS: usize = 64;

/// The lanes of a schedule whose loops are chosen. Rows that go together have operations enough, squares a side of their own.
pub(super) fn lanes(work: &Workload<'_>, schedule: &Schedule) -> u32 {
    let Workload { graph, view, witness, target, .. } = *work;
    let is_plain = schedule.tile.is_none() && witness.scanned.is_none();
    let Some(lane) = schedule.lane.filter(|_| is_plain && !schedule.lanes_outside) else {
        return target.lanes;
    };
    let varying: Vec<Node> =
        view.order().iter().copied().filter(|&node| varies(graph, witness, schedule, lane, node)).collect();
    let sizes = varying.iter().flat_map(|&node| graph.results(node)).map(|val| graph.dtype(val).size());
    if schedule.jam.is_some() {
        let is_only_read = witness.levels == 1;
        let inputs = view.inputs().iter().map(|&input| graph.dtype(input).size());
        let narrowest = sizes.chain(inputs).min().filter(|_| is_only_read).unwrap_or(HALF).max(HALF);
        return (target.lanes / (narrowest / HALF) as u32).max(1);
    }
    let pieces = seams(graph, view, &witness.space, lane).len() as u64 + 1;
    let is_long = work.turns(schedule, lane) / pieces >= TURNS * u64::from(target.wide);
    let waits = !witness.folds.is_empty() || varying.iter().any(|&node| is_polynomial(graph, node));
    let fits = view.order().len() <= OPERATIONS && sizes.max() <= Some(SINGLE);
    if is_long && waits && fits { target.wide } else { target.lanes }
}

/// Whether lanes have values of their own of a node.
fn varies(graph: &Graph, witness: &Witness, schedule: &Schedule, lane: Axis, node: Node) -> bool {
    let axes = witness.space.axes_of(graph, node.into());
    axes.iter().flatten().any(|&axis| schedule.loop_of(axis) == lane)
}

fn is_polynomial(graph: &Graph, node: Node) -> bool {
    let Form::Map(prim) = graph.node(node).form else { return false };
    matches!(prim.row().cpu.of(graph.dtype(node.into())), Some(CpuSpelling::Polynomial(_)))
}
