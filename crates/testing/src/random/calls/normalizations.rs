//! Random normalizations, and their gradients with the values that the forward pass saves.

use ops::LanguageOp;

use super::caller::{Arguments, Caller, operands};
use super::folds;
use crate::random::program::{Given, Size, Tensor};

/// The number added to a variance, the default of normalizations.
const EPSILON: f64 = 1e-5;

/// The operand, its axis and the result.
pub(super) fn softmax(caller: &mut Caller<'_>, op: LanguageOp) -> Option<(Tensor, usize, Tensor)> {
    let tensor = caller.floats(1, 5)?;
    let axis = caller.axis(tensor)?;
    let mut arguments = operands([tensor]);
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    Some((tensor, axis, caller.add_language_op(op, arguments, 1)?))
}

pub(super) fn softmax_backward(caller: &mut Caller<'_>, op: LanguageOp, forward: LanguageOp) -> Option<()> {
    let (tensor, axis, result) = softmax(caller, forward)?;
    let mut arguments = operands([caller.alike(tensor), result]);
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    caller.add_language_op(op, arguments, 1).map(drop)
}

pub(super) fn layer_norm(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let tensor = caller.floats(1, 5)?;
    let axis = caller.axis(tensor)?;
    let mut arguments = operands([tensor]);
    arguments.push((Some("normalized_shape"), trailing_sizes(caller, tensor, axis)));
    weights(
        caller,
        &mut arguments,
        tensor,
        if op == LanguageOp::LayerNorm { &["weight", "bias"] } else { &["weight"] },
    );
    epsilon(caller, &mut arguments);
    caller.add_language_op(op, arguments, 1).map(drop)
}

/// Sometimes another number that is added to the variance.
fn epsilon(caller: &mut Caller<'_>, arguments: &mut Arguments) {
    if caller.draws.percent(30) {
        arguments.push((Some("eps"), Given::real(0.125)));
    }
}

fn trailing_sizes(caller: &Caller<'_>, tensor: Tensor, axis: usize) -> Given {
    Given::Sizes((axis..caller.rank(tensor)).map(|axis| caller.own_size(tensor, axis)).collect())
}

/// Tensors that fit the last axes of another, for some of these parameters.
fn weights(caller: &mut Caller<'_>, arguments: &mut Arguments, tensor: Tensor, names: &[&'static str]) {
    let mut others = vec![tensor];
    for name in names {
        let mut fitting = caller.fitting(&others);
        fitting.retain(|&other| caller.rank(other) <= caller.rank(tensor));
        if !fitting.is_empty() && caller.draws.percent(50) {
            let parameter = caller.draws.one_of(&fitting);
            others.push(parameter);
            arguments.push((Some(name), Given::Tensor(parameter)));
        }
    }
}

pub(super) fn layer_norm_backward(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let tensor = caller.floats(1, 5)?;
    let axis = caller.axis(tensor)?;
    let axes: Vec<i64> = (axis as i64..caller.rank(tensor) as i64).collect();
    let mut arguments = operands([caller.alike(tensor), tensor]);
    arguments.push((Some("normalized_shape"), trailing_sizes(caller, tensor, axis)));
    let keep = caller.draws.percent(50);
    let spread = match op {
        LanguageOp::LayerNormBackward => {
            let mean = folds::folded(caller, LanguageOp::Mean, tensor, axes.clone(), keep)?;
            arguments.push((Some("mean"), Given::Tensor(mean)));
            variance(caller, tensor, axes, keep)?
        }
        _ => {
            let squares = caller.add("square", operands([tensor]), 1)?;
            folds::folded(caller, LanguageOp::Mean, squares, axes, keep)?
        }
    };
    arguments.push((Some("invstd"), Given::Tensor(inverse_root(caller, spread)?)));
    weights(caller, &mut arguments, tensor, &["weight"]);
    caller.add_language_op(op, arguments, if op == LanguageOp::LayerNormBackward { 3 } else { 2 }).map(drop)
}

fn variance(caller: &mut Caller<'_>, tensor: Tensor, axes: Vec<i64>, keep: bool) -> Option<Tensor> {
    let mut arguments = operands([tensor]);
    arguments.push((Some("dims"), Given::Numbers(axes)));
    arguments.push((Some("correction"), Given::int(0)));
    arguments.push((Some("keepdim"), Given::flag(keep)));
    caller.add_language_op(LanguageOp::Var, arguments, 1)
}

/// One over the square root of a variance plus a small number.
fn inverse_root(caller: &mut Caller<'_>, variance: Tensor) -> Option<Tensor> {
    let mut arguments = operands([variance]);
    arguments.push((None, Given::real(EPSILON)));
    let sum = caller.add("add", arguments, 1)?;
    caller.add("rsqrt", operands([sum]), 1)
}

/// A tensor with at least as many axes as the normalization requires, and its normalized form, mean and inverse deviation.
pub(super) fn channel_norm(caller: &mut Caller<'_>, op: LanguageOp) -> Option<(Tensor, [Tensor; 3])> {
    let tensor = caller.floats(if op == LanguageOp::BatchNorm { 2 } else { 3 }, 5)?;
    let mut arguments = operands([tensor]);
    for name in ["weight", "bias"] {
        if caller.draws.percent(40) {
            let parameter = of_channels(caller, tensor)?;
            arguments.push((Some(name), Given::Tensor(parameter)));
        }
    }
    if op == LanguageOp::BatchNorm && caller.draws.percent(30) {
        let (mean, axes) = (of_channels(caller, tensor)?, but_channels(caller, tensor));
        let variance = variance(caller, tensor, axes, false)?;
        arguments.push((Some("running_mean"), Given::Tensor(mean)));
        arguments.push((Some("running_var"), Given::Tensor(variance)));
        // Sometimes with the statistics of the batch.
        arguments.push((Some("training"), Given::flag(caller.draws.percent(25))));
    }
    epsilon(caller, &mut arguments);
    let first = caller.add_language_op(op, arguments, 3)?;
    Some((tensor, [0, 1, 2].map(|place| Tensor(first.0 + place))))
}

pub(super) fn channel_norm_backward(
    caller: &mut Caller<'_>,
    op: LanguageOp,
    forward: LanguageOp,
) -> Option<()> {
    let (tensor, [normalized, mean, scale]) = channel_norm(caller, forward)?;
    let grad = if caller.draws.percent(50) { normalized } else { caller.alike(tensor) };
    let mut arguments = operands([grad, tensor, mean, scale]);
    if caller.draws.percent(50) {
        let weight = of_channels(caller, tensor)?;
        arguments.push((Some("weight"), Given::Tensor(weight)));
    }
    if op == LanguageOp::BatchNormBackward && caller.draws.percent(30) {
        arguments.push((Some("training"), Given::flag(false)));
    }
    caller.add_language_op(op, arguments, 3).map(drop)
}

fn but_channels(caller: &Caller<'_>, tensor: Tensor) -> Vec<i64> {
    (0..caller.rank(tensor) as i64).filter(|&axis| axis != 1).collect()
}

/// A tensor with one number per channel.
fn of_channels(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    let channels = caller.sizes_of(tensor)[1];
    let mut fitting = caller.draft.tensors();
    fitting.retain(|&other| caller.sizes_of(other) == [channels] && caller.draft.dtype(other).is_float());
    if !fitting.is_empty() && caller.draws.percent(50) {
        return Some(caller.draws.one_of(&fitting));
    }
    let axes = but_channels(caller, tensor);
    folds::folded(caller, LanguageOp::Max, tensor, axes, false)
}

/// A tensor of at least two axes and the number of groups of its channels.
fn groups(caller: &mut Caller<'_>) -> Option<(Tensor, usize)> {
    let tensor = caller.floats(2, 4)?;
    let channels = caller.sizes_of(tensor)[1];
    let divisors: Vec<usize> = (1..=channels.max(1)).filter(|n| channels.is_multiple_of(*n)).collect();
    Some((tensor, caller.draws.one_of(&divisors)))
}

pub(super) fn group_norm(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, groups) = groups(caller)?;
    let mut arguments = operands([tensor]);
    arguments.push((Some("num_groups"), Given::int(groups as i64)));
    for name in ["weight", "bias"] {
        if caller.draws.percent(40) {
            let parameter = of_channels(caller, tensor)?;
            arguments.push((Some(name), Given::Tensor(parameter)));
        }
    }
    epsilon(caller, &mut arguments);
    caller.add_language_op(LanguageOp::GroupNorm, arguments, 1).map(drop)
}

pub(super) fn group_norm_backward(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, groups) = groups(caller)?;
    let mut shape: Vec<Size> = (0..caller.rank(tensor)).map(|axis| caller.own_size(tensor, axis)).collect();
    let each = match shape[1] {
        Size::Number(channels) => Size::Number(channels / groups as i64),
        _ => Size::Number(-1),
    };
    shape.splice(1..2, [Size::Number(groups as i64), each]);
    let axes: Vec<i64> = (2..shape.len() as i64).collect();
    let mut arguments = operands([tensor]);
    arguments.push((Some("new_shape"), Given::Sizes(shape)));
    let grouped = caller.add_language_op(LanguageOp::Reshape, arguments, 1)?;
    let mean = folds::folded(caller, LanguageOp::Mean, grouped, axes.clone(), false)?;
    let variance = variance(caller, grouped, axes, false)?;
    let scale = inverse_root(caller, variance)?;
    let mut arguments = operands([caller.alike(tensor), tensor]);
    arguments.push((Some("num_groups"), Given::int(groups as i64)));
    arguments.push((Some("mean"), Given::Tensor(mean)));
    arguments.push((Some("invstd"), Given::Tensor(scale)));
    if caller.draws.percent(50) {
        let weight = of_channels(caller, tensor)?;
        arguments.push((Some("weight"), Given::Tensor(weight)));
    }
    caller.add_language_op(LanguageOp::GroupNormBackward, arguments, 3).map(drop)
}
