//! What all normalizations share: elements less their mean, over their deviation, both over some axes; then a weight and
//! a bias along others. And the gradient of all that.

use ir::graph::{Axes, Val};
use ops::{Monoid, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;

/// A tensor that is normalized, in its compute dtype, and along which axes what happens.
#[derive(Clone, Debug)]
pub(super) struct Normalized {
    /// The tensor.
    pub x: Val,
    /// The axes over which mean and deviation are taken.
    pub over: Axes,
    /// The axes that weight and bias have.
    pub along: Axes,
    /// Whether the mean is subtracted; if not, the deviation is from zero.
    pub centred: bool,
}

/// What a forward normalization saves; axes that were reduced have size 1. Nothing is subtracted where there is no mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statistics {
    pub mean: Option<Val>,
    /// One over the deviation.
    pub scale: Val,
}

/// Gradients of the operands; those of weight and bias have the axes that these have.
pub(super) struct Gradients {
    pub x: Val,
    pub weight: Val,
    pub bias: Val,
}

impl DefinitionBuilder {
    /// Mean and inverse deviation, with `eps` added to the variance.
    pub(super) fn statistics(
        &mut self,
        bound: &Bound,
        normalized: &Normalized,
    ) -> Result<Statistics, DefineError> {
        let Normalized { x, over, .. } = normalized;
        let count = self.divisor(*x, over, 0)?;
        let (mean, squares) = if normalized.centred {
            let moments = self.welford(*x, over.clone(), true)?;
            (Some(moments.mean), moments.m2)
        } else {
            let squares = self.map(ScalarOp::Mul, &[*x, *x])?;
            (None, self.fold(Monoid::Sum, squares, over.clone(), true)?)
        };
        let variance = self.map(ScalarOp::Div, &[squares, count])?;
        Ok(Statistics { mean, scale: self.inverse_root(bound, variance)? })
    }

    /// `(x - mean) scale`.
    pub(super) fn standardized(&mut self, x: Val, statistics: Statistics) -> Result<Val, DefineError> {
        let centred = match statistics.mean {
            Some(mean) => self.map(ScalarOp::Sub, &[x, mean])?,
            None => x,
        };
        self.map(ScalarOp::Mul, &[centred, statistics.scale])
    }

    /// A tensor of a normalization's parameters, if it is given, in the dtype of `like` and with its axes.
    pub(super) fn parameter(
        &mut self,
        bound: &Bound,
        param: &str,
        normalized: &Normalized,
    ) -> Result<Option<Val>, DefineError> {
        let Some(value) = bound.optional_tensor(param) else { return Ok(None) };
        let (shape, rank) = (self.shape(normalized.x), self.graph.shape(value.val).len());
        if self.is_scalar(value) || rank > normalized.along.len() {
            let sizes: Vec<String> =
                normalized.along.iter().map(|&axis| shape[axis as usize].to_string()).collect();
            return Err(bound.reject(param, &format!("a tensor of shape [{}]", sizes.join(", "))));
        }
        let tensor = self.cast(value.val, self.graph.dtype(normalized.x))?;
        let has = &normalized.along[normalized.along.len() - rank..];
        self.spread(tensor, has, shape.len()).map(Some)
    }

    /// A tensor with the axes `has` of a rank, and the others of size 1.
    pub(super) fn spread(&mut self, tensor: Val, has: &[u8], rank: usize) -> Result<Val, DefineError> {
        if has.len() == rank {
            return Ok(tensor);
        }
        let new = (0..rank).map(|axis| !has.contains(&(axis as u8))).collect();
        self.add(ir::graph::TensorOp::Broadcast(new), &[tensor])
    }

    /// The sum over the axes that a parameter does not have.
    fn sum_onto(&mut self, val: Val, along: &[u8]) -> Result<Val, DefineError> {
        let rank = self.graph.shape(val).len() as u8;
        let over: Axes = (0..rank).filter(|axis| !along.contains(axis)).collect();
        if over.is_empty() { Ok(val) } else { self.fold(Monoid::Sum, val, over, false) }
    }

    /// The mean over the normalized axes, which stay with size 1.
    fn mean_over(&mut self, val: Val, over: &Axes) -> Result<Val, DefineError> {
        let count = self.divisor(val, over, 0)?;
        let sum = self.fold(Monoid::Sum, val, over.clone(), true)?;
        self.map(ScalarOp::Div, &[sum, count])
    }

    /// The gradients for the gradient of the result, all in the compute dtype: with `n` the standardized elements and
    /// `g = dy weight`, that of `x` is `scale (g - mean(g) - n mean(g n))`. The statistics' own gradients are in it; where
    /// they are `fixed`, it is `scale g`.
    pub(super) fn gradients(
        &mut self,
        normalized: &Normalized,
        statistics: Statistics,
        (dy, weight): (Val, Option<Val>),
        fixed: bool,
    ) -> Result<Gradients, DefineError> {
        let Normalized { x, over, along, .. } = normalized;
        let n = self.standardized(*x, statistics)?;
        let product = self.map(ScalarOp::Mul, &[dy, n])?;
        // A weight that does not vary where means are taken comes out of them, which then are those of the parameters.
        let outside = along.iter().all(|axis| !over.contains(axis));
        let (inner, outer) = if outside { (None, weight) } else { (weight, None) };
        let g = self.times(dy, inner)?;
        let dx = if fixed { g } else { self.without_drift(normalized, g, n)? };
        let dx = self.map(ScalarOp::Mul, &[dx, statistics.scale])?;
        Ok(Gradients {
            x: self.times(dx, outer)?,
            weight: self.sum_onto(product, along)?,
            bias: self.sum_onto(dy, along)?,
        })
    }

    /// `g - mean(g) - n mean(g n)`; the first mean only where one was subtracted.
    fn without_drift(&mut self, normalized: &Normalized, g: Val, n: Val) -> Result<Val, DefineError> {
        let product = self.map(ScalarOp::Mul, &[g, n])?;
        let slope = self.mean_over(product, &normalized.over)?;
        let along = self.map(ScalarOp::Mul, &[n, slope])?;
        let centred = if normalized.centred {
            let mean = self.mean_over(g, &normalized.over)?;
            self.map(ScalarOp::Sub, &[g, mean])?
        } else {
            g
        };
        self.map(ScalarOp::Sub, &[centred, along])
    }

    fn times(&mut self, x: Val, factor: Option<Val>) -> Result<Val, DefineError> {
        factor.map_or(Ok(x), |factor| self.map(ScalarOp::Mul, &[x, factor]))
    }

    /// Times weight plus bias, where they are given.
    pub(super) fn affine(
        &mut self,
        bound: &Bound,
        normalized: &Normalized,
        standardized: Val,
    ) -> Result<Val, DefineError> {
        let mut result = standardized;
        for (param, op) in [("weight", ScalarOp::Mul), ("bias", ScalarOp::Add)] {
            if let Some(parameter) = self.parameter(bound, param, normalized)? {
                result = self.map(op, &[result, parameter])?;
            }
        }
        Ok(result)
    }
}
