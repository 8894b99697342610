//! Products of matrices, one or in groups, summed in doubles.
//!
//! A sum of `n` products in any order, with or without fused multiply-add, is off by at most `n u` times the sum of the
//! products' magnitudes (Jeannerod and Rump 2013, Improved error bounds for inner products in floating-point arithmetic),
//! and by half the smallest number for each product that may underflow. Sums of f32 are cut into slices of 512 products,
//! whose sums are added in f64.

use std::ops::Range;

use ir::array::Layout;
use ops::DType;

use super::product::{COLUMNS, ROWS, Sum, block};
use super::{Context, indices};
use crate::evaluate::EvaluateError;
use crate::evaluate::block::{GRAIN, read_real, write_real};
use crate::evaluate::bound::{Rounding, round_up};
use crate::evaluate::memory::Metered;
use crate::evaluate::value::{BoundedValue, Strided};
use crate::evaluate::workers::Resources;

/// The most successive roundings of a product in a sum of f32: those of a slice, and of its sum to f64 and back.
const LONGEST_CHAIN: f64 = 512.0 + 2.0;

/// An operand as dense doubles, and the errors of its elements if they have any.
pub(super) struct Factor {
    values: Metered,
    errors: Option<Metered>,
}

impl Factor {
    fn new(value: &BoundedValue<'_>, context: &Context<'_>) -> Result<Factor, EvaluateError> {
        let values = reals(&value.data, context)?;
        let errors = value.bound.as_ref().filter(|_| context.bounds);
        Ok(Factor { values, errors: errors.map(|bound| reals(bound, context)).transpose()? })
    }

    pub(super) fn values(&self) -> &[f64] {
        self.values.array().as_slice()
    }

    pub(super) fn errors(&self) -> Option<&[f64]> {
        self.errors.as_ref().map(|errors| errors.array().as_slice())
    }
}

fn reals(strided: &Strided<'_>, context: &Context<'_>) -> Result<Metered, EvaluateError> {
    let view = strided.view();
    let mut reals = context.resources.zeros(DType::F64, view.sizes())?;
    let chunks = reals.array_mut().as_mut_slice::<f64>().chunks_mut(GRAIN);
    context.resources.each(chunks, |number, chunk| read_real(&view, number * GRAIN, chunk));
    Ok(reals)
}

/// A product of two matrices: where its operands start, the strides of their rows, and which elements of the result it
/// makes.
pub(super) struct Product {
    pub(super) a: usize,
    pub(super) a_row: usize,
    pub(super) b: usize,
    pub(super) b_row: usize,
    /// Terms of each sum.
    pub(super) depth: usize,
    /// Rows of the result, among the rows of all matrices of it, and columns.
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Sum {
    fn bound(&self, depth: usize, accumulated: &Rounding, stored: &Rounding, is_double: bool) -> f64 {
        if self.magnitude >= accumulated.overflow {
            return f64::INFINITY;
        }
        if !self.exact.is_finite() {
            return if self.spread == 0.0 { 0.0 } else { f64::INFINITY };
        }
        if self.magnitude == 0.0 && self.spread == 0.0 {
            return 0.0;
        }
        let sides = if is_double { 2.0 } else { 1.0 };
        let chain = if is_double { depth as f64 } else { (depth as f64).min(LONGEST_CHAIN) };
        let in_double = if is_double { 0.0 } else { depth as f64 * f64::EPSILON };
        // At least a normal number: products of subnormal ones are slow.
        let underflow = accumulated.ulp(0.0).max(f64::MIN_POSITIVE);
        let order = sides * (chain * accumulated.unit + in_double) * self.magnitude
            + sides * depth as f64 * underflow;
        stored.total(self.exact, self.spread + order)
    }
}

/// `operands[0] @ operands[1]` over their last two axes.
pub(super) fn matmul(
    operands: &[BoundedValue<'_>],
    dtype: DType,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [a, b] = operands else { unreachable!("two operands, by the shape rule") };
    let rank = context.sizes.len();
    let (rows, columns) = (context.sizes[rank - 2], context.sizes[rank - 1]);
    let depth = a.sizes()[rank - 1];
    // The operands of each matrix of the result, with axes of size 1 repeated.
    let batches = &context.sizes[..rank - 2];
    let starts = |value: &BoundedValue<'_>| {
        let mut layout = Layout::dense(value.sizes());
        layout.sizes.truncate(rank - 2);
        layout.strides.truncate(rank - 2);
        layout.expanded(batches)
    };
    let [of_a, of_b] = [a, b].map(starts);
    let of_batch = |batch: usize| {
        let (a, b) = (place(&of_a, batch), place(&of_b, batch));
        let (first, columns) = (batch * rows, 0..columns);
        Product { a, a_row: depth, b, b_row: columns.end, depth, rows: first..first + rows, columns }
    };
    let count = batches.iter().product();
    products([a, b], dtype, (0..count).map(of_batch).collect(), context)
}

/// The place of the element with a number in row-major order.
fn place(layout: &Layout, mut number: usize) -> usize {
    let mut place = 0;
    for (&size, &stride) in layout.sizes.iter().zip(&layout.strides).rev() {
        place += number % size * stride as usize;
        number /= size;
    }
    place
}

/// Products of groups that end at `operands[2]`; elements that no group reaches are zero.
pub(super) fn grouped(
    operands: &[BoundedValue<'_>],
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let [a, b, ends] = operands else { unreachable!("three operands, by the shape rule") };
    let (values, sure) = indices(ends, context.resources)?;
    let groups = group_ranges(a.sizes(), b.sizes(), values.array().as_slice())?;
    let columns = context.sizes[context.sizes.len() - 1];
    let rows = context.sizes[context.sizes.len() - 2];
    let of_group = |(group, &(start, end)): (usize, &(usize, usize))| match (a.sizes(), b.sizes()) {
        (&[_, depth], &[_, _]) => {
            let rows = group * rows..(group + 1) * rows;
            let (b, depth, a_row) = (start * columns, end - start, depth);
            Product { a: start, a_row, b, b_row: columns, depth, rows, columns: 0..columns }
        }
        (&[_, _, depth], &[_, _]) => {
            let a = group * rows * depth;
            Product { a, a_row: depth, b: 0, b_row: columns, depth, rows: 0..rows, columns: start..end }
        }
        (a, _) => {
            let (depth, b) = (a[1], group * a[1] * columns);
            Product {
                a: start * depth,
                a_row: depth,
                b,
                b_row: columns,
                depth,
                rows: start..end,
                columns: 0..columns,
            }
        }
    };
    let groups = groups.iter().enumerate().map(of_group).collect();
    let mut result = products([a, b], a.data.view().dtype(), groups, context)?;
    if context.bounds && sure.is_some_and(|sure| sure.contains(&false)) {
        let mut unknown = context.resources.zeros(DType::F32, &[])?;
        unknown.array_mut().as_mut_slice::<f32>()[0] = f32::INFINITY;
        let everywhere = Strided::made(unknown);
        let single = everywhere.layout().broadcast(&vec![true; context.sizes.len()]);
        result.bound = Some(everywhere.relaid(single.expanded(&context.sizes)));
    }
    Ok(result)
}

/// Where the groups of a grouped product start and end, of operands of these sizes: in the depth, in the columns of the second
/// or in the rows of the first.
///
/// # Errors
/// [`EvaluateError::Group`] for an end beyond the size or before the one before.
pub fn group_ranges(a: &[usize], b: &[usize], ends: &[i64]) -> Result<Vec<(usize, usize)>, EvaluateError> {
    let size = match (a, b) {
        (&[_, depth], &[_, _]) => depth,
        (&[_, _, _], &[_, columns]) => columns,
        (sizes, _) => sizes[0],
    };
    let mut start = 0;
    let range = |&end: &i64| {
        let fits = usize::try_from(end).ok().filter(|&end| start <= end && end <= size);
        let end = fits.ok_or(EvaluateError::Group { op: "grouped_mm", start, end, size })?;
        Ok((std::mem::replace(&mut start, end), end))
    };
    ends.iter().map(range).collect()
}

/// Products whose elements of the result do not overlap; elements that none of them makes are zero.
fn products(
    [a, b]: [&BoundedValue<'_>; 2],
    dtype: DType,
    products: Vec<Product>,
    context: &Context<'_>,
) -> Result<BoundedValue<'static>, EvaluateError> {
    let factors = [Factor::new(a, context)?, Factor::new(b, context)?];
    let mut values = context.resources.zeros(dtype, &context.sizes)?;
    let mut bounds = context.resources.zeros(DType::F32, &context.sizes)?;
    let columns = *context.sizes.last().unwrap_or(&0);
    if values.array().numel() > 0 {
        let rows = values.array_mut().as_mut_bytes().chunks_mut(columns * dtype.size());
        let rows = rows.zip(bounds.array_mut().as_mut_slice::<f32>().chunks_mut(columns)).collect();
        let roundings = [Rounding::new(dtype.compute(), 0.5), Rounding::new(dtype, 0.5)];
        context.resources.each(pieces(&products, rows, dtype.size()).into_iter(), |_, piece| {
            piece.fill([&factors[0], &factors[1]], dtype, &roundings, context.resources);
        });
    }
    let bound = context.bounds.then(|| Strided::made(bounds));
    Ok(BoundedValue { data: Strided::made(values), bound })
}

/// Elements of a row of the result, and their bounds.
type Row<'r> = (&'r mut [u8], &'r mut [f32]);

/// A block of the result of one product.
struct Piece<'r> {
    product: &'r Product,
    /// In the product.
    first_row: usize,
    first_column: usize,
    rows: Vec<Row<'r>>,
}

/// Cuts the result into blocks; each row of it is met by ascending columns.
fn pieces<'r>(products: &'r [Product], mut rows: Vec<Row<'r>>, width: usize) -> Vec<Piece<'r>> {
    let mut pieces = Vec::new();
    let mut met = vec![0; rows.len()];
    for product in products {
        for first in product.rows.clone().step_by(ROWS) {
            for column in product.columns.clone().step_by(COLUMNS) {
                let end = product.columns.end.min(column + COLUMNS);
                let last = product.rows.end.min(first + ROWS);
                let cut = |row: usize| {
                    let (values, bounds) = std::mem::take(&mut rows[row]);
                    let (skipped, count) = (column - met[row], end - column);
                    let (piece, rest) = values[skipped * width..].split_at_mut(count * width);
                    let (errors, others) = bounds[skipped..].split_at_mut(count);
                    (rows[row], met[row]) = ((rest, others), end);
                    (piece, errors)
                };
                let rows = (first..last).map(cut).collect();
                let [first_row, first_column] = [first - product.rows.start, column];
                pieces.push(Piece { product, first_row, first_column, rows });
            }
        }
    }
    pieces
}

impl Piece<'_> {
    fn fill(
        self,
        factors: [&Factor; 2],
        dtype: DType,
        [accumulated, stored]: &[Rounding; 2],
        resources: &Resources<'_>,
    ) {
        let columns = self.rows[0].1.len();
        let size = [self.rows.len(), columns];
        let sums = block(factors, self.product, [self.first_row, self.first_column], size, resources.workers);
        for ((values, bounds), sums) in self.rows.into_iter().zip(sums.chunks(columns)) {
            let exact: Vec<f64> = sums.iter().map(|sum| sum.exact).collect();
            write_real(dtype, values, &exact);
            for (bound, sum) in bounds.iter_mut().zip(sums) {
                let is_double = dtype == DType::F64;
                *bound = round_up(sum.bound(self.product.depth, accumulated, stored, is_double));
            }
        }
    }
}
