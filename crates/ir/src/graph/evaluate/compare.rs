//! An actual result against the evaluator's: the largest error over its bound, and where.

use super::Evaluated;
use super::block::{BLOCK, read_int, read_real};
use super::bound::{Rounding, apart};
use crate::array::{ArrayError, ArrayView, Layout, Part};
use crate::lanes::wide;
use crate::{DType, Scalar};

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The largest difference over its bound and one unit in the last place of the dtype. Integers and bools have no
    /// such unit: without a bound they must be equal.
    pub worst_ratio: f64,
    /// The index of the element with that ratio, the first of them; empty for a scalar or without elements.
    pub at: Vec<usize>,
    /// The evaluator's element there.
    pub expected: Option<Scalar>,
    /// The actual element there.
    pub got: Option<Scalar>,
    /// How many elements are beyond their bound; of complex elements, how many parts.
    pub mismatches: usize,
}

impl Comparison {
    /// Whether every element is within its bound.
    pub fn matches(&self) -> bool {
        self.worst_ratio <= 1.0
    }
}

/// Compares element by element. NaN must meet NaN and an infinity the same infinity, except where the bound is not
/// finite: there anything matches.
///
/// # Errors
/// [`ArrayError::Mismatch`] when dtype or sizes differ.
pub fn compare(evaluated: &Evaluated, actual: &ArrayView<'_>) -> Result<Comparison, ArrayError> {
    let expected = evaluated.value.view();
    if expected.dtype() != actual.dtype() || expected.sizes() != actual.sizes() {
        return Err(ArrayError::Mismatch {
            expected_dtype: expected.dtype(),
            expected: expected.sizes().to_vec(),
            given_dtype: actual.dtype(),
            given: actual.sizes().to_vec(),
        });
    }
    let bounds = evaluated.bound.as_ref().map(|bound| bound.view());
    let (worst, number, mismatches) = match expected.dtype().is_complex() {
        true => largest_of_parts(&expected, actual, bounds.as_ref()),
        false => largest(&expected, actual, bounds.as_ref()),
    };
    let some = expected.numel() > 0;
    Ok(Comparison {
        worst_ratio: worst.max(0.0),
        at: if some { index_of(number, expected.sizes()) } else { Vec::new() },
        expected: some.then(|| expected.scalar(number)),
        got: some.then(|| actual.scalar(number)),
        mismatches,
    })
}

/// As [`largest`], of the worse part. An element of which both parts are beyond their bounds counts twice.
fn largest_of_parts(
    expected: &ArrayView<'_>,
    actual: &ArrayView<'_>,
    bounds: Option<&ArrayView<'_>>,
) -> (f64, usize, usize) {
    let of = |part: Part| {
        let bounds = bounds.map(|bounds| bounds.part(part));
        largest(&expected.part(part), &actual.part(part), bounds.as_ref())
    };
    let ((re, first, mine), (im, second, theirs)) = (of(Part::Real), of(Part::Imaginary));
    if im > re { (im, second, mine + theirs) } else { (re, first, mine + theirs) }
}

/// The largest ratio, the number of the first element that has it, and how many are above 1.
fn largest(
    expected: &ArrayView<'_>,
    actual: &ArrayView<'_>,
    bounds: Option<&ArrayView<'_>>,
) -> (f64, usize, usize) {
    let rounding = Rounding::new(expected.dtype(), 0.0);
    let (mut differences, mut slack) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (mut worst, mut number, mut mismatches) = (f64::NEG_INFINITY, 0, 0);
    for start in (0..expected.numel()).step_by(BLOCK) {
        let count = BLOCK.min(expected.numel() - start);
        differ(expected, actual, start, &mut differences[..count], &mut slack[..count], &rounding);
        let mut bound = [0.0; BLOCK];
        if let Some(view) = bounds {
            read_real(view, start, &mut bound[..count]);
        }
        let (most, beyond) = ratios(&mut differences[..count], &bound[..count], &slack[..count]);
        mismatches += beyond;
        if most > worst {
            let first = differences[..count].iter().position(|&ratio| ratio == most);
            (worst, number) = (most, start + first.unwrap_or_default());
        }
    }
    (worst, number, mismatches)
}

/// Differences of a block, and the unit in the last place that each may have.
fn differ(
    expected: &ArrayView<'_>,
    actual: &ArrayView<'_>,
    start: usize,
    differences: &mut [f64],
    slack: &mut [f64],
    rounding: &Rounding,
) {
    if expected.dtype().is_float() {
        let mut theirs = [0.0; BLOCK];
        read_real(expected, start, slack);
        read_real(actual, start, &mut theirs[..slack.len()]);
        let rounding = *rounding;
        wide(move || {
            let pairs = differences.iter_mut().zip(&theirs);
            for (slack, (difference, &theirs)) in slack.iter_mut().zip(pairs) {
                *difference = apart(*slack, theirs);
                *slack = rounding.ulp(*slack);
            }
        });
    } else {
        let (mut ours, mut theirs) = ([0; BLOCK], [0; BLOCK]);
        read_int(expected, start, &mut ours[..slack.len()]);
        read_int(actual, start, &mut theirs[..slack.len()]);
        for (k, slack) in slack.iter_mut().enumerate() {
            differences[k] = match expected.dtype() {
                DType::U64 => (ours[k] as u64).abs_diff(theirs[k] as u64) as f64,
                _ => ours[k].abs_diff(theirs[k]) as f64,
            };
            *slack = 0.0;
        }
    }
}

/// Differences become their ratios to what is allowed: the largest of them, and how many are above 1.
fn ratios(differences: &mut [f64], bounds: &[f64], slack: &[f64]) -> (f64, usize) {
    wide(move || {
        let (mut most, mut beyond) = (f64::NEG_INFINITY, 0);
        for (difference, (&bound, &slack)) in differences.iter_mut().zip(bounds.iter().zip(slack)) {
            let allowed = bound + slack;
            let is_within = (*difference == 0.0) | (allowed == f64::INFINITY);
            *difference = if is_within { 0.0 } else { *difference / allowed };
            most = if *difference > most { *difference } else { most };
            beyond += usize::from(*difference > 1.0);
        }
        (most, beyond)
    })
}

fn index_of(number: usize, sizes: &[usize]) -> Vec<usize> {
    let strides = Layout::dense(sizes).strides;
    sizes.iter().zip(&strides).map(|(&size, &stride)| number / stride as usize % size).collect()
}
