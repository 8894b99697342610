//! The shape rule of each tensor op: operand types in, result types out, or what is wrong.
//!
//! Sizes are symbolic. If a rule needs two sizes to be equal and they are not provably different, the equality is recorded
//! in the facts as a guard that is checked when concrete sizes are known. A size that is the constant 1 is a broadcast axis;
//! a symbolic size never broadcasts.

use index::{Expr, Facts};
use ops::{DType, Monoid};
use smallvec::{SmallVec, smallvec};
use thiserror::Error;

use super::node::{Axes, Shape, TensorOp, Type};

/// Why a tensor op does not accept its operands.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// A wrong number of operands.
    #[error("expected {expected} operands, got {given}")]
    Count {
        /// How many the op takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// Two sizes that must agree are known to differ.
    #[error("axis {axis}: size {left} does not match size {right}")]
    Mismatch {
        /// Axis of the result.
        axis: usize,
        /// One size.
        left: Expr,
        /// The other.
        right: Expr,
    },
    /// Ranks that must agree differ.
    #[error("rank {given} where rank {expected} was expected")]
    Rank {
        /// Needed rank.
        expected: usize,
        /// Given rank.
        given: usize,
    },
    /// An axis number out of range or named twice.
    #[error("axis {axis} is out of range for rank {rank}, or named twice")]
    Axis {
        axis: usize,
        /// The operand's rank.
        rank: usize,
    },
    /// An axis that must have size 1 has another.
    #[error("axis {axis} has size {size}, expected 1")]
    NotOne { axis: usize, size: Expr },
    /// Reshape between different numbers of elements.
    #[error("cannot reshape {from} elements into {to}")]
    Elements {
        /// Elements of the operand.
        from: Expr,
        /// Elements of the result.
        to: Expr,
    },
    /// Dtypes that must agree differ.
    #[error("dtype {given} where {expected} was expected")]
    Dtype {
        /// Needed.
        expected: DType,
        given: DType,
    },
    /// A dtype in which no arithmetic is done.
    #[error("no arithmetic in {0}: cast to {compute} first", compute = .0.compute())]
    Storage(DType),
    /// A size known to be negative.
    #[error("axis {axis} would have the negative size {size}")]
    Negative { axis: usize, size: Expr },
}

/// The types of a node's results.
type Types = SmallVec<[Type; 1]>;

/// Types of the results of `op` on operands of these types. Equalities that it needs and cannot prove go into
/// `facts`.
pub fn infer(op: &TensorOp, operands: &[&Type], facts: &mut Facts) -> Result<Types, ShapeError> {
    let one = |ty: Type| Ok(smallvec![ty]);
    expect_count(op, operands.len())?;
    match op {
        TensorOp::Input { ty, .. } => one(ty.clone()),
        TensorOp::Constant(scalar) => one(Type::scalar(scalar.dtype())),
        TensorOp::Size(_) => one(Type::scalar(DType::I64)),
        TensorOp::Map(scalar_op) => {
            let dtypes: SmallVec<[DType; 3]> = operands.iter().map(|ty| ty.dtype).collect();
            if let Some(storage) = dtypes.iter().find(|d| d.is_storage_only() && !scalar_op.moves_bits()) {
                return Err(ShapeError::Storage(*storage));
            }
            one(Type { dtype: scalar_op.result_dtype(&dtypes), shape: unify(operands, facts)? })
        }
        TensorOp::Cast(dtype) => one(Type { dtype: *dtype, shape: operands[0].shape.clone() }),
        TensorOp::Broadcast(new) => {
            one(Type { dtype: operands[0].dtype, shape: broadcast(new, operands[0])? })
        }
        TensorOp::Expand(sizes) => {
            one(Type { dtype: operands[0].dtype, shape: expand(sizes, operands[0], facts)? })
        }
        TensorOp::Squeeze(axes) => {
            one(Type { dtype: operands[0].dtype, shape: squeeze(axes, operands[0], facts)? })
        }
        TensorOp::Reshape(sizes) => {
            let ty = Type { dtype: operands[0].dtype, shape: sizes.clone() };
            let (from, to) = (operands[0].numel(), ty.numel());
            // No tensor has sizes whose product is beyond 63 bits.
            let is_known = ty.shape.iter().all(|size| size.as_const().is_some());
            let fits = !(is_known && to.is_overflow()) && require_equal(&from, &to, facts).is_ok();
            if fits { one(ty) } else { Err(ShapeError::Elements { from, to }) }
        }
        TensorOp::Permute(order) => {
            check_axes(order, operands[0].rank())?;
            expect_rank(operands[0].rank(), order.len())?;
            let shape = order.iter().map(|&axis| operands[0].shape[axis as usize].clone());
            one(Type::new(operands[0].dtype, shape))
        }
        TensorOp::Slice { starts, sizes } => {
            expect_rank(operands[0].rank(), starts.len())?;
            expect_rank(operands[0].rank(), sizes.len())?;
            one(Type { dtype: operands[0].dtype, shape: sizes.clone() })
        }
        TensorOp::Pad { before, after } => pad(before, after, operands).and_then(one),
        TensorOp::Cat(axis) => cat(*axis as usize, operands, facts).and_then(one),
        TensorOp::Fold { monoid, axes } => fold(monoid, axes, operands, facts),
        TensorOp::Scan { monoid, axis } => scan(monoid, *axis, operands, facts),
        TensorOp::Gather(axis) => gather(*axis as usize, operands[0], operands[1], facts).and_then(one),
        TensorOp::Iota(length) => {
            expect_rank(0, operands[0].rank())?;
            expect_rank(0, operands[1].rank())?;
            one(Type::new(operands[0].dtype, [length.clone()]))
        }
        TensorOp::External(library) => library.infer(operands, facts),
    }
}

fn expect_count(op: &TensorOp, given: usize) -> Result<(), ShapeError> {
    let expected = match op {
        TensorOp::Input { .. } | TensorOp::Constant(_) | TensorOp::Size(_) => 0,
        TensorOp::Map(scalar_op) => scalar_op.arity(),
        TensorOp::Pad { .. } | TensorOp::Gather(_) | TensorOp::Iota(_) => 2,
        TensorOp::External(library) => library.arity(),
        TensorOp::Cat(_) => given.max(1),
        TensorOp::Fold { monoid, .. } | TensorOp::Scan { monoid, .. } => monoid.operands(),
        _ => 1,
    };
    if given == expected { Ok(()) } else { Err(ShapeError::Count { expected, given }) }
}

pub(super) fn expect_rank(expected: usize, given: usize) -> Result<(), ShapeError> {
    if given == expected { Ok(()) } else { Err(ShapeError::Rank { expected, given }) }
}

/// Axes in range and each named once.
pub(super) fn check_axes(axes: &[u8], rank: usize) -> Result<(), ShapeError> {
    for (place, &axis) in axes.iter().enumerate() {
        if axis as usize >= rank || axes[..place].contains(&axis) {
            return Err(ShapeError::Axis { axis: axis as usize, rank });
        }
    }
    Ok(())
}

/// Records that two sizes are equal, unless they are known to differ.
pub(super) fn require_equal(left: &Expr, right: &Expr, facts: &mut Facts) -> Result<(), ()> {
    facts.require_equal(left, right).map_err(|_| ())
}

/// The shape that operands of one elementwise op share.
fn unify(operands: &[&Type], facts: &mut Facts) -> Result<Shape, ShapeError> {
    let rank = operands.iter().map(|ty| ty.rank()).max().unwrap_or(0);
    let mut shape: Shape = smallvec![Expr::one(); rank];
    for ty in operands.iter().filter(|ty| ty.rank() > 0) {
        expect_rank(rank, ty.rank())?;
        for (axis, size) in ty.shape.iter().enumerate() {
            if size.is_one() {
                continue;
            }
            if shape[axis].is_one() {
                shape[axis] = size.clone();
            } else {
                require_equal(&shape[axis], size, facts).map_err(|()| ShapeError::Mismatch {
                    axis,
                    left: shape[axis].clone(),
                    right: size.clone(),
                })?;
                if size.as_const().is_some() {
                    shape[axis] = size.clone();
                }
            }
        }
    }
    Ok(shape)
}

fn broadcast(new: &[bool], operand: &Type) -> Result<Shape, ShapeError> {
    expect_rank(operand.rank(), new.iter().filter(|&&new| !new).count())?;
    let mut old = operand.shape.iter().cloned();
    Ok(new.iter().map(|&new| if new { Expr::one() } else { old.next().expect("counted above") }).collect())
}

fn expand(sizes: &Shape, operand: &Type, facts: &mut Facts) -> Result<Shape, ShapeError> {
    expect_rank(operand.rank(), sizes.len())?;
    for (axis, (from, to)) in operand.shape.iter().zip(sizes).enumerate() {
        if !from.is_one() {
            require_equal(from, to, facts).map_err(|()| ShapeError::Mismatch {
                axis,
                left: from.clone(),
                right: to.clone(),
            })?;
        }
    }
    Ok(sizes.clone())
}

fn squeeze(axes: &Axes, operand: &Type, facts: &mut Facts) -> Result<Shape, ShapeError> {
    check_axes(axes, operand.rank())?;
    for &axis in axes {
        let size = &operand.shape[axis as usize];
        require_equal(size, &Expr::one(), facts)
            .map_err(|()| ShapeError::NotOne { axis: axis as usize, size: size.clone() })?;
    }
    let kept = operand.shape.iter().enumerate().filter(|(axis, _)| !axes.contains(&(*axis as u8)));
    Ok(kept.map(|(_, size)| size.clone()).collect())
}

fn pad(before: &Shape, after: &Shape, operands: &[&Type]) -> Result<Type, ShapeError> {
    let [tensor, fill] = operands else { unreachable!("two operands, counted above") };
    expect_rank(tensor.rank(), before.len())?;
    expect_rank(tensor.rank(), after.len())?;
    expect_rank(0, fill.rank())?;
    expect_dtype(tensor.dtype, fill.dtype)?;
    let widths = before.iter().zip(after);
    let shape =
        tensor.shape.iter().zip(widths).map(|(size, (lo, hi))| size.clone() + lo.clone() + hi.clone());
    let ty = Type::new(tensor.dtype, shape);
    match ty.shape.iter().enumerate().find(|(_, size)| size.as_const().is_some_and(|n| n < 0)) {
        Some((axis, size)) => Err(ShapeError::Negative { axis, size: size.clone() }),
        None => Ok(ty),
    }
}

fn cat(axis: usize, operands: &[&Type], facts: &mut Facts) -> Result<Type, ShapeError> {
    let first = operands[0];
    if axis >= first.rank() {
        return Err(ShapeError::Axis { axis, rank: first.rank() });
    }
    let mut shape = first.shape.clone();
    for ty in &operands[1..] {
        expect_rank(first.rank(), ty.rank())?;
        expect_dtype(first.dtype, ty.dtype)?;
        for (place, size) in ty.shape.iter().enumerate() {
            if place != axis {
                require_equal(&shape[place], size, facts).map_err(|()| ShapeError::Mismatch {
                    axis: place,
                    left: shape[place].clone(),
                    right: size.clone(),
                })?;
            }
        }
    }
    shape[axis] = operands.iter().map(|ty| ty.shape[axis].clone()).sum();
    Ok(Type { dtype: first.dtype, shape })
}

fn gather(axis: usize, source: &Type, index: &Type, facts: &mut Facts) -> Result<Type, ShapeError> {
    expect_rank(source.rank(), index.rank())?;
    if axis >= source.rank() {
        return Err(ShapeError::Axis { axis, rank: source.rank() });
    }
    if !index.dtype.is_wide_int() {
        return Err(ShapeError::Dtype { expected: DType::I64, given: index.dtype });
    }
    let mut row = source.clone();
    row.shape[axis] = Expr::one();
    Ok(Type { dtype: source.dtype, shape: unify(&[&row, index], facts)? })
}

fn fold(monoid: &Monoid, axes: &Axes, operands: &[&Type], facts: &mut Facts) -> Result<Types, ShapeError> {
    let (shape, dtypes) = elements(monoid, operands, facts)?;
    check_axes(axes, shape.len())?;
    let kept = shape.iter().enumerate().filter(|(axis, _)| !axes.contains(&(*axis as u8)));
    Ok(states(monoid, &kept.map(|(_, size)| size.clone()).collect(), &dtypes))
}

fn scan(monoid: &Monoid, axis: u8, operands: &[&Type], facts: &mut Facts) -> Result<Types, ShapeError> {
    let (shape, dtypes) = elements(monoid, operands, facts)?;
    check_axes(&[axis], shape.len())?;
    Ok(states(monoid, &shape, &dtypes))
}

/// The common shape of the operands of a fold or scan, and their dtypes, which the monoid must support.
fn elements(
    monoid: &Monoid,
    operands: &[&Type],
    facts: &mut Facts,
) -> Result<(Shape, SmallVec<[DType; 3]>), ShapeError> {
    let shape = operands[0].shape.clone();
    for ty in &operands[1..] {
        expect_rank(shape.len(), ty.rank())?;
        for (axis, (left, right)) in shape.iter().zip(&ty.shape).enumerate() {
            require_equal(left, right, facts).map_err(|()| ShapeError::Mismatch {
                axis,
                left: left.clone(),
                right: right.clone(),
            })?;
        }
    }
    let dtypes: SmallVec<[DType; 3]> = operands.iter().map(|ty| ty.dtype).collect();
    if let Some(&storage) = dtypes.iter().find(|dtype| dtype.is_storage_only()) {
        return Err(ShapeError::Storage(storage));
    }
    if *monoid == Monoid::Welford && !dtypes[0].is_float() {
        return Err(ShapeError::Dtype { expected: DType::F32, given: dtypes[0] });
    }
    let states = monoid.state_dtypes(&dtypes);
    for (&expected, given) in states.iter().zip(monoid.identity(&dtypes)) {
        expect_dtype(given.dtype(), expected)?;
    }
    Ok((shape, dtypes))
}

fn states(monoid: &Monoid, shape: &Shape, dtypes: &[DType]) -> Types {
    let results = monoid.result_dtypes(dtypes);
    results.into_iter().map(|dtype| Type { dtype, shape: shape.clone() }).collect()
}

pub(super) fn expect_dtype(expected: DType, given: DType) -> Result<(), ShapeError> {
    if given == expected { Ok(()) } else { Err(ShapeError::Dtype { expected, given }) }
}
