//! Mean and standard deviation, also of half types, for which callers of `var_mean` have to cast.

use ir::graph::{Axes, Val};
use ops::{Monoid, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;
use crate::define::families::folds;

pub(super) fn mean(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let axes = averaged(ops, bound, arg)?;
    let x = ops.cast(arg, dtype.compute())?;
    let count = folds::divisor(ops, x, &axes, 0)?;
    let sum = folds::fold(ops, Monoid::Sum, x, axes, bound.flag("keepdim"))?;
    let mean = ops.map(ScalarOp::Div, &[sum, count])?;
    Ok(vec![ops.cast(mean, dtype)?])
}

pub(super) fn standard_deviation(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let axes = averaged(ops, bound, arg)?;
    let x = ops.cast(arg, dtype.compute())?;
    let divisor = folds::divisor(ops, x, &axes, bound.int("correction")?)?;
    let moments = folds::welford(ops, x, axes, bound.flag("keepdim"))?;
    let variance = ops.map(ScalarOp::Div, &[moments.m2, divisor])?;
    let deviation = ops.map(ScalarOp::Sqrt, &[variance])?;
    Ok(vec![ops.cast(deviation, dtype)?])
}

/// The named axes, or all.
fn averaged(ops: &OpBuilder, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
    let rank = ops.graph.shape(arg).len();
    let axes = bound.axes("dims", rank)?.unwrap_or_else(|| (0..rank as u8).collect());
    if axes.is_empty() && rank > 0 {
        Err(bound.reject("dims", "a list of at least one axis"))
    } else {
        Ok(axes)
    }
}
