//! What a library computes, in plain loops: the meaning that library code is held to.
//!
//! `sort` (argsort, top-k) · `scatter` · `matmul` (products of matrices, one or in groups) · `product` (their inner loops).

mod matmul;
mod product;
mod scatter;
mod sort;

use ir::array::with_element;
use ir::graph::{ExternalOp, Val};

use super::EvaluateError;
use super::value::{BoundedValue, Strided};
use super::workers::Resources;

/// What one library op needs besides its operands.
pub(super) struct Context<'m> {
    /// Its first result, for errors.
    pub val: Val,
    /// The sizes of its first result.
    pub sizes: Vec<usize>,
    pub bounds: bool,
    pub resources: &'m Resources<'m>,
}

/// The results of a library op on these operands.
pub(super) fn compute(
    op: &ExternalOp,
    operands: &[BoundedValue<'_>],
    context: &Context<'_>,
) -> Result<Vec<BoundedValue<'static>>, EvaluateError> {
    match op {
        ExternalOp::Argsort { axis, descending } => {
            let sorted = sort::sort(&operands[0], usize::from(*axis), *descending, context)?;
            Ok(vec![sorted.indices])
        }
        ExternalOp::TopK { axis, largest, .. } => {
            let sorted = sort::sort(&operands[0], usize::from(*axis), *largest, context)?;
            Ok(vec![sorted.values, sorted.indices])
        }
        ExternalOp::Scatter(axis) => {
            scatter::scatter(operands, usize::from(*axis), context).map(|value| vec![value])
        }
        ExternalOp::Matmul(dtype) => matmul::matmul(operands, *dtype, context).map(|value| vec![value]),
        ExternalOp::GroupedMatmul => matmul::grouped(operands, context).map(|value| vec![value]),
    }
}

/// The elements of indices, in row-major order, each with whether it is sure.
fn indices(
    value: &BoundedValue<'_>,
    resources: &Resources<'_>,
) -> Result<(Vec<i64>, Vec<bool>), EvaluateError> {
    let view = value.data.view();
    let count = view.numel();
    // What is about to be held, so that the resources can reject it.
    drop(resources.zeros(ops::DType::I64, &[count])?);
    let mut indices = vec![0; count];
    with_element!(view.dtype(), T => view.read::<T, i64>(0, &mut indices, ir::array::Element::to_int));
    let mut sure = vec![true; count];
    if let Some(bound) = &value.bound {
        bound.view().read::<f32, bool>(0, &mut sure, |error| error == 0.0);
    }
    Ok((indices, sure))
}

/// A dense copy.
fn dense(strided: &Strided<'_>, resources: &Resources<'_>) -> Result<ir::array::Array, EvaluateError> {
    strided.relaid(strided.layout().clone()).into_array(resources)
}
