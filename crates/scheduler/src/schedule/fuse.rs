//! Which neighbouring axes one loop can walk at no cost: those that are adjacent in all memory that the group accesses. A
//! bias along the inner axis alone keeps them apart.

use ir::graph::Node;

use super::workload::Workload;
use space::{Atoms, Axis};

/// Runs of at least two axes, each outermost first.
pub(super) fn fuse(work: &Workload<'_>) -> Vec<Vec<Axis>> {
    let mut runs: Vec<Vec<Axis>> = Vec::new();
    for &axis in &work.witness.order {
        match runs.last_mut() {
            Some(run) if joins(work, run[run.len() - 1], axis) => run.push(axis),
            _ => runs.push(vec![axis]),
        }
    }
    runs.retain(|run| run.len() > 1);
    runs
}

fn joins(work: &Workload<'_>, a: Axis, b: Axis) -> bool {
    let Workload { witness, memory, .. } = *work;
    let kept = |axes: &[Atoms]| next_to_each_other(axes, a, b);
    witness.alike(a, b)
        && witness.stores.iter().zip(memory.stores).all(|(store, layout)| {
            let touched = store.walks(a) || store.walks(b);
            kept(&store.axes) && (!touched || layout.in_memory(&store.axes).is_some_and(|axes| kept(&axes)))
        })
        && witness.folds.iter().all(|fold| kept(&fold.kept))
        && work.view.order().iter().all(|&node| node_joins(work, node, a, b))
}

fn node_joins(work: &Workload<'_>, node: Node, a: Axis, b: Axis) -> bool {
    let Workload { graph, view, witness, memory, .. } = *work;
    if witness.is_moved_along(graph, node, [a, b]) {
        return false;
    }
    let touches = |axes: &[Atoms]| axes.iter().flatten().any(|&axis| axis == a || axis == b);
    graph.node(node).operands.iter().enumerate().all(|(k, operand)| {
        let Some(input) = view.input_place(*operand) else { return true };
        let axes = witness.space.axes_of_operand(node, k);
        let lies = |axes: Vec<Atoms>| next_to_each_other(&axes, a, b);
        !touches(axes) || memory.inputs[input].in_memory(axes).is_some_and(lies)
    })
}

/// Whether two axes are adjacent, or both absent. Axes of size 1 between them do not count.
fn next_to_each_other(axes: &[Atoms], a: Axis, b: Axis) -> bool {
    let walked: Vec<Axis> = axes.iter().flatten().copied().collect();
    match (walked.iter().position(|&axis| axis == a), walked.iter().position(|&axis| axis == b)) {
        (None, None) => true,
        (Some(first), Some(second)) => first + 1 == second,
        _ => false,
    }
}
