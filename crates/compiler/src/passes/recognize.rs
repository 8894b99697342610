//! Recognizes folds by lambdas that equal built-in ones: those of moments of single elements (`ops::moments`), each with a
//! squared deviation of zero and a count of one, become `welford`, which takes fewer instructions and is more accurate.
//!
//! Leaves alone scans, elements that have weights or are moments of several, and lambdas that are not exactly these moments.

use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{MomentStates, Monoid, moments};

use super::PassContext;
use super::approximate::constant;

/// The pass.
pub(super) fn recognize(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    rewrite(graph, context.fusion, |graph, facts, node, operands| {
        let (states, axes) = moments_of_elements(graph, node)?;
        let [own, counts] = [states.mean, states.count].map(|state| graph.dtype(operands[state]));
        let mut fold = |monoid: Monoid, operand: Val| {
            let op = TensorOp::Fold { monoid, axes: axes.clone() };
            graph.add(op, &[operand], facts).expect("means are floats, and counts can be added")
        };
        let welford = fold(Monoid::Welford, operands[states.mean]);
        let mut results = vec![Val::from(welford); 3];
        results[states.squares] = Val { node: welford, result: 1 };
        // Counts of another dtype than the elements' are exact even where counts of the elements' dtype may not be.
        results[states.count] = match own == counts {
            true => Val { node: welford, result: 2 },
            false => fold(Monoid::Sum, operands[states.count]).into(),
        };
        Some(results)
    })
}

/// The built-in fold that equals a fold by a lambda, if there is one.
pub fn built_in(graph: &Graph, node: Node) -> Option<Monoid> {
    moments_of_elements(graph, node).map(|_| Monoid::Welford)
}

/// The states of a fold by a lambda of moments over single elements, and its axes.
fn moments_of_elements(graph: &Graph, node: Node) -> Option<(MomentStates, Axes)> {
    let TensorOp::Fold { monoid: Monoid::Lambda(lambda), axes } = &graph.node(node).op else { return None };
    let states = moments(lambda)?;
    let is = |state: usize, number: f64| {
        let constant = constant(graph, graph.node(node).operands[state]);
        constant.is_some_and(|constant| constant.as_f64() == number)
    };
    (is(states.squares, 0.0) && is(states.count, 1.0)).then(|| (states, axes.clone()))
}
