//! Which values a row keeps in scratch from one stage to the next: those that take a function call or many ops to recompute,
//! as long as they fit the memory that serves a block. All others are recomputed from the inputs, which the caches still
//! hold.

use ir::graph::{Fusion, Graph, Node, TensorOp, Val};
use ops::{Approximation, CpuSpelling, ScalarOp};
use rustc_hash::FxHashSet;

use super::Schedule;
use super::workload::Workload;
use crate::legal::When;
use space::Axis;
use target::Processor;
use target::cpu::MIN_KEPT_OPS;

/// The values that persist, operands before users.
pub(super) fn persist(work: &Workload<'_>, schedule: &Schedule) -> Vec<Val> {
    let Workload { graph, view, witness, .. } = *work;
    if schedule.lanes_outside || witness.stage_count < 2 {
        return Vec::new();
    }
    // Folds may take all of the memory of a GPU's block.
    let keeps = || witness.folds.iter().any(|fold| witness.keeps_undivided(fold));
    if matches!(work.target.processor, Processor::Gpu(_)) && keeps() {
        return Vec::new();
    }
    let Some(row) = elements(work, schedule) else { return Vec::new() };
    let mut left = work.target.block_bytes / 2;
    let mut persistent: Vec<Val> = Vec::new();
    // Users first: where a value persists there is often no point in keeping its operands.
    for &node in view.order().iter().rev() {
        let val = Val::from(node);
        let bytes = row.saturating_mul(graph.dtype(val).size() as u64);
        if bytes > left || !is_long(work, &[], node) {
            continue;
        }
        if is_needed_again(work, &persistent, node) {
            persistent.push(val);
            left -= bytes;
        }
    }
    persistent.reverse();
    enough(work, &persistent)
}

/// Elements of the rows that a block has in scratch at a time. On a GPU the most possible, as a launch that needs more than
/// a block has fails; `None` if they have no limit.
fn elements(work: &Workload<'_>, schedule: &Schedule) -> Option<u64> {
    let steps = |axis: Axis| match work.target.processor {
        Processor::Cpu(_) => {
            Some(work.trip_count(schedule, axis).min(schedule.chunk(axis).unwrap_or(u64::MAX)))
        }
        Processor::Gpu(_) => work.max_trip_count(schedule, axis),
    };
    let rows = schedule.jam.map_or(1, |(_, rows)| u64::from(rows));
    schedule.inner.iter().try_fold(rows, |n, &axis| Some(n.saturating_mul(steps(axis)?)))
}

/// Of values, operands before users, those that take long to compute from the previous ones.
fn enough(work: &Workload<'_>, persistent: &[Val]) -> Vec<Val> {
    let mut kept: Vec<Val> = Vec::new();
    for &val in persistent {
        if is_long(work, &kept, val.node) {
            kept.push(val);
        }
    }
    kept
}

/// Whether a value takes long to recompute from those at hand: a costly op, or on a CPU a draw or many ops.
fn is_long(work: &Workload<'_>, at_hand: &[Val], node: Node) -> bool {
    let Workload { graph, view, .. } = *work;
    if matches!(work.target.processor, Processor::Gpu(_)) {
        return is_costly(graph, node);
    }
    let mut ops = 0;
    let mut seen: FxHashSet<Node> = FxHashSet::default();
    let mut stack = vec![node];
    while let Some(next) = stack.pop() {
        ops += match graph.node(next).op {
            TensorOp::Map(ScalarOp::Philox) => MIN_KEPT_OPS,
            _ if is_costly(graph, next) => MIN_KEPT_OPS,
            TensorOp::Map(_) | TensorOp::Cast(_) => 1,
            _ => 0,
        };
        if ops >= MIN_KEPT_OPS {
            return true;
        }
        let others =
            graph.node(next).operands.iter().filter(|val| !view.is_input(**val) && !at_hand.contains(val));
        let others = others.filter(|val| !graph.op(**val).is_fold());
        stack.extend(others.map(|val| val.node).filter(|&node| seen.insert(node)));
    }
    false
}

/// Whether an op takes many instructions on a CPU. It decides for GPUs too, as the cost of ops there is not measured.
pub(super) fn is_costly(graph: &Graph, node: Node) -> bool {
    let TensorOp::Map(op) = graph.node(node).op else { return false };
    let spelling = op.row().cpu.of(graph.dtype(node.into()));
    matches!(
        spelling,
        Some(
            CpuSpelling::Polynomial(_)
                | CpuSpelling::Approximate(
                    Approximation::Exp(_)
                        | Approximation::Exp2Half(_)
                        | Approximation::Exp2Bf16(_)
                        | Approximation::ExpTerm
                )
                | CpuSpelling::Remainder { .. }
                | CpuSpelling::Call { .. }
        )
    )
}

/// Whether a node that has an element for each step of a row is needed after its own stage, while these values persist.
pub(super) fn is_needed_again(work: &Workload<'_>, persistent: &[Val], node: Node) -> bool {
    let own = work.witness.stage_of(node).filter(|_| work.walks_all(node.into()));
    own.is_some_and(|own| {
        (own + 1..work.witness.stage_count).any(|stage| needs(work, persistent, stage, node))
    })
}

/// Whether a stage recomputes a node, given the values that persist from earlier stages.
pub(super) fn needs(work: &Workload<'_>, persistent: &[Val], stage: u32, wanted: Node) -> bool {
    let Workload { graph, view, witness, .. } = *work;
    let folds = witness
        .folds
        .iter()
        .filter(|fold| fold.stage == stage)
        .flat_map(|fold| graph.node(fold.node).operands.iter().copied());
    let stores =
        witness.stores.iter().filter(|store| store.when == When::Stage(stage)).map(|store| store.val);
    let mut stack: Vec<Val> = folds.chain(stores).collect();
    let mut seen: FxHashSet<Val> = FxHashSet::default();
    while let Some(val) = stack.pop() {
        let at_hand = view.is_input(val)
            || graph.op(val).is_fold()
            || (persistent.contains(&val) && witness.stage_of(val.node).is_some_and(|own| own < stage));
        if at_hand || !seen.insert(val) {
            continue;
        }
        if val.node == wanted {
            return true;
        }
        stack.extend(graph.operands(val).iter().copied());
    }
    false
}

/// What scratch holds of a persistent value if such values are narrow: the input itself for a widened input.
pub fn narrow_value(graph: &Graph, view: &Fusion, val: Val) -> Val {
    let widens = |operand: &Val| {
        let is_wide = graph.dtype(*operand).compute() == graph.dtype(val);
        is_wide && matches!(graph.op(val), TensorOp::Cast(_)) && view.is_input(*operand)
    };
    graph.operands(val).first().copied().filter(widens).unwrap_or(val)
}
