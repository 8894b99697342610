//! Moves expansions towards the outputs: what is computed of repeated elements is computed once and repeated then.
//!
//! An op on operands that all repeat along an axis repeats along it too, so an output of it keeps stride 0 there, as
//! nvFuser's outputs do, and less is written. Tensors filled with a scalar count as written in full, as nvFuser's do.
//! Random words are computed of the number of their element, which repeats along no axis, so draws stay apart.

use ir::graph::{Form, Fusion, Graph, Node, Val, ValMap, rewrite};
use ir::index::Facts;

/// The pass.
pub fn sink_expansions(graph: &mut Graph, fusion: &Fusion) -> (Fusion, ValMap) {
    rewrite(graph, fusion, sunk)
}

/// A node's results as expansions of what the node makes of its operands before they were expanded, if those are smaller.
fn sunk(graph: &mut Graph, facts: &mut Facts, node: Node, operands: &[Val]) -> Option<Vec<Val>> {
    let small = smaller_operands(graph, facts, node, operands)?;
    let form = graph.node(node).form.clone();
    let made = graph.add(form, &small, facts).expect("what takes the expanded takes what is expanded");
    let pairs: Vec<(Val, Val)> = graph.results(made).zip(graph.results(node)).collect();
    if pairs.iter().all(|&(small, whole)| is_as_large(graph, facts, small, whole)) {
        return None;
    }
    let expanded = |(small, whole)| expanded(graph, facts, small, whole);
    Some(pairs.into_iter().map(expanded).collect())
}

/// What a node's operands were before they were expanded, if some were and the node may be made of those instead: along
/// axes that it folds all elements count.
fn smaller_operands(graph: &Graph, facts: &Facts, node: Node, operands: &[Val]) -> Option<Vec<Val>> {
    let folded = folded_axes(graph, node)?;
    let small: Vec<Val> = operands.iter().map(|&val| before_expansion(graph, val)).collect();
    let folds_all = |(&small, &whole): (&Val, &Val)| {
        let size = |val: Val, axis: u8| &graph.shape(val)[usize::from(axis)];
        folded.iter().all(|&axis| facts.prove_eq(size(small, axis), size(whole, axis)))
    };
    if small == operands || !small.iter().zip(operands).all(folds_all) {
        return None;
    }
    // Folds want operands of one shape, so those that are no smaller stand in the way.
    let is_fold = matches!(graph.node(node).form, Form::Fold { .. });
    let fit = !is_fold || small.iter().all(|&val| is_as_large(graph, facts, val, small[0]));
    fit.then_some(small)
}

/// Whether two values of one rank are known to have the same sizes, whatever their names.
fn is_as_large(graph: &Graph, facts: &Facts, one: Val, other: Val) -> bool {
    graph.shape(one).iter().zip(graph.shape(other)).all(|(one, other)| facts.prove_eq(one, other))
}

/// The axes that a node folds, none for most; `None` if expansions cannot move below the node.
fn folded_axes(graph: &Graph, node: Node) -> Option<&[u8]> {
    // Kernels put complex numbers together where they are stored, so at the outputs.
    if graph.results(node).any(|val| graph.dtype(val).is_complex()) {
        return None;
    }
    match &graph.node(node).form {
        Form::Map(_) | Form::Cast(_) | Form::Permute(_) | Form::Broadcast(_) | Form::Squeeze(_) => Some(&[]),
        Form::Fold { axes, .. } => Some(axes),
        _ => None,
    }
}

/// A value before it was expanded, unless it is a scalar that fills a tensor.
fn before_expansion(graph: &Graph, mut val: Val) -> Val {
    while matches!(graph.form(val), Form::Expand(_)) && !is_filled(graph, val) {
        val = graph.operands(val)[0];
    }
    val
}

/// Whether all elements are one scalar.
fn is_filled(graph: &Graph, mut val: Val) -> bool {
    while let Form::Broadcast(_) | Form::Expand(_) = graph.form(val) {
        val = graph.operands(val)[0];
    }
    graph.shape(val).is_empty()
}

/// A value repeated to the shape of another.
fn expanded(graph: &mut Graph, facts: &mut Facts, small: Val, whole: Val) -> Val {
    if is_as_large(graph, facts, small, whole) {
        return small;
    }
    let sizes = graph.shape(whole).clone();
    graph.add(Form::Expand(sizes), &[small], facts).expect("its axes have these sizes or 1").into()
}
