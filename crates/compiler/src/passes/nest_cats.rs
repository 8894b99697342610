//! Makes cats of very many tensors cats of cats: a kernel selects the operand at each element, so thousands of operands
//! would be endless code. A segmentation can cut between cats, not within one. Leaves shorter ones alone.

use index::Facts;
use ir::graph::{Fusion, Graph, TensorOp, Val, ValMap, rewrite};

use super::PassContext;

/// The most operands of a cat.
const MAX_OPERANDS: usize = 64;

/// The pass.
pub fn nest_cats(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    rewrite(graph, context.fusion, |graph, facts, node, operands| match graph.node(node).op {
        TensorOp::Cat(axis) if operands.len() > MAX_OPERANDS => {
            let mut parts = operands.to_vec();
            while parts.len() > 1 {
                parts = parts.chunks(MAX_OPERANDS).map(|parts| cat(graph, facts, axis, parts)).collect();
            }
            Some(parts)
        }
        _ => None,
    })
}

fn cat(graph: &mut Graph, facts: &mut Facts, axis: u8, parts: &[Val]) -> Val {
    match parts {
        [part] => *part,
        parts => graph.add(TensorOp::Cat(axis), parts, facts).expect("parts of a cat fit together").into(),
    }
}
