//! Dropout: elements kept at random and scaled by one over the probability of being kept; and its gradient.

use ir::graph::Val;
use ops::{DType, Scalar, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;
use crate::define::families::random;

/// The result, and the mask of the kept elements.
pub(super) fn forward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let p = probability(ops, bound, "p", dtype.compute())?;
    let drawn = random::uniform_like(ops, arg)?;
    let [mask, scale] = kept(ops, drawn, p)?;
    let result = masked(ops, arg, mask, scale)?;
    Ok(vec![ops.cast(result, dtype)?, mask])
}

/// The gradient where the mask holds, times the scale.
pub(super) fn backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (grad, dtype) = ops.float_tensor(bound, "grad")?;
    let mask = bound.tensor("mask")?.val;
    if ops.graph.dtype(mask) != ops::DType::Bool {
        return Err(bound.reject("mask", "a tensor of bools"));
    }
    let scale = ops.coefficient(bound, "scale", dtype.compute())?;
    let result = masked(ops, grad, mask, scale)?;
    Ok(vec![ops.cast(result, dtype)?])
}

/// A probability, in a dtype.
pub(in crate::define) fn probability(
    ops: &mut OpBuilder,
    bound: &Bound,
    param: &str,
    dtype: DType,
) -> Result<Val, DefineError> {
    let p = ops.coefficient(bound, param, dtype)?;
    if ops.graph.as_constant(p).is_some_and(|p| !(0.0..=1.0).contains(&p.as_f64())) {
        return Err(bound.reject(param, "a probability, from 0 to 1"));
    }
    Ok(p)
}

/// From uniform numbers and the probability `p` that an element is dropped: the mask of the kept ones, and one over the
/// probability of being kept, which preserves the mean.
pub(in crate::define) fn kept(ops: &mut OpBuilder, drawn: Val, p: Val) -> Result<[Val; 2], DefineError> {
    let compute = ops.graph.dtype(p);
    let one = ops.constant(Scalar::one(compute))?;
    let kept = ops.map(ScalarOp::Sub, &[one, p])?;
    let mask = ops.map(ScalarOp::Le, &[drawn, kept])?;
    // If nothing is kept the scale is 1, so that the result is 0.
    let scale = ops.expression("1 / where(gt(kept, 0), kept, 1)", &["kept"], &[kept], compute)?;
    Ok([mask, scale])
}

/// `x mask scale`, in the compute dtype.
pub(in crate::define) fn masked(
    ops: &mut OpBuilder,
    x: Val,
    mask: Val,
    scale: Val,
) -> Result<Val, DefineError> {
    let x = ops.cast(x, ops.graph.dtype(x).compute())?;
    let kept = ops.map(ScalarOp::Mul, &[x, mask])?;
    ops.map(ScalarOp::Mul, &[kept, scale])
}
