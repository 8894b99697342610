//! Softmax and its logarithm along one axis, and their gradients.

use ir::graph::{Axes, Val};
use ops::{Monoid, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;

impl DefinitionBuilder {
    /// `exp(x - max)` over its sum along an axis; its logarithm if `log`.
    pub(super) fn softmax(&mut self, bound: &Bound, log: bool) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let axes = self.softmax_axis(bound, arg)?;
        let x = self.cast(arg, dtype.compute())?;
        let max = self.fold(Monoid::Max, x, axes.clone(), true)?;
        let shifted = self.map(ScalarOp::Sub, &[x, max])?;
        let powers = self.map(ScalarOp::Exp, &[shifted])?;
        let sum = self.fold(Monoid::Sum, powers, axes, true)?;
        let result = if log {
            let logarithm = self.map(ScalarOp::Log, &[sum])?;
            self.map(ScalarOp::Sub, &[shifted, logarithm])?
        } else {
            self.map(ScalarOp::Div, &[powers, sum])?
        };
        Ok(vec![self.cast(result, dtype)?])
    }

    /// From the gradient of the result and the result: `y (dy - sum(dy y))`, or `dy - exp(y) sum(dy)` of the logarithm.
    pub(super) fn softmax_backward(&mut self, bound: &Bound, log: bool) -> Result<Vec<Val>, DefineError> {
        let (result, dtype) = self.float_tensor(bound, "output")?;
        let (grad, _) = self.float_tensor(bound, "grad")?;
        let axes = self.softmax_axis(bound, result)?;
        let compute = dtype.compute();
        let (y, dy) = (self.cast(result, compute)?, self.cast(grad, compute)?);
        let weighted = if log { dy } else { self.map(ScalarOp::Mul, &[dy, y])? };
        let sum = self.fold(Monoid::Sum, weighted, axes, true)?;
        let slope = if log { self.map(ScalarOp::Exp, &[y])? } else { y };
        let drift = self.map(ScalarOp::Mul, &[slope, sum])?;
        let dx = self.map(ScalarOp::Sub, &[weighted, drift])?;
        Ok(vec![self.cast(dx, dtype)?])
    }

    fn softmax_axis(&self, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        Ok(Axes::from_slice(&[axis as u8]))
    }
}
