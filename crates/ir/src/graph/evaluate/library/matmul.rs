//! Products of matrices, one or in groups, summed in doubles.
//!
//! A sum of `n` products in any order, with or without fused multiply-add, is off by at most `n u` times the sum of the
//! products' magnitudes (Jeannerod and Rump 2013, Improved error bounds for inner products in floating-point arithmetic),
//! and by half the least number for each product that may underflow.

use rayon::prelude::*;

use super::{Context, indices};
use crate::DType;
use crate::array::Layout;
use crate::graph::evaluate::EvaluateError;
use crate::graph::evaluate::block::{GRAIN, read_real, write_real};
use crate::graph::evaluate::bound::{Rounding, round_up};
use crate::graph::evaluate::value::{Metered, Strided, Value};

/// An operand as dense doubles, and the errors of its elements if they have any.
struct Factor {
    values: Metered,
    errors: Option<Metered>,
}

impl Factor {
    fn new(value: &Value<'_>, context: &Context<'_>) -> Result<Factor, EvaluateError> {
        let values = reals(&value.data, context)?;
        let errors = value.bound.as_ref().filter(|_| context.bounds);
        Ok(Factor { values, errors: errors.map(|bound| reals(bound, context)).transpose()? })
    }

    fn values(&self) -> &[f64] {
        self.values.array().as_slice()
    }

    fn errors(&self) -> Option<&[f64]> {
        self.errors.as_ref().map(|errors| errors.array().as_slice())
    }
}

fn reals(strided: &Strided<'_>, context: &Context<'_>) -> Result<Metered, EvaluateError> {
    let view = strided.view();
    let mut reals = context.meter.zeros(DType::F64, view.sizes())?;
    let chunks = reals.array_mut().as_mut_slice::<f64>().par_chunks_mut(GRAIN);
    chunks.enumerate().for_each(|(number, chunk)| read_real(&view, number * GRAIN, chunk));
    Ok(reals)
}

/// Columns of one row of the result: from which element of each operand their sums start, and how long they are.
struct Piece {
    first_column: usize,
    columns: usize,
    a: usize,
    b: usize,
    depth: usize,
    /// Elements from one row of the second operand to the next.
    row: usize,
}

/// A sum of products on its way.
#[derive(Clone, Copy, Default)]
struct Sum {
    exact: f64,
    /// Sum of the magnitudes, errors included.
    magnitude: f64,
    /// How far errors of the operands move it.
    spread: f64,
}

impl Sum {
    fn add(&mut self, a: f64, e: f64, b: f64, f: f64) {
        self.exact += a * b;
        if a.is_finite() && b.is_finite() {
            self.magnitude += (a.abs() + e) * (b.abs() + f);
        }
        if e != 0.0 || f != 0.0 {
            let spread = a.abs() * f + b.abs() * e + e * f;
            self.spread += if spread.is_nan() { f64::INFINITY } else { spread };
        }
    }

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
        let order = sides * depth as f64 * (accumulated.unit * self.magnitude + accumulated.ulp(0.0));
        stored.total(self.exact, self.spread + order)
    }
}

/// `operands[0] @ operands[1]` over their last two axes.
pub(super) fn matmul(
    operands: &[Value<'_>],
    dtype: DType,
    context: &Context<'_>,
) -> Result<Value<'static>, EvaluateError> {
    let [a, b] = operands else { unreachable!("two operands, by the shape rule") };
    let rank = context.sizes.len();
    let (rows, columns) = (context.sizes[rank - 2], context.sizes[rank - 1]);
    let depth = a.sizes()[rank - 1];
    // Where each matrix of the result finds its operands, axes of size 1 repeated.
    let batches = &context.sizes[..rank - 2];
    let starts = |value: &Value<'_>| {
        let mut layout = Layout::dense(value.sizes());
        layout.sizes.truncate(rank - 2);
        layout.strides.truncate(rank - 2);
        layout.expanded(batches)
    };
    let [of_a, of_b] = [a, b].map(starts);
    let pieces = |row: usize| {
        let (batch, row) = (row / rows, row % rows);
        let (a, b) = (place(&of_a, batch) + row * depth, place(&of_b, batch));
        vec![Piece { first_column: 0, columns, a, b, depth, row: columns }]
    };
    products(a, b, dtype, pieces, context)
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

/// Products of groups that end where `operands[2]` says; what no group reaches is zero.
pub(super) fn grouped(
    operands: &[Value<'_>],
    context: &Context<'_>,
) -> Result<Value<'static>, EvaluateError> {
    let [a, b, ends] = operands else { unreachable!("three operands, by the shape rule") };
    let (values, sure) = indices(ends, context.meter)?;
    let divided = match (a.sizes(), b.sizes()) {
        ([_, depth], [_, _]) => *depth,
        ([_, _, _], [_, columns]) => *columns,
        (sizes, _) => sizes[0],
    };
    let groups = ranges(&values, divided)?;
    let columns = context.sizes[context.sizes.len() - 1];
    let rows = context.sizes[context.sizes.len() - 2];
    let pieces = |row: usize| match (a.sizes(), b.sizes()) {
        (&[_, depth], &[_, _]) => {
            let (start, end) = groups[row / rows];
            let a = row % rows * depth + start;
            vec![Piece { first_column: 0, columns, a, b: start * columns, depth: end - start, row: columns }]
        }
        (&[_, _, depth], &[_, _]) => {
            let piece = |(group, &(start, end)): (usize, &(usize, usize))| {
                let a = (group * rows + row) * depth;
                Piece { first_column: start, columns: end - start, a, b: start, depth, row: columns }
            };
            groups.iter().enumerate().map(piece).collect()
        }
        (a, _) => {
            let depth = a[1];
            let group = groups.iter().position(|&(start, end)| start <= row && row < end);
            let piece = |group: usize| {
                let b = group * depth * columns;
                Piece { first_column: 0, columns, a: row * depth, b, depth, row: columns }
            };
            group.map(piece).into_iter().collect()
        }
    };
    let mut result = products(a, b, a.data.view().dtype(), pieces, context)?;
    if context.bounds && sure.contains(&false) {
        let mut unknown = context.meter.zeros(DType::F32, &[])?;
        unknown.array_mut().as_mut_slice::<f32>()[0] = f32::INFINITY;
        let everywhere = Strided::made(unknown);
        let single = everywhere.layout().broadcast(&vec![true; context.sizes.len()]);
        result.bound = Some(everywhere.relaid(single.expanded(&context.sizes)));
    }
    Ok(result)
}

/// Where groups start and end: ends ascend and stay within the size.
fn ranges(ends: &[i64], size: usize) -> Result<Vec<(usize, usize)>, EvaluateError> {
    let mut start = 0;
    let range = |&end: &i64| {
        let fits = usize::try_from(end).ok().filter(|&end| start <= end && end <= size);
        let end = fits.ok_or(EvaluateError::Group { op: "grouped_mm", start, end, size })?;
        Ok((std::mem::replace(&mut start, end), end))
    };
    ends.iter().map(range).collect()
}

fn products(
    a: &Value<'_>,
    b: &Value<'_>,
    dtype: DType,
    pieces: impl Fn(usize) -> Vec<Piece> + Sync,
    context: &Context<'_>,
) -> Result<Value<'static>, EvaluateError> {
    let (a, b) = (Factor::new(a, context)?, Factor::new(b, context)?);
    let mut values = context.meter.zeros(dtype, &context.sizes)?;
    let mut bounds = context.meter.zeros(DType::F32, &context.sizes)?;
    let columns = *context.sizes.last().unwrap_or(&0);
    if values.array().numel() > 0 {
        let rows = values.array_mut().as_mut_bytes().par_chunks_mut(columns * dtype.size());
        let bounds = bounds.array_mut().as_mut_slice::<f32>().par_chunks_mut(columns);
        let roundings = [Rounding::new(dtype.compute(), 0.5), Rounding::new(dtype, 0.5)];
        rows.zip(bounds).enumerate().for_each(|(row, (values, bounds))| {
            let mut exact = vec![0.0; columns];
            for piece in pieces(row) {
                let sums = sums(&a, &b, &piece);
                for (k, sum) in sums.iter().enumerate() {
                    exact[piece.first_column + k] = sum.exact;
                    let bound = sum.bound(piece.depth, &roundings[0], &roundings[1], dtype == DType::F64);
                    bounds[piece.first_column + k] = round_up(bound);
                }
            }
            write_real(dtype, values, &exact);
        });
    }
    let bound = context.bounds.then(|| Strided::made(bounds));
    Ok(Value { data: Strided::made(values), bound })
}

fn sums(a: &Factor, b: &Factor, piece: &Piece) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); piece.columns];
    for k in 0..piece.depth {
        let (x, e) = (a.values()[piece.a + k], a.errors().map_or(0.0, |errors| errors[piece.a + k]));
        let start = piece.b + k * piece.row;
        let row = start..start + piece.columns;
        let factors = sums.iter_mut().zip(&b.values()[row.clone()]);
        match b.errors() {
            None => factors.for_each(|(sum, &y)| sum.add(x, e, y, 0.0)),
            Some(errors) => {
                factors.zip(&errors[row]).for_each(|((sum, &y), &f)| sum.add(x, e, y, f));
            }
        }
    }
    sums
}
