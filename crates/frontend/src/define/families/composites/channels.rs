//! Normalizations of tensors (batch, channels, …): over batch and space (batch_norm), over space (instance_norm), over
//! space and groups of channels (group_norm), and their gradients. Weights and biases are per channel.

use index::Expr;
use ir::graph::{Axes, Shape, Val};
use ops::DType;

use super::normalize::{self, Gradients, Normalized, Statistics};
use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// Result, mean and inverse deviation; the running ones outside of training.
pub(super) fn batch_norm(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = per_channel(ops, bound, 0)?;
    let statistics = match bound.flag("training") {
        true => normalize::statistics(ops, bound, &normalized)?,
        false => running(ops, bound, &normalized)?,
    };
    normalized_channels(ops, bound, &normalized, statistics, dtype)
}

/// Result, mean and inverse deviation of each channel of each element of the batch.
pub(super) fn instance_norm(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = per_channel(ops, bound, 2)?;
    let statistics = normalize::statistics(ops, bound, &normalized)?;
    normalized_channels(ops, bound, &normalized, statistics, dtype)
}

pub(super) fn batch_norm_backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    channels_backward(ops, bound, 0, !bound.flag("training"))
}

pub(super) fn instance_norm_backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    channels_backward(ops, bound, 2, false)
}

/// The result, in the shape of the operand.
pub(super) fn group_norm(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let normalized = grouped(ops, bound, arg)?;
    let statistics = normalize::statistics(ops, bound, &normalized)?;
    let mut result = normalize::standardized(ops, normalized.x, statistics)?;
    for (param, op) in [("weight", ops::ScalarOp::Mul), ("bias", ops::ScalarOp::Add)] {
        if let Some(parameter) = grouped_parameter(ops, bound, param, &normalized)? {
            result = ops.map(op, &[result, parameter])?;
        }
    }
    let result = ops.reshape_to(result, ops.shape(arg))?;
    Ok(vec![ops.cast(result, dtype)?])
}

/// The gradients of operand, weight and bias, from mean and inverse deviation of each group.
pub(super) fn group_norm_backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let (grad, _) = ops.float_tensor(bound, "grad")?;
    let normalized = grouped(ops, bound, arg)?;
    let (own, given) = (ops.shape(arg), ops.shape(grad));
    let mut sizes = own.iter().zip(&given);
    if own.len() != given.len() || !sizes.all(|(own, given)| ops.facts.assume_equal(own, given).is_ok()) {
        let text = |shape: &Shape| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let expected = format!("a tensor with the sizes of `arg`, [{}]", text(&own));
        let given = format!("a tensor of sizes [{}]", text(&given));
        return Err(DefineError { given, ..bound.reject("grad", &expected) });
    }
    let dy = ops.cast(grad, dtype.compute())?;
    let dy = ops.reshape_to(dy, ops.shape(normalized.x))?;
    let mean = Some(normalize::saved(ops, bound, "mean", &normalized)?);
    let statistics = Statistics { mean, scale: normalize::saved(ops, bound, "invstd", &normalized)? };
    let weight = grouped_parameter(ops, bound, "weight", &normalized)?;
    let Gradients { x, weight, bias } =
        normalize::gradients(ops, &normalized, statistics, (dy, weight), false)?;
    let channels: Shape = [ops.shape(arg)[1].clone()].into_iter().collect();
    let gradients = Gradients {
        x: ops.reshape_to(x, ops.shape(arg))?,
        weight: ops.reshape_to(weight, channels.clone())?,
        bias: ops.reshape_to(bias, channels)?,
    };
    normalize::rounded(ops, bound, gradients, dtype)
}

fn channels_backward(
    ops: &mut OpBuilder,
    bound: &Bound,
    first: usize,
    fixed: bool,
) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = per_channel(ops, bound, first)?;
    let (grad, _) = ops.float_tensor(bound, "grad")?;
    let dy = ops.cast(grad, dtype.compute())?;
    let mean = Some(normalize::saved(ops, bound, "mean", &normalized)?);
    let statistics = Statistics { mean, scale: normalize::saved(ops, bound, "invstd", &normalized)? };
    let weight = normalize::parameter(ops, bound, "weight", &normalized)?;
    let gradients = normalize::gradients(ops, &normalized, statistics, (dy, weight), fixed)?;
    normalize::rounded(ops, bound, gradients, dtype)
}

fn normalized_channels(
    ops: &mut OpBuilder,
    bound: &Bound,
    normalized: &Normalized,
    statistics: Statistics,
    dtype: DType,
) -> Result<Vec<Val>, DefineError> {
    let standardized = normalize::standardized(ops, normalized.x, statistics)?;
    let result = normalize::affine(ops, bound, normalized, standardized)?;
    let mut results = vec![ops.cast(result, dtype)?];
    for saved in statistics.mean.into_iter().chain([statistics.scale]) {
        results.push(ops.squeeze_axes(saved, normalized.over.clone())?);
    }
    Ok(results)
}

/// The operand, normalized over all axes from `first` on except that of the channels.
fn per_channel(ops: &mut OpBuilder, bound: &Bound, first: usize) -> Result<(Normalized, DType), DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let rank = ops.graph.shape(arg).len();
    let min = first.max(1) + 1;
    if rank < min {
        return Err(bound.reject("arg", &format!("a tensor of at least {min} dimensions")));
    }
    let over: Axes = (first as u8..rank as u8).filter(|&axis| axis != 1).collect();
    let x = ops.cast(arg, dtype.compute())?;
    Ok((Normalized { x, over, along: Axes::from_slice(&[1]), centred: true }, dtype))
}

/// Mean and inverse deviation from the running statistics.
fn running(ops: &mut OpBuilder, bound: &Bound, normalized: &Normalized) -> Result<Statistics, DefineError> {
    let missing = |param| bound.reject(param, "a tensor of one number a channel, as `training` is False");
    let mean = normalize::parameter(ops, bound, "running_mean", normalized)?;
    let variance = normalize::parameter(ops, bound, "running_var", normalized)?;
    let mean = Some(mean.ok_or_else(|| missing("running_mean"))?);
    let variance = variance.ok_or_else(|| missing("running_var"))?;
    Ok(Statistics { mean, scale: normalize::inverse_root(ops, bound, variance)? })
}

/// The operand with its channels in groups (batch, groups, channels of a group, …), normalized over the last ones.
fn grouped(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Normalized, DefineError> {
    let (shape, groups) = (ops.shape(arg), bound.int("num_groups")?);
    if shape.len() < 2 {
        return Err(bound.reject("arg", "a tensor of at least 2 dimensions"));
    }
    let divides = shape[1].as_const().is_none_or(|channels| groups > 0 && channels % groups == 0);
    if groups < 1 || !divides {
        return Err(bound.reject("num_groups", &format!("a divisor of the {} channels", shape[1])));
    }
    ops.facts.assume_multiple(&shape[1], groups);
    let mut split = shape.clone();
    split[1] = shape[1].floor_div(&Expr::constant(groups));
    split.insert(1, Expr::constant(groups));
    let x = ops.cast(arg, ops.graph.dtype(arg).compute())?;
    let x = ops.reshape_to(x, split)?;
    let over: Axes = (2..shape.len() as u8 + 1).collect();
    Ok(Normalized { x, over, along: Axes::from_slice(&[1, 2]), centred: true })
}

/// A tensor with one number per channel, its axis split like that of the channels.
fn grouped_parameter(
    ops: &mut OpBuilder,
    bound: &Bound,
    param: &str,
    normalized: &Normalized,
) -> Result<Option<Val>, DefineError> {
    let Some(value) = bound.optional_tensor(param) else { return Ok(None) };
    if ops.is_scalar(value) || ops.graph.shape(value.val).len() != 1 {
        return Err(bound.reject(param, "a tensor of one number a channel"));
    }
    let shape = ops.shape(normalized.x);
    let tensor = ops.cast(value.val, ops.graph.dtype(normalized.x))?;
    let split = ops.reshape_to(tensor, shape[1..3].iter().cloned().collect())?;
    normalize::spread(ops, split, &normalized.along, shape.len()).map(Some)
}
