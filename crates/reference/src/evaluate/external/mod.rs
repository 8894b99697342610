//! External ops in plain loops: the meaning that library code must have.
//!
//! `sort` (argsort, top-k) · `scatter` · `matmul` (products of matrices, one or in groups) · `linear` (with
//! a bias) · `product` (their inner loops).

mod linear;
mod matmul;
mod product;
mod scatter;
mod sort;

pub use matmul::group_ranges;

use ir::graph::{ExternalOp, Val};
use ops::DType;

use super::EvaluateError;
use super::block::read_int;
use super::memory::Metered;
use super::value::BoundedValue;
use super::workers::Resources;

/// The context of an external op besides its operands.
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
        ExternalOp::Linear(dtype) => linear::linear(operands, *dtype, context).map(|value| vec![value]),
        ExternalOp::GroupedMatmul => matmul::grouped(operands, context).map(|value| vec![value]),
    }
}

/// The elements of indices, i64 in row-major order, and if they have errors whether each is exact.
fn indices(
    value: &BoundedValue<'_>,
    resources: &Resources<'_>,
) -> Result<(Metered, Option<Vec<bool>>), EvaluateError> {
    let view = value.data.view();
    let mut indices = resources.unwritten(DType::I64, &[view.numel()])?;
    read_int(&view, 0, indices.array_mut().as_mut_slice());
    Ok((indices, sure(value)))
}

/// If a value has errors, whether each of its elements is exact, in row-major order.
fn sure(value: &BoundedValue<'_>) -> Option<Vec<bool>> {
    value.bound.as_ref().map(|bound| {
        let bound = bound.view();
        let mut sure = vec![true; bound.numel()];
        bound.read::<f32, bool>(0, &mut sure, |error| error == 0.0);
        sure
    })
}
