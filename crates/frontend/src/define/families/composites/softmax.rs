//! Softmax and its logarithm along one axis, and their gradients.

use ir::graph::{Axes, Val};
use ops::{Monoid, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;
use crate::define::families::folds;

/// `exp(x - max)` divided by its sum along an axis; its logarithm if `log`.
pub(super) fn forward(ops: &mut OpBuilder, bound: &Bound, log: bool) -> Result<Vec<Val>, DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let axes = axis(ops, bound, arg)?;
    let x = ops.cast(arg, dtype.compute())?;
    let max = folds::fold(ops, Monoid::Max, x, axes.clone(), true)?;
    let shifted = ops.map(ScalarOp::Sub, &[x, max])?;
    let powers = ops.map(ScalarOp::Exp, &[shifted])?;
    let sum = folds::fold(ops, Monoid::Sum, powers, axes, true)?;
    let result = if log {
        let logarithm = ops.map(ScalarOp::Log, &[sum])?;
        ops.map(ScalarOp::Sub, &[shifted, logarithm])?
    } else {
        ops.map(ScalarOp::Div, &[powers, sum])?
    };
    Ok(vec![ops.cast(result, dtype)?])
}

/// From the gradient of the result and the result: `y (dy - sum(dy y))`, or for the logarithm `dy - exp(y) sum(dy)`.
pub(super) fn backward(ops: &mut OpBuilder, bound: &Bound, log: bool) -> Result<Vec<Val>, DefineError> {
    let (result, dtype) = ops.float_tensor(bound, "output")?;
    let (grad, _) = ops.float_tensor(bound, "grad")?;
    let axes = axis(ops, bound, result)?;
    let compute = dtype.compute();
    let (y, dy) = (ops.cast(result, compute)?, ops.cast(grad, compute)?);
    let weighted = if log { dy } else { ops.map(ScalarOp::Mul, &[dy, y])? };
    let sum = folds::fold(ops, Monoid::Sum, weighted, axes, true)?;
    let slope = if log { ops.map(ScalarOp::Exp, &[y])? } else { y };
    let drift = ops.map(ScalarOp::Mul, &[slope, sum])?;
    let dx = ops.map(ScalarOp::Sub, &[weighted, drift])?;
    Ok(vec![ops.cast(dx, dtype)?])
}

fn axis(ops: &OpBuilder, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    Ok(Axes::from_slice(&[axis as u8]))
}
