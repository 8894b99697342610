//! The order of axes in memory that an output takes from an input, as nvFuser's inference of allocation orders finds it.
//!
//! The input to follow is the one with most axes among those that the output depends on; axes of size 1 and expanded ones do
//! not count. Where several have as many, they must have the same layout. From its innermost axis in memory outward, the
//! axes that the output has too are innermost in the output, up to the first that it lacks (other than one that the output
//! itself folds); all others are outside of them in their own order. An input that is declared row-major is not followed:
//! values computed from it have their natural layout. Only declarations count, never the arrays of a call.

use ir::graph::{Axes, Fusion, Graph, Output, TensorOp, Val};
use rustc_hash::FxHashSet;
use space::{Atoms, Space};

/// The order of an output in memory, outermost axis first, if an input gives it one.
pub(super) fn inferred_order(graph: &Graph, fusion: &Fusion, output: &Output) -> Option<Axes> {
    // Results of external ops are row-major.
    if fusion.is_input(output.val) || matches!(graph.op(output.val), TensorOp::External(_)) {
        return None;
    }
    let inputs = fusion.inputs().to_vec();
    let alone = Fusion::new(graph, inputs, vec![output.clone()], fusion.facts().clone()).ok()?;
    let space = Space::of(graph, &alone).ok()?;
    let followed = followed(graph, &alone, &space)?;
    if !is_permuted(graph, followed) {
        return None;
    }
    let own = space.axes_of(output.val);
    let folded = folded(graph, &space, output.val);
    let mut inner = Axes::new();
    for axis in in_memory(graph, followed).into_iter().rev() {
        let viewed = viewed_as(graph, &alone, &space, followed, axis);
        // A value that is used beside its own transpose has more than one axis that maps to this one.
        let is_next = |place: &usize| !inner.contains(&(*place as u8)) && viewed.contains(&own[*place]);
        match (0..own.len()).find(is_next) {
            Some(found) => inner.push(found as u8),
            None if folded.iter().any(|atoms| viewed.contains(atoms)) => {}
            None => break,
        }
    }
    if inner.is_empty() {
        return None;
    }
    let outer = (0..own.len() as u8).filter(|axis| !inner.contains(axis));
    Some(outer.chain(inner.iter().rev().copied()).collect())
}

/// The values that depend on an input that is declared not to be row-major: only these take an order.
pub(super) fn after_permuted(graph: &Graph, fusion: &Fusion) -> FxHashSet<Val> {
    let inputs = fusion.inputs().iter().copied();
    let mut after: FxHashSet<Val> = inputs.filter(|&input| is_permuted(graph, input)).collect();
    for &node in fusion.order() {
        if graph.node(node).operands.iter().any(|operand| after.contains(operand)) {
            after.extend(graph.results(node));
        }
    }
    after
}

/// The axes that an output folds, if it is a fold.
fn folded(graph: &Graph, space: &Space, output: Val) -> Vec<Atoms> {
    let TensorOp::Fold { axes, .. } = graph.op(output) else { return Vec::new() };
    let all = space.axes_of_operand(output.node, 0);
    axes.iter().map(|&axis| all[usize::from(axis)].clone()).collect()
}

/// The input that an output follows, given the output's own view.
fn followed(graph: &Graph, view: &Fusion, space: &Space) -> Option<Val> {
    let mut best: Option<Val> = None;
    let mut most = 0;
    for &input in view.inputs().iter().filter(|&&input| !view.uses(input).is_empty()) {
        let count = in_memory(graph, input).len();
        if count > most {
            (best, most) = (Some(input), count);
        } else if count == most {
            best = best.filter(|&best| have_one_layout(graph, view, space, best, input));
        }
    }
    best
}

/// Whether two inputs have the same axes, in the same order in memory.
fn have_one_layout(graph: &Graph, view: &Fusion, space: &Space, one: Val, other: Val) -> bool {
    let pairs = in_memory(graph, one).into_iter().zip(in_memory(graph, other));
    let mut same = pairs.map(|(axis, with)| {
        let viewed = viewed_as(graph, view, space, other, with);
        viewed_as(graph, view, space, one, axis).iter().any(|atoms| viewed.contains(atoms))
    });
    same.all(|same| same)
}

/// The axes of the space that an axis of an input maps to, wherever the input is used.
fn viewed_as(graph: &Graph, view: &Fusion, space: &Space, input: Val, axis: u8) -> Vec<Atoms> {
    let mut viewed = Vec::new();
    for &node in view.uses(input) {
        for (k, _) in graph.node(node).operands.iter().enumerate().filter(|(_, operand)| **operand == input) {
            viewed.push(space.axes_of_operand(node, k)[usize::from(axis)].clone());
        }
    }
    viewed.retain(|atoms| !atoms.is_empty());
    viewed
}

/// The axes of an input from the outermost in memory to the innermost, as declared, without those of size 1 and those
/// declared expanded.
fn in_memory(graph: &Graph, input: Val) -> Axes {
    let shape = graph.shape(input);
    let TensorOp::Input { layout, .. } = graph.op(input) else { return Axes::new() };
    let row_major: Axes = (0..shape.len() as u8).collect();
    let order = if layout.order.is_empty() { &row_major } else { &layout.order };
    let is_real = |axis: &u8| !shape[usize::from(*axis)].is_one() && !layout.expanded.contains(axis);
    order.iter().copied().filter(is_real).collect()
}

/// Whether an input is declared not to be row-major.
fn is_permuted(graph: &Graph, input: Val) -> bool {
    !in_memory(graph, input).is_sorted()
}
