//! Normalizations drawn, and their gradients with what the way forward saves.

use ops::LanguageOp;

use super::{Caller, operands};
use crate::random::program::{Given, Size, Tensor};

/// What is added to a variance, as normalizations do by themselves.
const EPSILON: f64 = 1e-5;

impl Caller<'_> {
    /// The operand, its axis and the result.
    pub(super) fn softmax(&mut self, op: LanguageOp) -> Option<(Tensor, usize, Tensor)> {
        let tensor = self.floats(1, 5)?;
        let axis = self.axis(tensor)?;
        let mut arguments = operands([tensor]);
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        Some((tensor, axis, self.add_language_op(op, arguments, 1)?))
    }

    pub(super) fn softmax_backward(&mut self, op: LanguageOp, forward: LanguageOp) -> Option<()> {
        let (tensor, axis, result) = self.softmax(forward)?;
        let mut arguments = operands([self.alike(tensor), result]);
        arguments.push((Some("dim"), self.dim(tensor, axis)));
        self.add_language_op(op, arguments, 1).map(drop)
    }

    pub(super) fn layer_norm(&mut self, op: LanguageOp) -> Option<()> {
        let tensor = self.floats(1, 5)?;
        let axis = self.axis(tensor)?;
        let mut arguments = operands([tensor]);
        arguments.push((Some("normalized_shape"), self.trailing_sizes(tensor, axis)));
        self.weights(
            &mut arguments,
            tensor,
            if op == LanguageOp::LayerNorm { &["weight", "bias"] } else { &["weight"] },
        );
        self.epsilon(&mut arguments);
        self.add_language_op(op, arguments, 1).map(drop)
    }

    /// Now and then another number for what is added to the variance.
    fn epsilon(&mut self, arguments: &mut super::Arguments) {
        if self.draws.percent(30) {
            arguments.push((Some("eps"), Given::real(0.125)));
        }
    }

    fn trailing_sizes(&self, tensor: Tensor, axis: usize) -> Given {
        Given::Sizes((axis..self.rank(tensor)).map(|axis| self.own_size(tensor, axis)).collect())
    }

    /// Tensors that fit the last axes of another, some of them.
    fn weights(&mut self, arguments: &mut super::Arguments, tensor: Tensor, names: &[&'static str]) {
        let mut others = vec![tensor];
        for name in names {
            let mut fitting = self.fitting(&others);
            fitting.retain(|&other| self.rank(other) <= self.rank(tensor));
            if !fitting.is_empty() && self.draws.percent(50) {
                let parameter = self.draws.one_of(&fitting);
                others.push(parameter);
                arguments.push((Some(name), Given::Tensor(parameter)));
            }
        }
    }

    pub(super) fn layer_norm_backward(&mut self, op: LanguageOp) -> Option<()> {
        let tensor = self.floats(1, 5)?;
        let axis = self.axis(tensor)?;
        let axes: Vec<i64> = (axis as i64..self.rank(tensor) as i64).collect();
        let mut arguments = operands([self.alike(tensor), tensor]);
        arguments.push((Some("normalized_shape"), self.trailing_sizes(tensor, axis)));
        let keep = self.draws.percent(50);
        let spread = match op {
            LanguageOp::LayerNormBackward => {
                let mean = self.folded(LanguageOp::Mean, tensor, axes.clone(), keep)?;
                arguments.push((Some("mean"), Given::Tensor(mean)));
                self.variance(tensor, axes, keep)?
            }
            _ => {
                let squares = self.add("square", operands([tensor]), 1)?;
                self.folded(LanguageOp::Mean, squares, axes, keep)?
            }
        };
        arguments.push((Some("invstd"), Given::Tensor(self.inverse_root(spread)?)));
        self.weights(&mut arguments, tensor, &["weight"]);
        self.add_language_op(op, arguments, if op == LanguageOp::LayerNormBackward { 3 } else { 2 }).map(drop)
    }

    fn variance(&mut self, tensor: Tensor, axes: Vec<i64>, keep: bool) -> Option<Tensor> {
        let mut arguments = operands([tensor]);
        arguments.push((Some("dims"), Given::Numbers(axes)));
        arguments.push((Some("correction"), Given::int(0)));
        arguments.push((Some("keepdim"), Given::flag(keep)));
        self.add_language_op(LanguageOp::Var, arguments, 1)
    }

    /// One over the square root of a variance and a little.
    fn inverse_root(&mut self, variance: Tensor) -> Option<Tensor> {
        let mut arguments = operands([variance]);
        arguments.push((None, Given::real(EPSILON)));
        let sum = self.add("add", arguments, 1)?;
        self.add("rsqrt", operands([sum]), 1)
    }

    /// A tensor of at least as many axes as the normalization takes, and its normalized form, mean and inverse deviation.
    pub(super) fn channel_norm(&mut self, op: LanguageOp) -> Option<(Tensor, [Tensor; 3])> {
        let tensor = self.floats(if op == LanguageOp::BatchNorm { 2 } else { 3 }, 5)?;
        let mut arguments = operands([tensor]);
        for name in ["weight", "bias"] {
            if self.draws.percent(40) {
                let parameter = self.of_channels(tensor)?;
                arguments.push((Some(name), Given::Tensor(parameter)));
            }
        }
        if op == LanguageOp::BatchNorm && self.draws.percent(30) {
            let (mean, axes) = (self.of_channels(tensor)?, self.but_channels(tensor));
            let variance = self.variance(tensor, axes, false)?;
            arguments.push((Some("running_mean"), Given::Tensor(mean)));
            arguments.push((Some("running_var"), Given::Tensor(variance)));
            // Of the batch after all, now and then.
            arguments.push((Some("training"), Given::flag(self.draws.percent(25))));
        }
        self.epsilon(&mut arguments);
        let first = self.add_language_op(op, arguments, 3)?;
        Some((tensor, [0, 1, 2].map(|place| Tensor(first.0 + place))))
    }

    pub(super) fn channel_norm_backward(&mut self, op: LanguageOp, forward: LanguageOp) -> Option<()> {
        let (tensor, [normalized, mean, scale]) = self.channel_norm(forward)?;
        let grad = if self.draws.percent(50) { normalized } else { self.alike(tensor) };
        let mut arguments = operands([grad, tensor, mean, scale]);
        if self.draws.percent(50) {
            let weight = self.of_channels(tensor)?;
            arguments.push((Some("weight"), Given::Tensor(weight)));
        }
        if op == LanguageOp::BatchNormBackward && self.draws.percent(30) {
            arguments.push((Some("training"), Given::flag(false)));
        }
        self.add_language_op(op, arguments, 3).map(drop)
    }

    fn but_channels(&self, tensor: Tensor) -> Vec<i64> {
        (0..self.rank(tensor) as i64).filter(|&axis| axis != 1).collect()
    }

    /// A tensor of one number a channel.
    fn of_channels(&mut self, tensor: Tensor) -> Option<Tensor> {
        let channels = self.sizes_of(tensor)[1];
        let mut fitting = self.draft.tensors();
        fitting.retain(|&other| self.sizes_of(other) == [channels] && self.draft.dtype(other).is_float());
        if !fitting.is_empty() && self.draws.percent(50) {
            return Some(self.draws.one_of(&fitting));
        }
        let axes = self.but_channels(tensor);
        self.folded(LanguageOp::Max, tensor, axes, false)
    }

    /// A tensor of at least two axes and into how many groups its channels go.
    fn groups(&mut self) -> Option<(Tensor, usize)> {
        let tensor = self.floats(2, 4)?;
        let channels = self.sizes_of(tensor)[1];
        let divisors: Vec<usize> = (1..=channels.max(1)).filter(|n| channels.is_multiple_of(*n)).collect();
        Some((tensor, self.draws.one_of(&divisors)))
    }

    pub(super) fn group_norm(&mut self) -> Option<()> {
        let (tensor, groups) = self.groups()?;
        let mut arguments = operands([tensor]);
        arguments.push((Some("num_groups"), Given::int(groups as i64)));
        for name in ["weight", "bias"] {
            if self.draws.percent(40) {
                let parameter = self.of_channels(tensor)?;
                arguments.push((Some(name), Given::Tensor(parameter)));
            }
        }
        self.epsilon(&mut arguments);
        self.add_language_op(LanguageOp::GroupNorm, arguments, 1).map(drop)
    }

    pub(super) fn group_norm_backward(&mut self) -> Option<()> {
        let (tensor, groups) = self.groups()?;
        let mut shape: Vec<Size> = (0..self.rank(tensor)).map(|axis| self.own_size(tensor, axis)).collect();
        let each = match shape[1] {
            Size::Number(channels) => Size::Number(channels / groups as i64),
            _ => Size::Number(-1),
        };
        shape.splice(1..2, [Size::Number(groups as i64), each]);
        let axes: Vec<i64> = (2..shape.len() as i64).collect();
        let mut arguments = operands([tensor]);
        arguments.push((Some("new_shape"), Given::Sizes(shape)));
        let grouped = self.add_language_op(LanguageOp::Reshape, arguments, 1)?;
        let mean = self.folded(LanguageOp::Mean, grouped, axes.clone(), false)?;
        let variance = self.variance(grouped, axes, false)?;
        let scale = self.inverse_root(variance)?;
        let mut arguments = operands([self.alike(tensor), tensor]);
        arguments.push((Some("num_groups"), Given::int(groups as i64)));
        arguments.push((Some("mean"), Given::Tensor(mean)));
        arguments.push((Some("invstd"), Given::Tensor(scale)));
        if self.draws.percent(50) {
            let weight = self.of_channels(tensor)?;
            arguments.push((Some("weight"), Given::Tensor(weight)));
        }
        self.add_language_op(LanguageOp::GroupNormBackward, arguments, 3).map(drop)
    }
}
