//! Normalizations of tensors (batch, channels, …): over batch and space (batch_norm), over space (instance_norm), over
//! space and groups of channels (group_norm), and their gradients. Weights and biases are per channel.

use index::Expr;
use ir::graph::{Axes, Shape, Val};
use ops::DType;

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::normalize::{Gradients, Normalized, Statistics};

impl DefinitionBuilder {
    /// Result, mean and inverse deviation; not in training, the running ones are taken.
    pub(super) fn batch_norm(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.per_channel(bound, 0)?;
        let statistics = match bound.flag("training") {
            true => self.statistics(bound, &normalized)?,
            false => self.running(bound, &normalized)?,
        };
        self.normalized_channels(bound, &normalized, statistics, dtype)
    }

    /// Result, mean and inverse deviation of each channel of each element of the batch.
    pub(super) fn instance_norm(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.per_channel(bound, 2)?;
        let statistics = self.statistics(bound, &normalized)?;
        self.normalized_channels(bound, &normalized, statistics, dtype)
    }

    pub(super) fn batch_norm_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        self.channels_backward(bound, 0, !bound.flag("training"))
    }

    pub(super) fn instance_norm_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        self.channels_backward(bound, 2, false)
    }

    /// The result, in the shape of the operand.
    pub(super) fn group_norm(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let normalized = self.grouped(bound, arg)?;
        let statistics = self.statistics(bound, &normalized)?;
        let mut result = self.standardized(normalized.x, statistics)?;
        for (param, op) in [("weight", ops::ScalarOp::Mul), ("bias", ops::ScalarOp::Add)] {
            if let Some(parameter) = self.grouped_parameter(bound, param, &normalized)? {
                result = self.map(op, &[result, parameter])?;
            }
        }
        let result = self.reshape_to(result, self.shape(arg))?;
        Ok(vec![self.cast(result, dtype)?])
    }

    /// The gradients of operand, weight and bias, from mean and inverse deviation of each group.
    pub(super) fn group_norm_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let (grad, _) = self.float_tensor(bound, "grad")?;
        let normalized = self.grouped(bound, arg)?;
        let dy = self.cast(grad, dtype.compute())?;
        let dy = self.reshape_to(dy, self.shape(normalized.x))?;
        let mean = Some(self.saved(bound, "mean", &normalized)?);
        let statistics = Statistics { mean, scale: self.saved(bound, "invstd", &normalized)? };
        let weight = self.grouped_parameter(bound, "weight", &normalized)?;
        let Gradients { x, weight, bias } = self.gradients(&normalized, statistics, (dy, weight), false)?;
        let channels: Shape = [self.shape(arg)[1].clone()].into_iter().collect();
        let gradients = Gradients {
            x: self.reshape_to(x, self.shape(arg))?,
            weight: self.reshape_to(weight, channels.clone())?,
            bias: self.reshape_to(bias, channels)?,
        };
        self.rounded(bound, gradients, dtype)
    }

    fn channels_backward(
        &mut self,
        bound: &Bound,
        first: usize,
        fixed: bool,
    ) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.per_channel(bound, first)?;
        let (grad, _) = self.float_tensor(bound, "grad")?;
        let dy = self.cast(grad, dtype.compute())?;
        let mean = Some(self.saved(bound, "mean", &normalized)?);
        let statistics = Statistics { mean, scale: self.saved(bound, "invstd", &normalized)? };
        let weight = self.parameter(bound, "weight", &normalized)?;
        let gradients = self.gradients(&normalized, statistics, (dy, weight), fixed)?;
        self.rounded(bound, gradients, dtype)
    }

    fn normalized_channels(
        &mut self,
        bound: &Bound,
        normalized: &Normalized,
        statistics: Statistics,
        dtype: DType,
    ) -> Result<Vec<Val>, DefineError> {
        let standardized = self.standardized(normalized.x, statistics)?;
        let result = self.affine(bound, normalized, standardized)?;
        let mut results = vec![self.cast(result, dtype)?];
        for saved in statistics.mean.into_iter().chain([statistics.scale]) {
            results.push(self.squeeze_axes(saved, normalized.over.clone())?);
        }
        Ok(results)
    }

    /// The operand, normalized over all axes from `first` on but the channels'.
    fn per_channel(&mut self, bound: &Bound, first: usize) -> Result<(Normalized, DType), DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let rank = self.graph.shape(arg).len();
        let min = first.max(1) + 1;
        if rank < min {
            return Err(bound.reject("arg", &format!("a tensor of at least {min} dimensions")));
        }
        let over: Axes = (first as u8..rank as u8).filter(|&axis| axis != 1).collect();
        let x = self.cast(arg, dtype.compute())?;
        Ok((Normalized { x, over, along: Axes::from_slice(&[1]), centred: true }, dtype))
    }

    /// Mean and inverse deviation from the running ones.
    fn running(&mut self, bound: &Bound, normalized: &Normalized) -> Result<Statistics, DefineError> {
        let missing = |param| bound.reject(param, "a tensor of one number a channel, as `training` is False");
        let mean = self.parameter(bound, "running_mean", normalized)?;
        let variance = self.parameter(bound, "running_var", normalized)?;
        let mean = Some(mean.ok_or_else(|| missing("running_mean"))?);
        let variance = variance.ok_or_else(|| missing("running_var"))?;
        Ok(Statistics { mean, scale: self.inverse_root(bound, variance)? })
    }

    /// The operand with its channels in groups (batch, groups, channels of a group, …), normalized over the last ones.
    fn grouped(&mut self, bound: &Bound, arg: Val) -> Result<Normalized, DefineError> {
        let (shape, groups) = (self.shape(arg), bound.int("num_groups")?);
        if shape.len() < 2 {
            return Err(bound.reject("arg", "a tensor of at least 2 dimensions"));
        }
        let divides = shape[1].as_const().is_none_or(|channels| groups > 0 && channels % groups == 0);
        if groups < 1 || !divides {
            return Err(bound.reject("num_groups", &format!("a divisor of the {} channels", shape[1])));
        }
        self.facts.assume_multiple(&shape[1], groups);
        let mut split = shape.clone();
        split[1] = shape[1].floor_div(&Expr::constant(groups));
        split.insert(1, Expr::constant(groups));
        let x = self.cast(arg, self.graph.dtype(arg).compute())?;
        let x = self.reshape_to(x, split)?;
        let over: Axes = (2..shape.len() as u8 + 1).collect();
        Ok(Normalized { x, over, along: Axes::from_slice(&[1, 2]), centred: true })
    }

    /// A tensor of one number a channel, its axis split as the channels are.
    fn grouped_parameter(
        &mut self,
        bound: &Bound,
        param: &str,
        normalized: &Normalized,
    ) -> Result<Option<Val>, DefineError> {
        let Some(value) = bound.optional_tensor(param) else { return Ok(None) };
        if self.is_scalar(value) || self.graph.shape(value.val).len() != 1 {
            return Err(bound.reject(param, "a tensor of one number a channel"));
        }
        let shape = self.shape(normalized.x);
        let tensor = self.cast(value.val, self.graph.dtype(normalized.x))?;
        let split = self.reshape_to(tensor, shape[1..3].iter().cloned().collect())?;
        self.spread(split, &normalized.along, shape.len()).map(Some)
    }

    /// A mean or an inverse deviation that was saved, with or without the axes over which it was taken.
    pub(super) fn saved(
        &mut self,
        bound: &Bound,
        param: &str,
        normalized: &Normalized,
    ) -> Result<Val, DefineError> {
        let value = bound.tensor(param)?;
        let rank = self.graph.shape(normalized.x).len();
        let kept: Axes = (0..rank as u8).filter(|axis| !normalized.over.contains(axis)).collect();
        let has = self.graph.shape(value.val).len();
        let tensor = self.cast(value.val, self.graph.dtype(normalized.x))?;
        match has {
            _ if has == rank => Ok(tensor),
            _ if has == kept.len() => self.spread(tensor, &kept, rank),
            _ => Err(bound.reject(param, &format!("a tensor of {} or {rank} dimensions", kept.len()))),
        }
    }

    /// The gradients in the dtypes of what they are gradients of; of an absent weight or bias in the operand's.
    pub(super) fn rounded(
        &mut self,
        bound: &Bound,
        gradients: Gradients,
        dtype: DType,
    ) -> Result<Vec<Val>, DefineError> {
        let weight = bound.optional_tensor("weight").map_or(dtype, |value| self.graph.dtype(value.val));
        let Gradients { x, weight: of_weight, bias } = gradients;
        Ok(vec![self.cast(x, dtype)?, self.cast(of_weight, weight)?, self.cast(bias, weight)?])
    }
}
