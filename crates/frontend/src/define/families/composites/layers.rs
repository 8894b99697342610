//! Normalizations over the trailing dimensions: layer_norm and rms_norm, and their gradients.

use ir::graph::{Axes, Val};
use ops::{DType, ScalarOp};

use super::normalize::{self, Normalized, Statistics};
use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

pub(super) fn layer_norm(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = trailing(ops, bound, true)?;
    let statistics = normalize::statistics(ops, bound, &normalized)?;
    let standardized = normalize::standardized(ops, normalized.x, statistics)?;
    let result = normalize::affine(ops, bound, &normalized, standardized)?;
    Ok(vec![ops.cast(result, dtype)?])
}

pub(super) fn rms_norm(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = trailing(ops, bound, false)?;
    let statistics = normalize::statistics(ops, bound, &normalized)?;
    let scaled = normalize::standardized(ops, normalized.x, statistics)?;
    let weight = normalize::parameter(ops, bound, "weight", &normalized)?;
    let result = match weight {
        Some(weight) => ops.map(ScalarOp::Mul, &[scaled, weight])?,
        None => scaled,
    };
    Ok(vec![ops.cast(result, dtype)?])
}

/// The gradients of operand, weight and bias.
pub(super) fn layer_norm_backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    trailing_backward(ops, bound, true)
}

/// The gradients of operand and weight.
pub(super) fn rms_norm_backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let mut gradients = trailing_backward(ops, bound, false)?;
    gradients.truncate(2);
    Ok(gradients)
}

fn trailing_backward(ops: &mut OpBuilder, bound: &Bound, centred: bool) -> Result<Vec<Val>, DefineError> {
    let (normalized, dtype) = trailing(ops, bound, centred)?;
    let (grad, _) = ops.float_tensor(bound, "grad")?;
    let dy = ops.cast(grad, dtype.compute())?;
    let mean = if centred { Some(normalize::saved(ops, bound, "mean", &normalized)?) } else { None };
    let statistics = Statistics { mean, scale: normalize::saved(ops, bound, "invstd", &normalized)? };
    let weight = normalize::parameter(ops, bound, "weight", &normalized)?;
    let gradients = normalize::gradients(ops, &normalized, statistics, (dy, weight), false)?;
    normalize::rounded(ops, bound, gradients, dtype)
}

/// The operand and the axes of `normalized_shape`; the equality of the sizes becomes a fact.
fn trailing(ops: &mut OpBuilder, bound: &Bound, centred: bool) -> Result<(Normalized, DType), DefineError> {
    let (arg, dtype) = ops.float_tensor(bound, "arg")?;
    let shape = ops.shape(arg);
    let wanted = ops.sizes(bound, "normalized_shape")?;
    if wanted.is_empty() || wanted.len() > shape.len() {
        let expected = format!("a list of 1 to {} sizes", shape.len());
        return Err(bound.reject("normalized_shape", &expected));
    }
    let first = shape.len() - wanted.len();
    for (size, wanted) in shape[first..].iter().zip(&wanted) {
        let Some(wanted) = wanted else { continue };
        if ops.facts.prove_ne(size, wanted) || ops.facts.assume_equal(size, wanted).is_err() {
            let trailing: Vec<String> = shape[first..].iter().map(|size| size.to_string()).collect();
            let expected = format!("the trailing sizes [{}]", trailing.join(", "));
            return Err(bound.reject("normalized_shape", &expected));
        }
    }
    let over: Axes = (first as u8..shape.len() as u8).collect();
    let x = ops.cast(arg, dtype.compute())?;
    Ok((Normalized { x, along: over.clone(), over, centred }, dtype))
}
