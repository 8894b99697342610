//! Distributes a fold by a lambda over its states, as loop distribution does, if one is a maximum and the others are sums
//! that are rescaled by it: it becomes a fold for the maximum, and for each other state a sum of elements that are rescaled
//! once.
//!
//! `fold [x, t]` becomes `m = max(x)` and `sum(t * exp(x - m))`, which needs one exponential for an element, as the lambda
//! does, and fewer other ops, but reads the elements twice. A lambda that does not multiply the sum of the larger maximum by
//! exp(0) gives a number for an infinite m, too: then elements equal to m are rescaled by 1. `distribution` decides whether
//! that pays. Leaves scans alone: their maxima differ from place to place.

use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{DType, Infinite, Lambda, Monoid, Rescaled, Scalar, ScalarOp, rescaled};

use super::node_builder::NodeBuilder;

/// The folds that can be distributed, in order.
pub fn distributable(graph: &Graph, fusion: &Fusion) -> Vec<Node> {
    fusion.order().iter().copied().filter(|&node| rescaled_sums(graph, node).is_some()).collect()
}

/// A fold by a lambda of rescaled sums.
fn rescaled_sums(graph: &Graph, node: Node) -> Option<(&Lambda, &Axes, Rescaled)> {
    let TensorOp::Fold { monoid: Monoid::Lambda(lambda), axes } = &graph.node(node).op else { return None };
    let is_alike = lambda.identity().windows(2).all(|pair| pair[0].dtype() == pair[1].dtype());
    rescaled(lambda).filter(|_| is_alike).map(|rescaled| (lambda, axes, rescaled))
}

/// Distributes all such folds.
pub fn distribute(graph: &mut Graph, fusion: &Fusion) -> (Fusion, ValMap) {
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let (lambda, axes, Rescaled { maximum, infinite, .. }) = rescaled_sums(graph, node)?;
        let (init, axes) = (lambda.identity()[maximum], axes.clone());
        let mut states = States { nodes: NodeBuilder { graph, facts }, axes, dtype: init.dtype() };
        let (largest, scale) = states.scale(operands[maximum], init, infinite);
        let is_several =
            (infinite == Infinite::One).then(|| states.is_infinite_several_times(largest, scale));
        let state = |(state, &operand): (usize, &Val)| match state == maximum {
            true => largest,
            false => states.sum(operand, scale, is_several),
        };
        Some(operands.iter().enumerate().map(state).collect())
    })
}

/// The states of a fold under construction.
struct States<'g> {
    nodes: NodeBuilder<'g>,
    axes: Axes,
    dtype: DType,
}

impl States<'_> {
    /// The maximum, and the factor of each element: 1 where it is the maximum, even an infinite one, if there is to be no
    /// NaN.
    fn scale(&mut self, keys: Val, init: Scalar, infinite: Infinite) -> (Val, Val) {
        let of_elements = self.fold(Monoid::Max, keys);
        let init = self.nodes.constant(init);
        let largest = self.nodes.map(ScalarOp::Maximum, &[of_elements, init]);
        let subtrahend = self.nodes.keepdim(largest, &self.axes, keys);
        let difference = self.nodes.map(ScalarOp::Sub, &[keys, subtrahend]);
        let scale = self.nodes.map(ScalarOp::Exp, &[difference]);
        if infinite == Infinite::Nan {
            return (largest, scale);
        }
        let (is_largest, one) = (self.nodes.map(ScalarOp::Eq, &[keys, subtrahend]), self.number(1.0));
        (largest, self.nodes.map(ScalarOp::Where, &[is_largest, one, scale]))
    }

    /// Whether the maximum is infinite, and not the only one.
    fn is_infinite_several_times(&mut self, largest: Val, scale: Val) -> Val {
        let (infinity, one) = (self.number(f64::INFINITY), self.number(1.0));
        let is_infinite = self.nodes.map(ScalarOp::Eq, &[largest, infinity]);
        let count = self.fold(Monoid::Sum, scale);
        let are_several = self.nodes.map(ScalarOp::Ne, &[count, one]);
        self.nodes.map(ScalarOp::LogicalAnd, &[is_infinite, are_several])
    }

    /// The sum of the rescaled elements, or NaN.
    fn sum(&mut self, operand: Val, scale: Val, is_nan: Option<Val>) -> Val {
        let is_one =
            super::approximate::constant(self.nodes.graph, operand).is_some_and(|one| one.as_f64() == 1.0);
        let rescaled = if is_one { scale } else { self.nodes.map(ScalarOp::Mul, &[operand, scale]) };
        let sum = self.fold(Monoid::Sum, rescaled);
        let Some(is_nan) = is_nan else { return sum };
        let nan = self.number(f64::NAN);
        self.nodes.map(ScalarOp::Where, &[is_nan, nan, sum])
    }

    fn number(&mut self, value: f64) -> Val {
        self.nodes.constant(Scalar::from_f64(self.dtype, value))
    }

    fn fold(&mut self, monoid: Monoid, operand: Val) -> Val {
        self.nodes.fold(monoid, &self.axes, operand)
    }
}
