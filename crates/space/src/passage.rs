//! The index at which a node reads an operand, relative to that of its result.

use ir::graph::{Graph, Node, TensorOp, Val};
use rustc_hash::FxHashMap;

/// An op that reads its operand at another index, by number: equal steps map an index to the same other one.
pub type Step = u32;

/// The index at which a node reads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// At that of the result.
    Along,
    /// At the only index of a scalar.
    Scalar,
    /// At another one, for any index of the result.
    Moved(Step),
    /// At another one, except at the indices of the loops: these walk the operand's axes too.
    Renamed(Step),
}

/// Whether a node reads operand `k` at other indices than those of its result, in every group. The fill value of a pad is a
/// scalar.
pub fn is_index_map(graph: &Graph, node: Node, k: usize) -> bool {
    let data = graph.node(node);
    match data.op {
        TensorOp::Slice { .. } => true,
        TensorOp::Pad { .. } | TensorOp::Gather(_) => k == 0,
        TensorOp::Cat(axis) => !graph.shape(data.operands[k])[usize::from(axis)].is_one(),
        _ => false,
    }
}

/// The steps of a fusion.
#[derive(Debug, Default)]
pub struct Steps(FxHashMap<(TensorOp, usize, Option<Val>), Step>);

impl Steps {
    /// How a node reads operand `k`, in any group. Whether a reshape moves it depends on the group.
    pub fn passage(&mut self, graph: &Graph, node: Node, k: usize) -> Passage {
        let data = graph.node(node);
        let shape = graph.shape(data.operands[k]);
        let passage = match &data.op {
            _ if shape.is_empty() => return Passage::Scalar,
            _ if is_index_map(graph, node, k) => Passage::Moved,
            TensorOp::Reshape(_)
            | TensorOp::Permute(_)
            | TensorOp::Broadcast(_)
            | TensorOp::Expand(_)
            | TensorOp::Squeeze(_) => Passage::Renamed,
            _ => return Passage::Along,
        };
        let index = matches!(data.op, TensorOp::Gather(_)).then(|| data.operands[1]);
        let place = if matches!(data.op, TensorOp::Cat(_)) { k } else { 0 };
        let next = self.0.len() as Step * 2 + Step::from(matches!(data.op, TensorOp::Slice { .. }));
        passage(*self.0.entry((data.op.clone(), place, index)).or_insert(next))
    }
}

/// Whether a step is a slice. Slices add up in any order.
pub fn is_slice(step: Step) -> bool {
    step % 2 == 1
}
