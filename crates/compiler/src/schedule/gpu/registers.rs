//! Which values the threads of a row keep in registers: what they read of inputs, widened, where a row is short enough for each to
//! have a few elements and later stages want them again. Everything else is computed again from those.

use index::Expr;
use ir::graph::{Node, TensorOp, Val};

use crate::schedule::Schedule;
use crate::schedule::persist::needs;
use crate::schedule::workload::Workload;
use crate::space::Axis;

/// Elements of a row that a thread has at most: those of a block of a fold, so that no total is added up in between.
pub(super) const ELEMENTS: u64 = 16;

/// The most bytes of registers that a thread keeps: a third of what it has where a multiprocessor is full.
const BYTES: u64 = 128;

/// The longest that a row can be, if that is known: all threads of a row then walk it in a known number of steps.
pub(super) fn longest_row(work: &Workload<'_>, schedule: &Schedule, lane: Axis) -> Option<u64> {
    let extent: Expr = schedule.extent(work.witness, lane);
    let most = work.view.facts().bounds(&extent).hi()?;
    u64::try_from(most).ok()
}

/// The values that persist in registers, operands before users; none where a row is too long or stages walk more than a row.
pub(super) fn registers(work: &Workload<'_>, schedule: &Schedule) -> Vec<Val> {
    let Workload { graph, view, witness, .. } = *work;
    let Some(lane) = schedule.lane.filter(|lane| schedule.inner == [*lane]) else { return Vec::new() };
    let is_short =
        longest_row(work, schedule, lane).is_some_and(|most| most <= ELEMENTS * u64::from(schedule.lanes));
    if schedule.width == 1 || witness.levels < 2 || !is_short {
        return Vec::new();
    }
    let is_widened = |&node: &Node| {
        let data = graph.node(node);
        let widens = matches!(data.op, TensorOp::Cast(_));
        widens && view.is_input(data.operands[0]) && work.walks_all(node.into())
    };
    let is_wanted = |&node: &Node| {
        let own = witness.stages.get(&node);
        own.is_some_and(|&own| (own + 1..witness.levels).any(|stage| needs(work, &[], stage, node)))
    };
    let wanted: Vec<Val> =
        view.order().iter().copied().filter(is_widened).filter(is_wanted).map(Val::from).collect();
    let bytes: u64 = wanted.iter().map(|&val| graph.dtype(val).size() as u64 * ELEMENTS).sum();
    if bytes <= BYTES { wanted } else { Vec::new() }
}
