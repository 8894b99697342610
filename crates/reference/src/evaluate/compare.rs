//! An actual result against the evaluator's: the largest error over its bound, and where.
//!
//! Pieces are compared on any threads and in any order. Their results are merged by a rule that does not depend on that.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use ir::array::{ArrayError, ArrayView, Layout};
use ops::vectorized;
use ops::{DType, Scalar};

use super::block::{BLOCK, GRAIN, read_int, read_real};
use super::bound::{Rounding, apart};
use super::{Evaluated, ParallelFor};

/// The result of a comparison.
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

/// Compares element by element. NaN must meet NaN and an infinity the same infinity, except where the bound is infinite:
/// there anything matches. The evaluator's bounds are distances; if one is NaN, only equal elements match. The result does
/// not depend on the workers.
///
/// # Errors
/// [`ArrayError::Mismatch`] when dtype or sizes differ.
pub fn compare(
    evaluated: &Evaluated,
    actual: &ArrayView<'_>,
    workers: &dyn ParallelFor,
) -> Result<Comparison, ArrayError> {
    let expected = evaluated.value.view();
    if expected.dtype() != actual.dtype() || expected.sizes() != actual.sizes() {
        return Err(ArrayError::Mismatch {
            expected_dtype: expected.dtype(),
            expected: expected.sizes().to_vec(),
            given_dtype: actual.dtype(),
            given: actual.sizes().to_vec(),
        });
    }
    let bounds = evaluated.bound.as_ref().map(|bound| bound.view().parts());
    let worst = Sides { expected: expected.parts(), actual: actual.parts(), bounds }.worst(workers);
    let number = if expected.dtype().is_complex() { worst.number / 2 } else { worst.number };
    let some = expected.numel() > 0;
    Ok(Comparison {
        worst_ratio: worst.ratio.max(0.0),
        at: if some { index_of(number, expected.sizes()) } else { Vec::new() },
        expected: some.then(|| expected.scalar(number)),
        got: some.then(|| actual.scalar(number)),
        mismatches: worst.mismatches,
    })
}

/// The worst element of some: its ratio, its number, and how many of them are beyond their bounds.
#[derive(Clone, Copy, Debug)]
struct Worst {
    ratio: f64,
    number: usize,
    mismatches: usize,
}

impl Worst {
    /// Of no elements.
    const NONE: Worst = Worst { ratio: f64::NEG_INFINITY, number: 0, mismatches: 0 };

    /// Of both: the larger ratio, of equal ones the first. Commutative and associative, so any order gives the same.
    fn merge(self, other: Worst) -> Worst {
        let is_other = other.ratio > self.ratio || other.ratio == self.ratio && other.number < self.number;
        let Worst { ratio, number, .. } = if is_other { other } else { self };
        Worst { ratio, number, mismatches: self.mismatches + other.mismatches }
    }
}

/// The arrays that are compared, of one real dtype and the same sizes.
struct Sides<'a> {
    expected: ArrayView<'a>,
    actual: ArrayView<'a>,
    bounds: Option<ArrayView<'a>>,
}

impl Sides<'_> {
    /// The worst of all elements.
    fn worst(&self, workers: &dyn ParallelFor) -> Worst {
        let numel = self.expected.numel();
        let worst = Mutex::new(Worst::NONE);
        workers.run(numel.div_ceil(GRAIN), &|piece| {
            let found = self.worst_of(piece * GRAIN..numel.min((piece + 1) * GRAIN));
            let mut worst = worst.lock().unwrap_or_else(PoisonError::into_inner);
            *worst = worst.merge(found);
        });
        worst.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn worst_of(&self, elements: Range<usize>) -> Worst {
        let rounding = Rounding::new(self.expected.dtype(), 0.0);
        let (mut differences, mut slack) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut worst = Worst::NONE;
        for start in elements.clone().step_by(BLOCK) {
            let count = BLOCK.min(elements.end - start);
            let (differences, slack) = (&mut differences[..count], &mut slack[..count]);
            differ(&self.expected, &self.actual, start, differences, slack, &rounding);
            let mut bound = [0.0; BLOCK];
            if let Some(view) = &self.bounds {
                read_real(view, start, &mut bound[..count]);
            }
            let (ratio, mismatches) = ratios(differences, &bound[..count], slack);
            worst.mismatches += mismatches;
            if ratio > worst.ratio {
                let first = differences.iter().position(|&other| other == ratio);
                (worst.ratio, worst.number) = (ratio, start + first.unwrap_or_default());
            }
        }
        worst
    }
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
        let theirs = &theirs[..slack.len()];
        vectorized!(
            rounding: Rounding = rounding, theirs: &'a [f64] = theirs,
            differences: &'a mut [f64] = differences, slack: &'a mut [f64] = slack => (), {
            let pairs = differences.iter_mut().zip(theirs);
            for (slack, (difference, &theirs)) in slack.iter_mut().zip(pairs) {
                *difference = apart(*slack, theirs);
                *slack = rounding.ulp(*slack);
            }
        });
    } else {
        let (mut ours, mut theirs) = ([0; BLOCK], [0; BLOCK]);
        read_int(expected, start, &mut ours[..slack.len()]);
        read_int(actual, start, &mut theirs[..slack.len()]);
        // With the top bit inverted, integers of i64 are in the order of those of u64.
        let inverted = if expected.dtype() == DType::U64 { 0 } else { i64::MIN };
        slack.fill(0.0);
        vectorized!(inverted: i64 = inverted, ours: &'a [i64] = &ours, theirs: &'a [i64] = &theirs,
            differences: &'a mut [f64] = differences => (), {
            for (difference, (&ours, &theirs)) in differences.iter_mut().zip(ours.iter().zip(theirs)) {
                let (ours, theirs) = ((ours ^ inverted) as u64, (theirs ^ inverted) as u64);
                *difference = ours.abs_diff(theirs) as f64;
            }
        });
    }
}

/// Replaces differences by their ratios to the allowed ones; returns the largest, and how many are above 1.
fn ratios(differences: &mut [f64], bounds: &[f64], slack: &[f64]) -> (f64, usize) {
    vectorized!(differences: &'a mut [f64] = differences, bounds: &'a [f64] = bounds, slack: &'a [f64] = slack => (f64, usize), {
        let (mut most, mut beyond) = (f64::NEG_INFINITY, 0);
        for (difference, (&bound, &slack)) in differences.iter_mut().zip(bounds.iter().zip(slack)) {
            let allowed = bound + slack;
            let is_within = (*difference == 0.0) | (allowed == f64::INFINITY);
            // A bound that is NaN, or below zero, is no distance: nothing lies within it.
            let ratio = if allowed >= 0.0 { *difference / allowed } else { f64::INFINITY };
            *difference = if is_within { 0.0 } else { ratio };
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
