//! The axes of operands that a node reads at another index than that of its result.

use ir::graph::{Graph, Node, TensorOp};
use smallvec::SmallVec;

use super::node_axes::AxisTable;

/// Axes of a value, ascending, that are read at other indices than the loops'.
pub type Moved = SmallVec<[u8; 4]>;

impl AxisTable {
    /// The axes of operand `k` of a node that are read at other indices than the loops', if those of the result are.
    pub fn moved(&mut self, graph: &Graph, node: Node, k: usize, result: &[u8]) -> Moved {
        let data = graph.node(node);
        let known = self.node(graph, node);
        let stands =
            |axis| known.operands[k].kept.iter().any(|&(from, to)| from == axis && !result.contains(&to));
        let shape = graph.shape(data.operands[k]);
        let axes = 0..shape.len() as u8;
        axes.filter(|&axis| !stands(axis) && !is_at_zero(&data.op, axis, shape[axis as usize].is_one()))
            .collect()
    }
}

/// Whether an op reads an axis of an operand at index 0, at any index of its result.
fn is_at_zero(op: &TensorOp, axis: u8, is_one: bool) -> bool {
    match op {
        TensorOp::Map(_) | TensorOp::Expand(_) | TensorOp::Cat(_) | TensorOp::Reshape(_) => is_one,
        TensorOp::Squeeze(axes) => axes.contains(&axis),
        _ => false,
    }
}
