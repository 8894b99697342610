//! Finds extremes of rows and their positions in two passes, if the second pass finds the row in a CPU's L1: the extreme,
//! then the smallest number of the elements that equal it. Both are folds of one state, whereas a fold of extreme and number
//! takes a dozen operations per element, half of them on 64-bit numbers, and as many per lane.
//!
//! NaN is an extreme, and equals nothing: if it is the extreme, elements that do not equal themselves count. Leaves alone
//! folds along other axes than the last ones, long rows, and rows of so few elements that folds over them are unrolled.

use index::Facts;
use ir::graph::{Axes, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{DType, Monoid, Scalar, ScalarOp};
use target::limits::MAX_UNROLLED;

use super::row_elements;
use crate::passes::node_builder::NodeBuilder;

/// The pass, for rows of `most_bytes` at most.
pub fn two_pass_argmax(graph: &mut Graph, fusion: &Fusion, most_bytes: u64) -> (Fusion, ValMap) {
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let (extreme, axes) = short_rows(graph, fusion.facts(), node, most_bytes)?;
        let nodes = NodeBuilder { graph, facts };
        Some(Search { nodes, axes }.of(extreme, operands[0], operands[1]))
    })
}

/// The extreme that a node finds with its number, and along which axes, if these are short rows.
fn short_rows(graph: &Graph, facts: &Facts, node: Node, most_bytes: u64) -> Option<(Monoid, Axes)> {
    let TensorOp::Fold { monoid, axes } = &graph.node(node).op else { return None };
    let extreme = match monoid {
        Monoid::Argmax => Monoid::Max,
        Monoid::Argmin => Monoid::Min,
        _ => return None,
    };
    let operand = graph.node(node).operands[0];
    let (_, most) = row_elements(graph, facts, operand, axes)?;
    let bytes = most.checked_mul(graph.dtype(operand).size() as u64);
    let is_short = most > MAX_UNROLLED as u64 && bytes.is_some_and(|bytes| bytes <= most_bytes);
    is_short.then(|| (extreme, axes.clone()))
}

/// The two passes under construction.
struct Search<'g> {
    nodes: NodeBuilder<'g>,
    axes: Axes,
}

impl Search<'_> {
    /// The extreme of each row, which has an element, and the smallest number of the elements equal to it.
    fn of(&mut self, extreme: Monoid, x: Val, numbers: Val) -> Vec<Val> {
        let (given, counted) = (self.nodes.graph.dtype(numbers), self.counted(numbers));
        let Search { nodes, axes } = self;
        let found = nodes.fold(extreme, axes, x);
        let kept = nodes.keepdim(found, axes, x);
        let equals = nodes.map(ScalarOp::Eq, &[x, kept]);
        let is_it = if nodes.graph.dtype(x).is_float() {
            let is_nan = nodes.map(ScalarOp::Ne, &[x, x]);
            nodes.map(ScalarOp::LogicalOr, &[equals, is_nan])
        } else {
            equals
        };
        let numbers = nodes.cast(numbers, counted);
        let none = nodes.constant(Scalar::highest(counted));
        let candidates = nodes.map(ScalarOp::Where, &[is_it, numbers, none]);
        let first = nodes.fold(Monoid::Min, axes, candidates);
        vec![found, nodes.cast(first, given)]
    }

    /// The dtype in which numbers are compared: one of 32 bits for positions along an axis, as rows are short.
    fn counted(&self, numbers: Val) -> DType {
        let mut val = numbers;
        while let TensorOp::Broadcast(_) | TensorOp::Expand(_) | TensorOp::Cast(_) = self.nodes.graph.op(val)
        {
            val = self.nodes.graph.operands(val)[0];
        }
        let constant = |val: Val| match self.nodes.graph.op(val) {
            TensorOp::Constant(scalar) => Some(scalar.as_i64()),
            _ => None,
        };
        let begins = self.nodes.graph.operands(val).iter().map(|&operand| constant(operand));
        let are_positions =
            matches!(self.nodes.graph.op(val), TensorOp::Iota(_)) && begins.eq([Some(0), Some(1)]);
        if are_positions { DType::I32 } else { self.nodes.graph.dtype(numbers) }
    }
}
