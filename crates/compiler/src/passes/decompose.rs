//! Decomposes products of matrices that a kernel is to compute: a product of depth K becomes the sum of K products of a
//! column and a row, so that the ops before and after are in the same kernel. `products` decides which ones; all others stay
//! external ops.
//!
//! A matrix whose rows are not contiguous because it is transposed, as the weights of a linear layer, is copied first:
//! lanes run along its rows. Sums begin with zero, run in order, in the compute dtype, and are rounded once, as a library's
//! are.

use index::{Expr, Facts};
use ir::graph::{ExternalOp, Fusion, Graph, Node, Shape, TensorOp, Val, ValMap, rewrite};
use ops::{DType, Scalar, ScalarOp};
use rustc_hash::FxHashSet;

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
        let sum = Products { graph, facts }.sum(operands[0], operands[1], depth);
        Some(vec![Products { graph, facts }.cast(sum, dtype)])
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

/// A graph under construction.
struct Products<'g> {
    graph: &'g mut Graph,
    facts: &'g mut Facts,
}

impl Products<'_> {
    /// The product of two batches of matrices, not rounded yet.
    fn sum(&mut self, a: Val, b: Val, depth: i64) -> Val {
        let b = match is_transposed(self.graph, b) {
            true => self.add(TensorOp::Map(ScalarOp::SegmentSet), &[b]),
            false => b,
        };
        let (column, row) = (self.graph.shape(a).len() - 1, self.graph.shape(b).len() - 2);
        let compute = self.graph.dtype(a).compute();
        let [a, b] = [a, b].map(|val| self.cast(val, compute));
        let zero = self.add(TensorOp::Constant(Scalar::zero(compute)), &[]);
        (0..depth).fold(zero, |sum, k| {
            let factors = [self.slice(a, column, k), self.slice(b, row, k)];
            let product = self.add(TensorOp::Map(ScalarOp::Mul), &factors);
            self.add(TensorOp::Map(ScalarOp::Add), &[sum, product])
        })
    }

    /// One index of an axis, which stays with size 1.
    fn slice(&mut self, val: Val, axis: usize, index: i64) -> Val {
        let mut sizes: Shape = self.graph.shape(val).iter().cloned().collect();
        let mut starts: Shape = sizes.iter().map(|_| Expr::zero()).collect();
        if sizes[axis].is_one() {
            return val;
        }
        (starts[axis], sizes[axis]) = (Expr::constant(index), Expr::one());
        self.add(TensorOp::Slice { starts, sizes }, &[val])
    }

    fn cast(&mut self, val: Val, dtype: DType) -> Val {
        if self.graph.dtype(val) == dtype { val } else { self.add(TensorOp::Cast(dtype), &[val]) }
    }

    fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, self.facts).expect("parts of a product fit together").into()
    }
}
