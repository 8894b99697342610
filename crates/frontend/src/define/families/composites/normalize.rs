//! The common part of all normalizations: elements minus their mean, divided by their deviation, both over some axes; then a
//! weight and a bias along others. And the gradient of all that.

use ir::graph::{Axes, TensorOp, Val};
use ops::{DType, Monoid, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;
use crate::define::families::folds;

/// A tensor to normalize, in its compute dtype, and the axes involved.
#[derive(Clone, Debug)]
pub(super) struct Normalized {
    /// The tensor.
    pub x: Val,
    /// The axes over which mean and deviation are taken.
    pub over: Axes,
    /// The axes of weight and bias.
    pub along: Axes,
    /// Whether the mean is subtracted; if not, the deviation is from zero.
    pub centred: bool,
}

/// The values that a forward normalization saves; reduced axes have size 1. Without a mean nothing is subtracted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    pub mean: Option<Val>,
    /// One over the deviation.
    pub scale: Val,
}

/// Gradients of the operands; those of weight and bias have the axes of these.
pub(super) struct Gradients {
    pub x: Val,
    pub weight: Val,
    pub bias: Val,
}

/// Mean and inverse deviation, with `eps` added to the variance.
pub(super) fn statistics(
    ops: &mut OpBuilder,
    bound: &Bound,
    normalized: &Normalized,
) -> Result<Statistics, DefineError> {
    let Normalized { x, over, .. } = normalized;
    let count = folds::divisor(ops, *x, over, 0)?;
    let (mean, squares) = if normalized.centred {
        let moments = folds::welford(ops, *x, over.clone(), true)?;
        (Some(moments.mean), moments.m2)
    } else {
        let squares = ops.map(ScalarOp::Mul, &[*x, *x])?;
        (None, folds::fold(ops, Monoid::Sum, squares, over.clone(), true)?)
    };
    let variance = ops.map(ScalarOp::Div, &[squares, count])?;
    Ok(Statistics { mean, scale: inverse_root(ops, bound, variance)? })
}

/// `(x - mean) scale`.
pub(super) fn standardized(ops: &mut OpBuilder, x: Val, statistics: Statistics) -> Result<Val, DefineError> {
    let centred = match statistics.mean {
        Some(mean) => ops.map(ScalarOp::Sub, &[x, mean])?,
        None => x,
    };
    ops.map(ScalarOp::Mul, &[centred, statistics.scale])
}

/// A parameter tensor of a normalization, if it is given, in the dtype of `like` and with its axes.
pub(super) fn parameter(
    ops: &mut OpBuilder,
    bound: &Bound,
    param: &str,
    normalized: &Normalized,
) -> Result<Option<Val>, DefineError> {
    let Some(value) = bound.optional_tensor(param) else { return Ok(None) };
    let (shape, rank) = (ops.shape(normalized.x), ops.graph.shape(value.val).len());
    if ops.is_scalar(value) || rank > normalized.along.len() {
        let sizes: Vec<String> =
            normalized.along.iter().map(|&axis| shape[axis as usize].to_string()).collect();
        return Err(bound.reject(param, &format!("a tensor of shape [{}]", sizes.join(", "))));
    }
    let tensor = ops.cast(value.val, ops.graph.dtype(normalized.x))?;
    let has = &normalized.along[normalized.along.len() - rank..];
    spread(ops, tensor, has, shape.len()).map(Some)
}

/// A tensor with the axes `has` of `rank` axes; the others get size 1.
pub(super) fn spread(ops: &mut OpBuilder, tensor: Val, has: &[u8], rank: usize) -> Result<Val, DefineError> {
    if has.len() == rank {
        return Ok(tensor);
    }
    let new = (0..rank).map(|axis| !has.contains(&(axis as u8))).collect();
    ops.add(TensorOp::Broadcast(new), &[tensor])
}

/// The sum over the axes that a parameter does not have.
fn sum_onto(ops: &mut OpBuilder, val: Val, along: &[u8]) -> Result<Val, DefineError> {
    let rank = ops.graph.shape(val).len() as u8;
    let over: Axes = (0..rank).filter(|axis| !along.contains(axis)).collect();
    if over.is_empty() { Ok(val) } else { folds::fold(ops, Monoid::Sum, val, over, false) }
}

/// The mean over the normalized axes, which are kept with size 1.
fn mean_over(ops: &mut OpBuilder, val: Val, over: &Axes) -> Result<Val, DefineError> {
    let count = folds::divisor(ops, val, over, 0)?;
    let sum = folds::fold(ops, Monoid::Sum, val, over.clone(), true)?;
    ops.map(ScalarOp::Div, &[sum, count])
}

/// The gradients for the gradient of the result, all in the compute dtype: with `n` the standardized elements and
/// `g = dy weight`, that of `x` is `scale (g - mean(g) - n mean(g n))`. It includes the gradients of the statistics; if
/// these are `fixed`, it is `scale g`.
pub(super) fn gradients(
    ops: &mut OpBuilder,
    normalized: &Normalized,
    statistics: Statistics,
    (dy, weight): (Val, Option<Val>),
    fixed: bool,
) -> Result<Gradients, DefineError> {
    let Normalized { x, over, along, .. } = normalized;
    let n = standardized(ops, *x, statistics)?;
    let product = ops.map(ScalarOp::Mul, &[dy, n])?;
    // A weight that is constant along the averaged axes is factored out of the means.
    let outside = along.iter().all(|axis| !over.contains(axis));
    let (inner, outer) = if outside { (None, weight) } else { (weight, None) };
    let g = times(ops, dy, inner)?;
    let dx = if fixed { g } else { without_drift(ops, normalized, g, n)? };
    let dx = ops.map(ScalarOp::Mul, &[dx, statistics.scale])?;
    Ok(Gradients {
        x: times(ops, dx, outer)?,
        weight: sum_onto(ops, product, along)?,
        bias: sum_onto(ops, dy, along)?,
    })
}

/// `g - mean(g) - n mean(g n)`, without the first mean if none was subtracted.
fn without_drift(ops: &mut OpBuilder, normalized: &Normalized, g: Val, n: Val) -> Result<Val, DefineError> {
    let product = ops.map(ScalarOp::Mul, &[g, n])?;
    let slope = mean_over(ops, product, &normalized.over)?;
    let along = ops.map(ScalarOp::Mul, &[n, slope])?;
    let centred = if normalized.centred {
        let mean = mean_over(ops, g, &normalized.over)?;
        ops.map(ScalarOp::Sub, &[g, mean])?
    } else {
        g
    };
    ops.map(ScalarOp::Sub, &[centred, along])
}

fn times(ops: &mut OpBuilder, x: Val, factor: Option<Val>) -> Result<Val, DefineError> {
    factor.map_or(Ok(x), |factor| ops.map(ScalarOp::Mul, &[x, factor]))
}

/// Times weight plus bias, if they are given.
pub(super) fn affine(
    ops: &mut OpBuilder,
    bound: &Bound,
    normalized: &Normalized,
    standardized: Val,
) -> Result<Val, DefineError> {
    let mut result = standardized;
    for (param, op) in [("weight", ScalarOp::Mul), ("bias", ScalarOp::Add)] {
        if let Some(parameter) = parameter(ops, bound, param, normalized)? {
            result = ops.map(op, &[result, parameter])?;
        }
    }
    Ok(result)
}

/// A mean or an inverse deviation that was saved, with or without the axes that it was taken over.
pub(super) fn saved(
    ops: &mut OpBuilder,
    bound: &Bound,
    param: &str,
    normalized: &Normalized,
) -> Result<Val, DefineError> {
    let value = bound.tensor(param)?;
    let rank = ops.graph.shape(normalized.x).len();
    let kept: Axes = (0..rank as u8).filter(|axis| !normalized.over.contains(axis)).collect();
    let has = ops.graph.shape(value.val).len();
    let tensor = ops.cast(value.val, ops.graph.dtype(normalized.x))?;
    match has {
        _ if has == rank => Ok(tensor),
        _ if has == kept.len() => spread(ops, tensor, &kept, rank),
        _ => Err(bound.reject(param, &format!("a tensor of {} or {rank} dimensions", kept.len()))),
    }
}

/// The gradients in the dtypes of their operands; those of an absent weight or bias in the dtype of `x`.
pub(super) fn rounded(
    ops: &mut OpBuilder,
    bound: &Bound,
    gradients: Gradients,
    dtype: DType,
) -> Result<Vec<Val>, DefineError> {
    let weight = bound.optional_tensor("weight").map_or(dtype, |value| ops.graph.dtype(value.val));
    let Gradients { x, weight: of_weight, bias } = gradients;
    Ok(vec![ops.cast(x, dtype)?, ops.cast(of_weight, weight)?, ops.cast(bias, weight)?])
}

/// `rsqrt(x + eps)`.
pub(super) fn inverse_root(ops: &mut OpBuilder, bound: &Bound, x: Val) -> Result<Val, DefineError> {
    let eps = ops.coefficient(bound, "eps", ops.graph.dtype(x))?;
    let shifted = ops.map(ScalarOp::Add, &[x, eps])?;
    ops.map(ScalarOp::Rsqrt, &[shifted])
}
