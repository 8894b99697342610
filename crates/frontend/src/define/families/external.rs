//! Ops that a library computes: argsort, top-k, scatter, products of matrices.
//!
//! Products are brought to batches of matrices of one rank: a vector becomes a matrix of one row or column, and the result
//! loses the axis that this added. Half types are accumulated in f32 and rounded once.

use index::Expr;
use ir::definition::{Object, Site};
use ir::graph::{Axes, ExternalOp, TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// A scalar has the sorted index 0.
pub(super) fn argsort(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let rank = ops.graph.shape(arg).len();
    let axis = bound.axis("dim", rank.max(1))? as u8;
    match rank {
        0 => ops.constant(Scalar::from_i64(DType::I64, 0)),
        _ => ops.add(
            TensorOp::External(ExternalOp::Argsort { axis, descending: bound.flag("descending") }),
            &[arg],
        ),
    }
}

/// Values and indices, always in sorted order.
pub(super) fn topk(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Vec<Val>, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let size = ops.shape(arg)[axis].clone();
    let expected = format!("a whole number from 0 to the size {size} of the dimension");
    let k = ops.as_size(bound.object("k")).ok_or_else(|| bound.reject("k", &expected))?;
    for (small, large) in [(&Expr::zero(), &k), (&k, &size)] {
        ops.facts.assume_le(small, large).map_err(|_| bound.reject("k", &expected))?;
    }
    let tensor_op =
        TensorOp::External(ExternalOp::TopK { axis: axis as u8, k, largest: bound.flag("largest") });
    let node = ops.add_node(tensor_op, &[arg])?;
    Ok(ops.graph.results(node).collect())
}

pub(super) fn scatter(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let arg = ops.tensor_argument(bound, "arg")?;
    let index = ops.tensor_argument(bound, "index")?;
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    if !ops.graph.dtype(index).holds_sizes() {
        let given = format!("one of {}", ops.graph.dtype(index));
        let error = ops.reject("a tensor of i64 or i32", given).argument("index");
        return Err(error.at(bound.span_of("index")));
    }
    let src = match bound.object("src").as_value() {
        Some(value) if !ops.is_scalar(value) => value.val,
        _ => {
            let fill = ops.fill(bound, "src", ops.graph.dtype(arg))?;
            ops.repeat(fill, ops.shape(index))?
        }
    };
    let val = ops.add(TensorOp::External(ExternalOp::Scatter(axis as u8)), &[arg, index, src])?;
    ops.record.add_site(val, Site { op: ops.op, axis, counts_from_end: false, span: ops.span });
    Ok(val)
}

/// A tensor of floats of at least two bytes with at least `rank` axes.
fn matrix(ops: &OpBuilder, bound: &Bound, param: &str, rank: usize) -> Result<Val, DefineError> {
    let val = ops.tensor_argument(bound, param)?;
    let ty = ops.graph.ty(val);
    if !ty.dtype.is_float() || ty.dtype.is_float8() || ty.rank() < rank {
        let axes = if rank == 1 { "one axis" } else { "two axes" };
        let expected = format!("a tensor of f16, bf16, f32 or f64 with {axes} or more");
        let error = ops.reject(expected, format!("of type {ty}"));
        return Err(error.argument(param).at(bound.span_of(param)));
    }
    Ok(val)
}

pub(super) fn matmul(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let (a, b) = (matrix(ops, bound, "arg1", 1)?, matrix(ops, bound, "arg2", 1)?);
    let dtype = ops.graph.dtype(a);
    expect_dtype(ops, bound, "arg2", b, dtype)?;
    product(ops, a, b, dtype)
}

fn expect_dtype(
    ops: &OpBuilder,
    bound: &Bound,
    param: &str,
    val: Val,
    dtype: DType,
) -> Result<(), DefineError> {
    let given = ops.graph.dtype(val);
    if given == dtype {
        return Ok(());
    }
    let error = ops.reject(format!("a tensor of {dtype}"), format!("one of {given}"));
    Err(error.argument(param).at(bound.span_of(param)))
}

/// The product of two tensors of one dtype, each with at least one axis, in `dtype`.
pub(super) fn product(ops: &mut OpBuilder, a: Val, b: Val, dtype: DType) -> Result<Val, DefineError> {
    let ranks = [a, b].map(|val| ops.graph.shape(val).len());
    let rank = ranks[0].max(ranks[1]).max(2);
    let is_row = ranks[0] == 1;
    let is_column = ranks[1] == 1;
    let a = raised(ops, a, rank, false)?;
    let b = raised(ops, b, rank, is_column)?;
    let product = ops.add(TensorOp::External(ExternalOp::Matmul(dtype)), &[a, b])?;
    let dropped = [(is_row, rank - 2), (is_column, rank - 1)];
    let axes: Axes = dropped.iter().filter(|(drop, _)| *drop).map(|(_, axis)| *axis as u8).collect();
    ops.squeeze_axes(product, axes)
}

/// A tensor with leading axes of size 1 added up to a rank; a vector that is a column gets its last one at the end.
fn raised(ops: &mut OpBuilder, val: Val, rank: usize, is_column: bool) -> Result<Val, DefineError> {
    let has = ops.graph.shape(val).len();
    if has == rank {
        return Ok(val);
    }
    let new = rank - has - usize::from(is_column);
    let flags = (0..rank).map(|axis| axis < new || (is_column && axis == rank - 1));
    ops.add(TensorOp::Broadcast(flags.collect()), &[val])
}

/// The last two axes exchanged.
pub(super) fn transposed(ops: &mut OpBuilder, val: Val) -> Result<Val, DefineError> {
    let rank = ops.graph.shape(val).len();
    let mut order: Axes = (0..rank as u8).collect();
    order.swap(rank - 2, rank - 1);
    ops.add(TensorOp::Permute(order), &[val])
}

/// The product is not rounded before a bias is added.
pub(super) fn linear(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let (arg, weight) = (matrix(ops, bound, "arg1", 1)?, matrix(ops, bound, "arg2", 2)?);
    let dtype = ops.graph.dtype(arg);
    expect_dtype(ops, bound, "arg2", weight, dtype)?;
    let weight = transposed(ops, weight)?;
    if *bound.object("bias") == Object::None {
        return product(ops, arg, weight, dtype);
    }
    let bias = matrix(ops, bound, "bias", 1)?;
    expect_dtype(ops, bound, "bias", bias, dtype)?;
    let product = product(ops, arg, weight, dtype.compute())?;
    if ops.graph.shape(bias).len() > ops.graph.shape(product).len() {
        return Err(bound.reject("bias", "a tensor of no more axes than the result"));
    }
    let last = |val: Val| ops.shape(val).last().cloned().expect("tensors of at least one axis");
    let (given, features) = (last(bias), last(product));
    if !given.is_one() && ops.facts.assume_equal(&given, &features).is_err() {
        let expected = format!("a tensor whose last size is {features}, as that of the result");
        return Err(ops.reject(expected, format!("one of size {given}")).argument("bias"));
    }
    let bias = ops.cast(bias, dtype.compute())?;
    let sum = ops.map(ScalarOp::Add, &[product, bias])?;
    ops.cast(sum, dtype)
}

pub(super) fn grouped_mm(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let params = ["scale1", "scale2", "alpha", "bias", "beta"];
    if let Some(param) = params.into_iter().find(|param| *bound.object(param) != Object::None) {
        let expected = "absent: only NVIDIA's tensor cores multiply block-scaled formats";
        return Err(bound.reject(param, expected));
    }
    let (a, b) = (matrix(ops, bound, "mat1", 2)?, matrix(ops, bound, "mat2", 2)?);
    let ranks = [a, b].map(|val| ops.graph.shape(val).len());
    if !matches!(ranks, [2, 2] | [2, 3] | [3, 2]) {
        let given = format!("ranks {} and {}", ranks[0], ranks[1]);
        return Err(ops.reject("tensors of two axes and two, two and three, or three and two", given));
    }
    let dtype = ops.graph.dtype(a);
    expect_dtype(ops, bound, "mat2", b, dtype)?;
    if bound.dtype("dtype").is_some_and(|given| given != dtype) {
        return Err(bound.reject("dtype", &format!("DataType.{}", dtype.nvfuser_name())));
    }
    let offsets = ops.tensor_argument(bound, "offsets")?;
    if !ops.graph.dtype(offsets).holds_sizes() || ops.graph.shape(offsets).len() != 1 {
        return Err(bound.reject("offsets", "a tensor of i64 or i32 with one axis"));
    }
    ops.add(TensorOp::External(ExternalOp::GroupedMatmul), &[a, b, offsets])
}
