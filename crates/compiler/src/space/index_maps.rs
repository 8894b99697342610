//! Which axes of its operands a node reads at another index than that of its result.

use ir::graph::{Fusion, Graph, Node, TensorOp};
use smallvec::SmallVec;

use super::axes::kept_axes;
use super::sizes::Sizes;

/// Axes of a value, ascending, that are read elsewhere than where the loops stand.
pub type Moved = SmallVec<[u8; 4]>;

/// The index maps of a group.
pub struct IndexMaps<'a> {
    graph: &'a Graph,
    sizes: Sizes<'a>,
}

impl<'a> IndexMaps<'a> {
    /// Those of this group.
    pub fn of(graph: &'a Graph, view: &'a Fusion) -> IndexMaps<'a> {
        IndexMaps { graph, sizes: Sizes::new(view.facts()) }
    }

    /// The axes of operand `k` of a node that are read elsewhere than where the loops stand, if those of the result are.
    pub fn moved(&mut self, node: Node, k: usize, result: &[u8]) -> Moved {
        let data = self.graph.node(node);
        let operand = data.operands[k];
        let kept = kept_axes(self.graph, &data.op, k, operand, node.into(), &mut self.sizes);
        let stands = |axis| kept.iter().any(|&(from, to)| from == axis && !result.contains(&to));
        let shape = self.graph.shape(operand);
        let axes = 0..shape.len() as u8;
        axes.filter(|&axis| !stands(axis) && !is_at_zero(&data.op, axis, shape[axis as usize].is_one()))
            .collect()
    }
}

/// Whether an op reads an axis of an operand at index 0, wherever its result is wanted.
fn is_at_zero(op: &TensorOp, axis: u8, is_one: bool) -> bool {
    match op {
        TensorOp::Map(_) | TensorOp::Expand(_) | TensorOp::Cat(_) | TensorOp::Reshape(_) => is_one,
        TensorOp::Squeeze(axes) => axes.contains(&axis),
        _ => false,
    }
}
