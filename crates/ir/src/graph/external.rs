//! Tensor ops that no kernel computes: sorts, scatters, products of matrices.
//!
//! Each has its shape rule here and its meaning in `evaluate/external`. No kernel computes them: such a node is alone in its
//! segment, except for view ops on its operands.

use std::fmt;

use index::{Expr, Facts};
use ops::DType;
use smallvec::{SmallVec, smallvec};

use super::node::Type;
use super::shape::{ShapeError, check_axes, expect_dtype, expect_rank, require_equal};

/// An op that is computed outside of kernels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExternalOp {
    /// The indices, as i64, that sort an axis. Equal elements stay in order; NaN is above all numbers.
    Argsort {
        axis: u8,
        /// Whether the largest comes first.
        descending: bool,
    },
    /// The first `k` elements of an axis in sorted order, and their indices.
    TopK {
        axis: u8,
        /// How many.
        k: Expr,
        /// Whether the largest comes first; otherwise the smallest does.
        largest: bool,
    },
    /// The first operand with elements of the third written at the indices along this axis in the second, in row-major
    /// order: of two at one place the later wins.
    Scatter(u8),
    /// Products of matrices, which are the last two axes; the axes before them agree or are of size 1. Accumulated in the
    /// compute dtype, rounded once, to this dtype: that of the operands, or their compute dtype.
    Matmul(DType),
    /// Products of the first operand's rows with the rows of a matrix, and a vector added to each: `a @ w.T + bias`. Accumulated and
    /// added in the compute dtype, rounded once, to this dtype, which is the operands'.
    Linear(DType),
    /// Products of groups of matrices, given the end of each group along the axis that they divide: the rows of the first
    /// operand (the second has a matrix for each group), the columns of the second (the first has one), or the summed axis
    /// (the result has one).
    GroupedMatmul,
}

impl ExternalOp {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            ExternalOp::Argsort { .. } => "argsort",
            ExternalOp::TopK { .. } => "topk",
            ExternalOp::Scatter(_) => "scatter",
            ExternalOp::Matmul(_) => "matmul",
            ExternalOp::Linear(_) => "linear",
            ExternalOp::GroupedMatmul => "grouped_mm",
        }
    }

    /// Whether it multiplies matrices.
    pub fn is_product(&self) -> bool {
        matches!(self, ExternalOp::Matmul(_) | ExternalOp::Linear(_) | ExternalOp::GroupedMatmul)
    }

    /// How many operands it takes.
    pub fn arity(&self) -> usize {
        match self {
            ExternalOp::Argsort { .. } | ExternalOp::TopK { .. } => 1,
            ExternalOp::Matmul(_) => 2,
            ExternalOp::Scatter(_) | ExternalOp::Linear(_) | ExternalOp::GroupedMatmul => 3,
        }
    }

    /// Types of the results on operands of these types; as many as it takes.
    ///
    /// # Errors
    /// What does not fit.
    pub fn infer(&self, operands: &[&Type], facts: &mut Facts) -> Result<SmallVec<[Type; 1]>, ShapeError> {
        match (self, operands) {
            (ExternalOp::Argsort { axis, .. }, [arg]) => {
                check_axes(&[*axis], arg.rank())?;
                Ok(smallvec![Type { dtype: DType::I64, shape: arg.shape.clone() }])
            }
            (ExternalOp::TopK { axis, k, .. }, [arg]) => {
                check_axes(&[*axis], arg.rank())?;
                let mut shape = arg.shape.clone();
                let size = std::mem::replace(&mut shape[*axis as usize], k.clone());
                fits(&Expr::zero(), k, *axis as usize, facts)?;
                fits(k, &size, *axis as usize, facts)?;
                let indices = Type { dtype: DType::I64, shape: shape.clone() };
                Ok(smallvec![Type { dtype: arg.dtype, shape }, indices])
            }
            (ExternalOp::Scatter(axis), [arg, index, src]) => scatter(*axis, arg, index, src, facts),
            (ExternalOp::Matmul(dtype), [a, b]) => matmul(*dtype, a, b, facts),
            (ExternalOp::Linear(dtype), [a, weight, bias]) => linear(*dtype, a, weight, bias, facts),
            (ExternalOp::GroupedMatmul, [a, b, offsets]) => grouped_matmul(a, b, offsets, facts),
            _ => unreachable!("as many operands as it takes, counted before"),
        }
    }
}

fn expect_index(ty: &Type) -> Result<(), ShapeError> {
    if ty.dtype.holds_sizes() { Ok(()) } else { expect_dtype(DType::I64, ty.dtype) }
}

/// Records that one size is at most another, unless it is known to be more.
fn fits(small: &Expr, large: &Expr, axis: usize, facts: &mut Facts) -> Result<(), ShapeError> {
    let mismatch = || ShapeError::Mismatch { axis, left: large.clone(), right: small.clone() };
    facts.assume_le(small, large).map_err(|_| mismatch())
}

fn equal(left: &Expr, right: &Expr, axis: usize, facts: &mut Facts) -> Result<(), ShapeError> {
    let mismatch = || ShapeError::Mismatch { axis, left: left.clone(), right: right.clone() };
    require_equal(left, right, facts).map_err(|()| mismatch())
}

/// Sizes of the indices are at most those of the source and, except along the axis, of the first operand.
fn scatter(
    axis: u8,
    arg: &Type,
    index: &Type,
    src: &Type,
    facts: &mut Facts,
) -> Result<SmallVec<[Type; 1]>, ShapeError> {
    check_axes(&[axis], arg.rank())?;
    expect_rank(arg.rank(), index.rank())?;
    expect_rank(arg.rank(), src.rank())?;
    expect_index(index)?;
    expect_dtype(arg.dtype, src.dtype)?;
    for (place, size) in index.shape.iter().enumerate() {
        fits(size, &src.shape[place], place, facts)?;
        if place != usize::from(axis) {
            fits(size, &arg.shape[place], place, facts)?;
        }
    }
    Ok(smallvec![arg.clone()])
}

fn expect_floats(a: &Type, b: &Type) -> Result<(), ShapeError> {
    if !a.dtype.is_float() || a.dtype.is_float8() {
        return Err(ShapeError::Dtype { expected: DType::F32, given: a.dtype });
    }
    expect_dtype(a.dtype, b.dtype)
}

fn matmul(dtype: DType, a: &Type, b: &Type, facts: &mut Facts) -> Result<SmallVec<[Type; 1]>, ShapeError> {
    let rank = a.rank();
    if rank < 2 {
        return Err(ShapeError::Rank { expected: 2, given: rank });
    }
    expect_rank(rank, b.rank())?;
    expect_floats(a, b)?;
    if dtype != a.dtype && dtype != a.dtype.compute() {
        return Err(ShapeError::Dtype { expected: a.dtype, given: dtype });
    }
    equal(&a.shape[rank - 1], &b.shape[rank - 2], rank - 2, facts)?;
    let mut shape = a.shape.clone();
    for axis in 0..rank - 2 {
        if shape[axis].is_one() {
            shape[axis] = b.shape[axis].clone();
        } else if !b.shape[axis].is_one() {
            equal(&shape[axis], &b.shape[axis], axis, facts)?;
        }
    }
    shape[rank - 1] = b.shape[rank - 1].clone();
    Ok(smallvec![Type { dtype, shape }])
}

fn linear(
    dtype: DType,
    a: &Type,
    weight: &Type,
    bias: &Type,
    facts: &mut Facts,
) -> Result<SmallVec<[Type; 1]>, ShapeError> {
    let rank = a.rank();
    if rank < 2 {
        return Err(ShapeError::Rank { expected: 2, given: rank });
    }
    expect_rank(2, weight.rank())?;
    expect_rank(1, bias.rank())?;
    expect_floats(a, weight)?;
    expect_dtype(a.dtype, bias.dtype)?;
    if dtype != a.dtype {
        return Err(ShapeError::Dtype { expected: a.dtype, given: dtype });
    }
    equal(&a.shape[rank - 1], &weight.shape[1], 1, facts)?;
    equal(&weight.shape[0], &bias.shape[0], 0, facts)?;
    let mut shape = a.shape.clone();
    shape[rank - 1] = weight.shape[0].clone();
    Ok(smallvec![Type { dtype, shape }])
}

fn grouped_matmul(
    a: &Type,
    b: &Type,
    offsets: &Type,
    facts: &mut Facts,
) -> Result<SmallVec<[Type; 1]>, ShapeError> {
    expect_floats(a, b)?;
    expect_rank(1, offsets.rank())?;
    expect_index(offsets)?;
    let groups = offsets.shape[0].clone();
    let depth = |ty: &Type, place: usize| ty.shape[ty.rank() - place].clone();
    let shape = match (a.rank(), b.rank()) {
        (2, 2) => smallvec![groups, a.shape[0].clone(), b.shape[1].clone()],
        (3, 2) => {
            equal(&a.shape[0], &groups, 0, facts)?;
            smallvec![a.shape[1].clone(), b.shape[1].clone()]
        }
        (2, 3) => {
            equal(&b.shape[0], &groups, 0, facts)?;
            smallvec![a.shape[0].clone(), b.shape[2].clone()]
        }
        (2, given) => return Err(ShapeError::Rank { expected: 3, given }),
        (_, given) => return Err(ShapeError::Rank { expected: 2, given }),
    };
    equal(&depth(a, 1), &depth(b, 2), b.rank() - 2, facts)?;
    Ok(smallvec![Type { dtype: a.dtype, shape }])
}

impl fmt::Display for ExternalOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            ExternalOp::Argsort { axis, descending: false } => write!(f, " {axis}"),
            ExternalOp::Argsort { axis, descending: true } => write!(f, " {axis} descending"),
            ExternalOp::TopK { axis, k, largest: true } => write!(f, " {axis} first {k}"),
            ExternalOp::TopK { axis, k, largest: false } => write!(f, " {axis} last {k}"),
            ExternalOp::Scatter(axis) => write!(f, " {axis}"),
            ExternalOp::Matmul(dtype) | ExternalOp::Linear(dtype) => write!(f, " in {dtype}"),
            ExternalOp::GroupedMatmul => Ok(()),
        }
    }
}
