//! A node of the graph: its tensor op, its operands and the types of its results.
//!
//! Tensor ops are a closed set. Each has a shape rule in `shape.rs`, a meaning in `evaluate/`, a line in `dump.rs`. Scalars
//! are values of rank 0, not a separate kind of value.

use std::fmt;

use cranelift_entity::entity_impl;
use index::Expr;
use ops::{DType, Monoid, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::external::ExternalOp;

/// A node of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(u32);
entity_impl!(Node, "n");

/// A value: one result of one node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val {
    /// The node that defines it.
    pub node: Node,
    /// Which of its results, from 0.
    pub result: u8,
}

impl From<Node> for Val {
    fn from(node: Node) -> Val {
        Val { node, result: 0 }
    }
}

impl fmt::Display for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.result {
            0 => write!(f, "{}", self.node),
            r => write!(f, "{}.{r}", self.node),
        }
    }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Sizes of the axes, outermost first. Rank 0 is a scalar.
pub type Shape = SmallVec<[Expr; 4]>;

/// A list of axis numbers.
pub type Axes = SmallVec<[u8; 6]>;

/// Element type and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    pub dtype: DType,
    pub shape: Shape,
}

impl Type {
    /// A type from its parts.
    pub fn new(dtype: DType, shape: impl IntoIterator<Item = Expr>) -> Type {
        Type { dtype, shape: shape.into_iter().collect() }
    }

    /// The type of a scalar.
    pub fn scalar(dtype: DType) -> Type {
        Type { dtype, shape: Shape::new() }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn numel(&self) -> Expr {
        self.shape.iter().fold(Expr::one(), |n, size| n * size.clone())
    }

    /// Number of bytes of a dense tensor of this type.
    pub fn bytes(&self) -> Expr {
        self.numel() * Expr::constant(self.dtype.size() as i64)
    }
}

/// The declared layout of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct InputLayout {
    /// Its axes from the outermost in memory to the innermost; empty: row-major.
    pub order: Axes,
    /// The axes along which all indices are one element, though their size is not 1.
    pub expanded: Axes,
}

/// What a node does with its operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TensorOp {
    /// The argument with this number. Nominal: two inputs of one type stay distinct.
    Input {
        /// Position among the fusion's arguments.
        ordinal: u32,
        ty: Type,
        /// Its declared layout. Arguments with another layout are allowed too.
        layout: InputLayout,
    },
    /// A scalar constant.
    Constant(Scalar),
    /// A size as a scalar value of dtype i64.
    Size(Expr),
    /// A primitive, element by element. Operands have rank 0, or the rank of the result with each axis of the
    /// result's size or of size 1.
    Map(ScalarOp),
    /// Conversion to another dtype, rounding to nearest even.
    Cast(DType),
    /// New axes of size 1: one flag per axis of the result, true where the axis is new.
    Broadcast(SmallVec<[bool; 6]>),
    /// Axes of size 1 repeated to these sizes.
    Expand(Shape),
    /// These axes, of size 1, dropped.
    Squeeze(Axes),
    /// The same elements in row-major order under another shape.
    Reshape(Shape),
    /// Result axis `i` is operand axis `order[i]`.
    Permute(Axes),
    /// A box of the operand: from these starts, of these sizes.
    Slice {
        /// First index per axis.
        starts: Shape,
        /// Size per axis.
        sizes: Shape,
    },
    /// Elements added around each axis, or dropped where a width is negative. Operands: tensor, fill (scalar).
    Pad {
        /// Widths before index 0, per axis.
        before: Shape,
        /// Widths after the last index, per axis.
        after: Shape,
    },
    /// Operands one after the other along an axis.
    Cat(u8),
    /// These axes reduced with a monoid. One operand per operand of the monoid, all of one shape; one result per state.
    Fold {
        monoid: Monoid,
        /// The axes that are reduced, ascending, at least one.
        axes: Axes,
    },
    /// Along this axis, each element combined with all before it. Operands and results as in a fold, but of full shape; the
    /// value at an index is the fold of the elements up to and including it, combined in order.
    Scan { monoid: Monoid, axis: u8 },
    /// Along this axis the elements of the source at the indices. Operands: source and index, of one rank; on the other
    /// axes both have the size of the result or 1. An index out of range is an error of the call.
    Gather(u8),
    /// `start + step * k` for `k` in `0..length`. Operands: start, step (scalars of the result's dtype).
    Iota(Expr),
    /// An external op.
    External(ExternalOp),
}

impl TensorOp {
    /// Whether it only makes a view of its operand, whatever the strides of that.
    pub fn is_view(&self) -> bool {
        matches!(
            self,
            TensorOp::Permute(_) | TensorOp::Broadcast(_) | TensorOp::Expand(_) | TensorOp::Squeeze(_)
        )
    }

    /// Whether it is a fold.
    pub fn is_fold(&self) -> bool {
        matches!(self, TensorOp::Fold { .. })
    }

    /// Whether it needs all elements of its operands, whichever of its result are needed.
    pub fn needs_whole_operands(&self) -> bool {
        matches!(self, TensorOp::Fold { .. } | TensorOp::Scan { .. } | TensorOp::External(_))
    }

    /// Whether it asks that its result is in memory.
    pub fn is_boundary(&self) -> bool {
        matches!(self, TensorOp::Map(ScalarOp::SegmentSet))
    }
}

/// A node as stored.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeData {
    pub op: TensorOp,
    /// Its operands.
    pub operands: SmallVec<[Val; 3]>,
    /// The types of its results.
    pub results: SmallVec<[Type; 1]>,
}
