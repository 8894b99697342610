//! Adds the nodes that a pass makes in place of others, by kind of op. Shapes and dtypes are the pass's concern: nodes that do
//! not fit are a mistake in it.

use index::Facts;
use ir::graph::{Axes, Graph, TensorOp, Val};
use ops::{DType, Monoid, Scalar, ScalarOp};

/// A graph under construction.
pub(super) struct NodeBuilder<'g> {
    pub graph: &'g mut Graph,
    pub facts: &'g mut Facts,
}

impl NodeBuilder<'_> {
    /// The first result of an op.
    pub fn add(&mut self, op: TensorOp, operands: &[Val]) -> Val {
        self.graph.add(op, operands, self.facts).expect("a pass makes nodes that fit").into()
    }

    /// An elementwise op.
    pub fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Val {
        self.add(TensorOp::Map(scalar_op), operands)
    }

    /// A value in a dtype.
    pub fn cast(&mut self, val: Val, dtype: DType) -> Val {
        if self.graph.dtype(val) == dtype { val } else { self.add(TensorOp::Cast(dtype), &[val]) }
    }

    /// A constant of the dtype of a scalar.
    pub fn constant(&mut self, scalar: Scalar) -> Val {
        self.add(TensorOp::Constant(scalar), &[])
    }

    /// A fold of one state along axes, which are dropped.
    pub fn fold(&mut self, monoid: Monoid, axes: &Axes, operand: Val) -> Val {
        self.add(TensorOp::Fold { monoid, axes: axes.clone() }, &[operand])
    }

    /// The result of a fold of `operand` with the dropped axes as axes of size 1.
    pub fn keepdim(&mut self, folded: Val, axes: &Axes, operand: Val) -> Val {
        let rank = self.graph.shape(operand).len();
        let is_new = (0..rank).map(|axis| axes.contains(&(axis as u8))).collect();
        self.add(TensorOp::Broadcast(is_new), &[folded])
    }
}
