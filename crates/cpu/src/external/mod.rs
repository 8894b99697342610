//! External ops on the CPU: sorts, scatters and products of matrices, as plain functions over strided views.
//!
//! Takes views of operands and dense results, shares the work among the threads of a pool. Work is divided by sizes alone
//! and no two pieces write one element, so results have the same bits for any number of threads.
//!
//! `lines` (an axis seen as lines, results written by several threads) · `sort` · `scatter` · `matmul` (products of batches and groups) · `product` (one product, in tiles).

mod linear;
mod lines;
mod matmul;
mod product;
mod scatter;
mod sort;
#[cfg(test)]
mod tests;

use ir::array::{ArrayView, ArrayViewMut};
use ir::graph::{ExternalOp, Val};
use reference::evaluate::EvaluateError;

use super::pool::Workers;
use lines::Shared;
pub use matmul::group_ranges;

/// Computes a library op: dense results from operands of any strides. Errors name `val`.
///
/// # Errors
/// [`EvaluateError::Index`] for the smallest index out of range, [`EvaluateError::Group`], [`EvaluateError::Memory`].
pub fn run(
    op: &ExternalOp,
    operands: &[ArrayView<'_>],
    results: Vec<ArrayViewMut<'_>>,
    val: Val,
    workers: &Workers<'_>,
) -> Result<(), EvaluateError> {
    let results: Vec<Shared<'_>> = results.into_iter().map(Shared::new).collect();
    match (op, operands, &results[..]) {
        (ExternalOp::Argsort { axis, descending }, [arg], [indices]) => {
            sort::sort(arg, usize::from(*axis), *descending, None, indices, workers)
        }
        (ExternalOp::TopK { axis, largest, .. }, [arg], [values, indices]) => {
            sort::sort(arg, usize::from(*axis), *largest, Some(values), indices, workers)
        }
        (ExternalOp::Scatter(axis), [arg, index, src], [result]) => {
            scatter::scatter([arg, index, src], usize::from(*axis), result, val, workers)
        }
        (ExternalOp::Matmul(_), [a, b], [result]) => {
            matmul::matmul(a, b, result, workers);
            Ok(())
        }
        (ExternalOp::Linear(_), [arg, weight, bias], [result]) => {
            linear::linear(arg, weight, bias, result, workers)
        }
        (ExternalOp::GroupedMatmul, [a, b, ends], [result]) => matmul::grouped(a, b, ends, result, workers),
        _ => unreachable!("operands and results in the number that the shape rule says"),
    }
}
