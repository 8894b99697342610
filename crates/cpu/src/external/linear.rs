//! Products with a bias: the product in the compute dtype, a vector added to each of its rows, rounded once.
//!
//! Plans for CPUs have a kernel add the bias; this is for graphs that have the op.

use ir::array::{Array, ArrayView, with_element};
use ops::DType;
use reference::evaluate::EvaluateError;

use super::lines::Shared;
use super::matmul::matmul;
use crate::pool::Workers;

/// `arg @ weight.T + bias`.
///
/// # Errors
/// [`EvaluateError::Memory`] where there is none for the product.
pub fn linear(
    arg: &ArrayView<'_>,
    weight: &ArrayView<'_>,
    bias: &ArrayView<'_>,
    result: &Shared<'_>,
    workers: &Workers<'_>,
) -> Result<(), EvaluateError> {
    let sizes = result.layout().sizes.clone();
    let (rank, columns) = (sizes.len(), sizes[sizes.len() - 1]);
    let compute = result.dtype().compute();
    let weight = weight.relaid(weight.layout().permuted([1, 0]).raised(rank));
    let weight = weight.expect("the same elements in another order");
    let bytes = result.numel().saturating_mul(compute.size());
    let mut product = Array::zeros(compute, &sizes).map_err(|_| EvaluateError::Memory { bytes })?;
    matmul(arg, &weight, &Shared::new(product.view_mut()), workers);
    let bias = reals(bias, 0, columns);
    let rows = result.numel().checked_div(columns).unwrap_or(0);
    workers.run(rows, 1, &|_, begin, end| {
        for row in begin..end {
            let sums = reals(&product.view(), row * columns, columns);
            let sums = sums.iter().zip(&bias).map(|(product, bias)| rounded(product + bias, compute));
            with_element!(result.dtype(), T => {
                let row_of: Vec<T> = sums.map(<T as ir::array::Element>::from_real).collect();
                // SAFETY: each row is written by the one task that has it.
                unsafe { result.write(row * columns, 1, &row_of) }
            });
        }
    });
    Ok(())
}

/// `count` elements in row-major order, as doubles.
fn reals(view: &ArrayView<'_>, start: usize, count: usize) -> Vec<f64> {
    let mut reals = vec![0.0; count];
    with_element!(view.dtype(), T => view.read::<T, f64>(start, &mut reals, ir::array::Element::to_real));
    reals
}

/// A sum of two f32 numbers, exact except for the last bits of a double, is rounded to f32 as if it were exact.
fn rounded(sum: f64, compute: DType) -> f64 {
    if compute == DType::F32 { f64::from(sum as f32) } else { sum }
}
