//! Mean and standard deviation of half types too, which `var_mean` leaves to the caller.

use ir::graph::{Axes, Val};
use ops::{Monoid, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;

impl DefinitionBuilder {
    pub(super) fn mean(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let axes = self.averaged(bound, arg)?;
        let x = self.cast(arg, dtype.compute())?;
        let count = self.divisor(x, &axes, 0)?;
        let sum = self.fold(Monoid::Sum, x, axes, bound.flag("keepdim"))?;
        let mean = self.map(ScalarOp::Div, &[sum, count])?;
        Ok(vec![self.cast(mean, dtype)?])
    }

    pub(super) fn standard_deviation(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let axes = self.averaged(bound, arg)?;
        let x = self.cast(arg, dtype.compute())?;
        let divisor = self.divisor(x, &axes, bound.int("correction")?)?;
        let moments = self.welford(x, axes, bound.flag("keepdim"))?;
        let variance = self.map(ScalarOp::Div, &[moments.m2, divisor])?;
        let deviation = self.map(ScalarOp::Sqrt, &[variance])?;
        Ok(vec![self.cast(deviation, dtype)?])
    }

    /// The axes that are named, or all.
    fn averaged(&self, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
        let rank = self.graph.shape(arg).len();
        let axes = bound.axes("dims", rank)?.unwrap_or_else(|| (0..rank as u8).collect());
        if axes.is_empty() && rank > 0 {
            Err(bound.reject("dims", "a list of at least one axis"))
        } else {
            Ok(axes)
        }
    }
}
