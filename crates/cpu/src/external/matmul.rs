//! Which products of matrices an op consists of: one for each batch, or for each group.

use ir::array::{ArrayView, Dims, Layout, with_element};
use reference::evaluate::EvaluateError;

use super::lines::Shared;
use super::product::{Matrix, Product, multiply_all};
use crate::pool::Workers;

/// `a @ b` over the last two axes; of the axes before them those of size 1 are repeated.
pub fn matmul(a: &ArrayView<'_>, b: &ArrayView<'_>, result: &Shared<'_>, workers: &Workers<'_>) {
    if result.numel() == 0 {
        return;
    }
    let sizes = result.layout().sizes.clone();
    let rank = sizes.len();
    let batches = &sizes[..rank - 2];
    let seen = |view: &ArrayView<'_>| {
        let last = [view.sizes()[rank - 2], view.sizes()[rank - 1]];
        view.layout().expanded(&batches.iter().copied().chain(last).collect::<Dims>())
    };
    let (of_a, of_b) = (seen(a), seen(b));
    let count: usize = batches.iter().product();
    let products = match one_for_all(&of_a, &of_b) {
        Some(product) => vec![product],
        None => (0..count).map(|batch| product(&of_a, &of_b, batch)).collect(),
    };
    multiply_all(a, b, &products, result, workers);
}

/// The product of the matrices with a number.
fn product(a: &Layout, b: &Layout, number: usize) -> Product {
    let (a, b) = (matrix(a, number), matrix(b, number));
    Product { a, b, first: number * a.rows * b.columns, row: b.columns }
}

/// The matrix with a number: the last two axes of a layout.
fn matrix(layout: &Layout, mut number: usize) -> Matrix {
    let rank = layout.rank();
    let mut offset = layout.offset;
    for axis in (0..rank - 2).rev() {
        offset += (number % layout.sizes[axis]) as isize * layout.strides[axis];
        number /= layout.sizes[axis];
    }
    Matrix {
        offset,
        rows: layout.sizes[rank - 2],
        columns: layout.sizes[rank - 1],
        row: layout.strides[rank - 2],
        column: layout.strides[rank - 1],
    }
}

/// All batches as one product, where the second operand is the same in all and one stride leads through all rows of the
/// first, as in a linear layer.
fn one_for_all(a: &Layout, b: &Layout) -> Option<Product> {
    let rank = a.rank();
    let repeats = |axis: usize| b.strides[axis] == 0 || b.sizes[axis] == 1;
    if rank == 2 || !(0..rank - 2).all(repeats) {
        return None;
    }
    let rows = a.permuted(0..rank - 1).merged();
    let (count, stride) = match (&rows.sizes[..], &rows.strides[..]) {
        ([], []) => (1, 0),
        (&[count], &[stride]) => (count, stride),
        _ => return None,
    };
    let mut all = product(a, b, 0);
    (all.a.rows, all.a.row) = (count, stride);
    Some(all)
}

/// Products of groups that end where `ends` says; what no group reaches is zero.
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
    let size = match (a.sizes(), b.sizes()) {
        (&[_, depth], &[_, _]) => depth,
        (&[_, _, _], &[_, columns]) => columns,
        (sizes, _) => sizes[0],
    };
    let columns = result.layout().sizes[result.layout().rank() - 1];
    let [of_a, of_b] = [a, b].map(|view| view.layout());
    let mut products = Vec::new();
    for (number, (start, end)) in ranges(ends, size)?.into_iter().enumerate() {
        let (of_a, of_b, first) = match (of_a.rank(), of_b.rank()) {
            (2, 2) => {
                let a = matrix(of_a, 0).columns(start, end);
                (a, matrix(of_b, 0).rows(start, end), number * a.rows * columns)
            }
            (3, _) => (matrix(of_a, number), matrix(of_b, 0).columns(start, end), start),
            _ => (matrix(of_a, 0).rows(start, end), matrix(of_b, number), start * columns),
        };
        products.push(Product { a: of_a, b: of_b, first, row: columns });
    }
    multiply_all(a, b, &products, result, workers);
    Ok(())
}

/// Where groups start and end.
fn ranges(ends: &ArrayView<'_>, size: usize) -> Result<Vec<(usize, usize)>, EvaluateError> {
    let mut values = vec![0_i64; ends.numel()];
    with_element!(ends.dtype(), I => ends.read::<I, i64>(0, &mut values, ir::array::Element::to_int));
    let mut start = 0;
    let range = |end: i64| {
        let fits = usize::try_from(end).ok().filter(|&end| start <= end && end <= size);
        let end = fits.ok_or(EvaluateError::Group { op: "grouped_mm", start, end, size })?;
        Ok((std::mem::replace(&mut start, end), end))
    };
    values.into_iter().map(range).collect()
}
