//! Decomposes products of matrices that a kernel is to compute: a product of depth K becomes the sum of K products of a
//! column and a row, so that the ops before and after are in the same kernel. `products` decides which ones; all others stay
//! external ops.
//!
//! A matrix whose rows are not contiguous because it is transposed, as the weights of a linear layer, is copied first:
//! lanes run along its rows. Sums begin with zero, run in order, in the compute dtype, and are rounded once, as a library's
//! are.

use index::Expr;
use ir::graph::{ExternalOp, Fusion, Graph, Node, Shape, TensorOp, Val, ValMap, rewrite};
use ops::{Scalar, ScalarOp};
use rustc_hash::FxHashSet;

use super::node_builder::NodeBuilder;

/// The deepest product that is decomposed. With 16 terms, as in attention of small heads, a library took 0.96 of the time
/// and planning a sixth.
const MAX_DEPTH: i64 = 8;

/// The products that can be decomposed, in order.
pub fn shallow_products(graph: &Graph, fusion: &Fusion) -> Vec<Node> {
    fusion.order().iter().copied().filter(|&node| depth(graph, node).is_some()).collect()
}

/// The depth of a product of matrices that is shallow.
fn depth(graph: &Graph, node: Node) -> Option<i64> {
    let TensorOp::External(ExternalOp::Matmul(_)) = graph.node(node).op else { return None };
    let depth = graph.shape(graph.node(node).operands[0]).last()?.as_const()?;
    (1..=MAX_DEPTH).contains(&depth).then_some(depth)
}

/// Decomposes these products.
pub fn decompose(graph: &mut Graph, fusion: &Fusion, chosen: &FxHashSet<Node>) -> (Fusion, ValMap) {
    rewrite(graph, fusion, |graph, facts, node, operands| {
        let depth = depth(graph, node).filter(|_| chosen.contains(&node))?;
        let dtype = graph.dtype(node.into());
        let mut nodes = NodeBuilder { graph, facts };
        let sum = product(&mut nodes, operands[0], operands[1], depth);
        Some(vec![nodes.cast(sum, dtype)])
    })
}

/// Whether a value is permuted, axes of size 1 aside.
fn is_transposed(graph: &Graph, val: Val) -> bool {
    match graph.op(val) {
        TensorOp::Permute(_) => true,
        TensorOp::Broadcast(_) | TensorOp::Squeeze(_) => is_transposed(graph, graph.operands(val)[0]),
        _ => false,
    }
}

/// The product of two batches of matrices, not rounded yet.
fn product(nodes: &mut NodeBuilder<'_>, a: Val, b: Val, depth: i64) -> Val {
    let b = match is_transposed(nodes.graph, b) {
        true => nodes.map(ScalarOp::SegmentSet, &[b]),
        false => b,
    };
    let (column, row) = (nodes.graph.shape(a).len() - 1, nodes.graph.shape(b).len() - 2);
    let compute = nodes.graph.dtype(a).compute();
    let [a, b] = [a, b].map(|val| nodes.cast(val, compute));
    let zero = nodes.constant(Scalar::zero(compute));
    (0..depth).fold(zero, |sum, k| {
        let factors = [slice(nodes, a, column, k), slice(nodes, b, row, k)];
        let product = nodes.map(ScalarOp::Mul, &factors);
        nodes.map(ScalarOp::Add, &[sum, product])
    })
}

/// One index of an axis, which stays with size 1.
fn slice(nodes: &mut NodeBuilder<'_>, val: Val, axis: usize, index: i64) -> Val {
    let mut sizes: Shape = nodes.graph.shape(val).iter().cloned().collect();
    let mut starts: Shape = sizes.iter().map(|_| Expr::zero()).collect();
    if sizes[axis].is_one() {
        return val;
    }
    (starts[axis], sizes[axis]) = (Expr::constant(index), Expr::one());
    nodes.add(TensorOp::Slice { starts, sizes }, &[val])
}
