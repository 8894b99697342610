//! The states that each fold accumulates, and how far compiled code may be from them.
//!
//! Compiled code adds in the dtype itself, in lanes and chunks whose order it is free to choose; the evaluator adds in
//! doubles. With `u` the unit roundoff, a sum of `n` elements in any order is off by at most `(n - 1) u` times the sum of
//! magnitudes, however large `n` is (Rump 2012, Error estimation of floating-point summation and dot product). One lane
//! may walk a whole fold of f64, so no legal order is spared the worst case: `1, u, u, …` added from the left stays 1. Folds
//! of f32 are added up in blocks whose sums go on in f64, so an element meets no more roundings than [`LONGEST_CHAIN`] says,
//! those of f64 aside. Elements that are products may be added without being rounded, all but the first: `u` times the
//! magnitudes more.

use ops::{DType, vectorized};

use super::states::{lines_in_vectors, single_results, states_of};
use super::{Item, Reduction};
use crate::evaluate::bound::{Rounding, apart};

/// The most successive roundings of an element in a sum of f32: 64 in the block of an array or of a variance's lanes (16 in
/// the block of a sum's lane), and 32 for combining lanes, blocks of the grid and pieces of a loop, and for storing results.
pub(super) const LONGEST_CHAIN: f64 = 96.0;

/// The most successive roundings of an element in a sum of `n` elements.
#[inline(always)]
pub(super) fn chain(dtype: DType, n: f64) -> f64 {
    let in_double = n * (f64::EPSILON / f64::from(f32::EPSILON));
    if dtype == DType::F32 { depth(n).min(LONGEST_CHAIN + in_double) } else { depth(n) }
}

/// The most successive roundings of an element in a fold of `n` elements.
#[inline(always)]
pub(super) fn depth(n: f64) -> f64 {
    (n - 1.0).max(0.0)
}

/// The relative error of `roundings` roundings of a sum; in f64 the evaluator's own are as large, and count too.
#[inline(always)]
pub(super) fn linear(rounding: &Rounding, dtype: DType, roundings: f64) -> f64 {
    let sides = if dtype == DType::F64 { 2.0 } else { 1.0 };
    sides * roundings * rounding.unit
}

/// Whether `roundings` roundings together are at most a half.
#[inline(always)]
pub(super) fn is_short(rounding: &Rounding, roundings: f64) -> bool {
    roundings * rounding.unit <= 0.5
}

/// The relative error of `roundings` roundings, each a factor off by one unit, which together are short: twice their sum
/// more than suffices for the higher orders.
#[inline(always)]
pub(super) fn gamma(rounding: &Rounding, dtype: DType, roundings: f64) -> f64 {
    let bound = linear(rounding, dtype, roundings) * (1.0 + 2.0 * roundings * rounding.unit);
    if is_short(rounding, roundings) { bound } else { f64::INFINITY }
}

/// The relative error of any number of roundings: at most the exponential of them all less 1. That is a power of the
/// exponential of a part of them, of which the first terms of the series, the last twice as large, are more than the whole.
pub(super) fn growth(rounding: &Rounding, dtype: DType, roundings: f64) -> f64 {
    const SQUARES: u32 = 10;
    if is_short(rounding, roundings) {
        return gamma(rounding, dtype, roundings);
    }
    let part = roundings * rounding.unit / f64::from(1 << SQUARES);
    let above = 1.0 + part * (1.0 + part * (0.5 + part / 3.0));
    let power = (0..SQUARES).fold(above, |power, _| power * power);
    let sides = if dtype == DType::F64 { 2.0 } else { 1.0 };
    // Beyond, the power is more than any double.
    if part <= 1.0 { sides * (power - 1.0) } else { f64::INFINITY }
}

/// One result, the other two places unused.
#[inline(always)]
pub(super) fn single<I: Item>(value: I, bound: f64) -> [(I, f64); 3] {
    let bound = if bound.is_nan() { f64::INFINITY } else { bound };
    [(value, bound), (I::default(), 0.0), (I::default(), 0.0)]
}

/// Largest or smallest of floats; no rounding, so only the elements' errors count.
#[derive(Clone, Copy)]
pub(super) struct Extreme {
    largest: bool,
}

#[derive(Clone, Copy)]
pub(super) struct ExtremeState {
    best: f64,
    /// The result with every element at the upper and at the lower end of its interval.
    upper: f64,
    lower: f64,
}

states_of! {
    /// The states of a stretch.
    ExtremeStates of ExtremeState by Extreme { best, upper, lower }
}
single_results!(Extreme, ExtremeStates);

impl Extreme {
    pub(super) fn new(largest: bool) -> Extreme {
        Extreme { largest }
    }

    /// NaN wins and -0 is below 0, as in the rows of the two ops.
    #[inline(always)]
    fn better(&self, a: f64, b: f64) -> f64 {
        let wins = if self.largest { a > b } else { a < b };
        let is_first = wins | (a == b) & (a.is_sign_positive() == self.largest);
        let one = if is_first { a } else { b };
        if a.is_nan() | b.is_nan() { f64::NAN } else { one }
    }
}

impl Reduction for Extreme {
    type Item = f64;
    type State = ExtremeState;
    lines_in_vectors!(ExtremeStates by Extreme);

    fn empty(&self) -> ExtremeState {
        let worst = if self.largest { f64::NEG_INFINITY } else { f64::INFINITY };
        ExtremeState { best: worst, upper: worst, lower: worst }
    }

    #[inline(always)]
    fn take(&self, state: &mut ExtremeState, x: f64, error: f64) -> bool {
        let loses = if self.largest { x + error < state.lower } else { x - error > state.upper };
        // A NaN that may be anything is not sure to be NaN.
        let is_open = error == f64::INFINITY;
        let upper = if is_open { f64::INFINITY } else { x + error };
        let lower = if is_open { f64::NEG_INFINITY } else { x - error };
        state.best = self.better(state.best, x);
        state.upper = self.better(state.upper, upper);
        state.lower = self.better(state.lower, lower);
        !loses
    }

    fn join(&self, first: ExtremeState, second: ExtremeState) -> ExtremeState {
        ExtremeState {
            best: self.better(first.best, second.best),
            upper: self.better(first.upper, second.upper),
            lower: self.better(first.lower, second.lower),
        }
    }

    fn lose(&self, state: &ExtremeState, items: &[f64], errors: &[f64]) -> bool {
        let (largest, [lower, upper]) = (self.largest, [state.lower, state.upper]);
        vectorized!(largest: bool = largest, lower: f64 = lower, upper: f64 = upper,
            items: &'a [f64] = items, errors: &'a [f64] = errors => bool, {
            let elements = items.iter().zip(errors);
            match largest {
                true => elements.fold(true, |lose, (x, error)| lose & (x + error < lower)),
                false => elements.fold(true, |lose, (x, error)| lose & (x - error > upper)),
            }
        })
    }

    fn is_sure(&self, _: usize, _: usize, inexact: bool) -> bool {
        !inexact
    }

    #[inline(always)]
    fn finish(&self, state: ExtremeState, _: usize) -> [(f64, f64); 3] {
        single(state.best, apart(state.upper, state.best).max(apart(state.lower, state.best)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roundings_grow_no_slower_than_the_exponential() {
        for dtype in [DType::F32, DType::F64] {
            let (rounding, sides) = (Rounding::new(dtype, 0.5), if dtype == DType::F64 { 2.0 } else { 1.0 });
            for whole in [1e-6, 0.3, 0.49, 0.51, 1.0, 3.0, 20.0, 80.0, 500.0] {
                let given = growth(&rounding, dtype, whole / rounding.unit);
                let exact = sides * f64::exp_m1(whole);
                assert!(given >= exact, "{dtype}: {given:e} for {exact:e} at {whole}");
                // The check is useful as long as the bound is finite, and not much larger.
                let most = exact * if whole < 100.0 { 2.0 } else { 1e20 };
                assert!(given <= most, "{dtype}: {given:e} for {exact:e} at {whole}");
            }
        }
    }
}
