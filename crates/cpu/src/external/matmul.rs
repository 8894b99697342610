//! The products of matrices that an op consists of: one for each batch, or for each group.

use ir::array::products::{of_groups, of_matmul};
use ir::array::{ArrayView, with_element};
use reference::evaluate::EvaluateError;

use super::lines::Shared;
use super::product::multiply_all;
use crate::pool::Workers;

/// `a @ b` over the last two axes; of the axes before them those of size 1 are repeated.
pub fn matmul(a: &ArrayView<'_>, b: &ArrayView<'_>, result: &Shared<'_>, workers: &Workers<'_>) {
    if result.numel() == 0 {
        return;
    }
    let products = of_matmul(a.layout(), b.layout(), &result.layout().sizes);
    multiply_all(a, b, &products, result, workers);
}

/// Products of groups that end at `ends`; elements that no group reaches are zero.
///
/// # Errors
/// [`EvaluateError::Group`] for an end beyond the size or before the one before.
pub fn grouped(
    a: &ArrayView<'_>,
    b: &ArrayView<'_>,
    ends: &ArrayView<'_>,
    result: &Shared<'_>,
    workers: &Workers<'_>,
) -> Result<(), EvaluateError> {
    let groups = group_ranges(a.sizes(), b.sizes(), ends)?;
    let columns = result.layout().sizes[result.layout().rank() - 1];
    let products = of_groups(a.layout(), b.layout(), columns, &groups);
    multiply_all(a, b, &products, result, workers);
    Ok(())
}

/// Where groups start and end, of products of operands of these sizes.
///
/// # Errors
/// [`EvaluateError::Group`] for an end beyond the size or before the one before.
pub fn group_ranges(
    a: &[usize],
    b: &[usize],
    ends: &ArrayView<'_>,
) -> Result<Vec<(usize, usize)>, EvaluateError> {
    let mut values = vec![0_i64; ends.numel()];
    with_element!(ends.dtype(), I => ends.read::<I, i64>(0, &mut values, ir::array::Element::to_int));
    reference::evaluate::group_ranges(a, b, &values)
}
