//! Distributes a fold by a lambda over its states, as loop distribution does, where one is a maximum and the others are sums
//! that are rescaled by it: a fold for the maximum, and a sum for each other state, of elements that are rescaled once.
//!
//! `fold [x, t]` becomes `m = max(x)` and `sum(t * exp(x - m))`, which needs one exponential for an element as the lambda does,
//! and less beside it, but reads the elements twice. Whether that pays is decided in `distribution`. Leaves scans alone, whose
//! maxima differ from place to place.

mod rescaled;

use index::Facts;
use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{Lambda, Monoid, Scalar, ScalarOp};

/// The folds that can be distributed, in order.
pub fn distributable(graph: &Graph, fusion: &Fusion) -> Vec<Node> {
    fusion.order().iter().copied().filter(|&node| rescaled_sums(graph, node).is_some()).collect()
}

/// A fold by a lambda of rescaled sums, and which of its states is the maximum.
fn rescaled_sums(graph: &Graph, node: Node) -> Option<(&Lambda, &Axes, usize)> {
    let TensorOp::Fold { monoid: Monoid::Lambda(lambda), axes } = &graph.node(node).op else { return None };
    rescaled::maximum_of(lambda).map(|maximum| (lambda, axes, maximum))
}

/// Distributes all such folds.
pub fn distribute(graph: &mut Graph, fusion: &Fusion) -> (Fusion, ValMap) {
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let (lambda, axes, maximum) = rescaled_sums(graph, node)?;
        let (init, axes) = (lambda.identity()[maximum], axes.clone());
        Some(States { graph, facts, axes }.folded(operands, maximum, init))
    })
}

/// The states of a fold in the making.
struct States<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
    axes: Axes,
}

impl States<'_> {
    fn folded(&mut self, operands: &[Val], maximum: usize, init: Scalar) -> Vec<Val> {
        let keys = operands[maximum];
        let of_elements = self.fold(Monoid::Max, keys);
        let init = self.add(TensorOp::Constant(init), &[]);
        let largest = self.map(ScalarOp::Maximum, &[of_elements, init]);
        let axis_is_new = (0..self.graph.shape(keys).len()).map(|axis| self.axes.contains(&(axis as u8)));
        let kept = TensorOp::Broadcast(axis_is_new.collect());
        let subtrahend = self.add(kept, &[largest]);
        let difference = self.map(ScalarOp::Sub, &[keys, subtrahend]);
        let scale = self.map(ScalarOp::Exp, &[difference]);
        let state = |(state, &operand): (usize, &Val)| match state == maximum {
            true => largest,
            false => self.rescaled_sum(operand, scale),
        };
        operands.iter().enumerate().map(state).collect()
    }

    /// The sum of what is rescaled.
    fn rescaled_sum(&mut self, operand: Val, scale: Val) -> Val {
        let is_one = super::approximate::constant(self.graph, operand).is_some_and(|one| one.as_f64() == 1.0);
        let rescaled = if is_one { scale } else { self.map(ScalarOp::Mul, &[operand, scale]) };
        self.fold(Monoid::Sum, rescaled)
    }

    fn fold(&mut self, monoid: Monoid, operand: Val) -> Val {
        self.add(TensorOp::Fold { monoid, axes: self.axes.clone() }, &[operand])
    }

    fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Val {
        self.add(TensorOp::Map(scalar_op), operands)
    }

    fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, self.facts).expect("states of one float dtype and shape").into()
    }
}
