//! Sums of floats: the accumulated state, and the bound, of one sum or of all running sums of a block.
//!
//! The top of `monoids.rs` proves the bound. Running sums are added up one by one; their bounds do not depend on each other
//! and are computed with vectors.

use std::ops::Range;

use ops::DType;

use super::monoids::{chain, linear, single};
use super::states::{follow, line_in_vectors, lines_in_vectors, running, states_of};
use super::{Block, Reduction, STRETCH};
use crate::evaluate::bound::Rounding;

/// Sum of floats.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    dtype: DType,
    rounding: Rounding,
}

#[derive(Clone, Copy, Default)]
pub(super) struct SumState {
    sum: f64,
    /// Sum of the finite magnitudes, errors included.
    magnitude: f64,
    error: f64,
    /// 1 where an element is NaN: among doubles, so that vectors can hold it.
    nan: f64,
}

impl Sum {
    pub(super) fn new(dtype: DType) -> Sum {
        Sum { dtype, rounding: Rounding::new(dtype, 0.5) }
    }

    /// The bound of a sum of `n` finite elements, if neither they nor their sum are near overflow.
    #[inline(always)]
    fn usual_bound(&self, state: SumState, n: f64) -> f64 {
        let order = linear(&self.rounding, self.dtype, chain(self.dtype, n) + 1.0) * state.magnitude;
        state.error + order + self.rounding.own(state.sum)
    }

    /// The bound of a sum of `n` elements. Some order may overflow if the magnitudes do; if they do not, infinite elements
    /// decide alone, unless one is a product that another element brings back, or outweighs, before it is rounded.
    #[inline(always)]
    fn bound(&self, state: SumState, n: f64) -> f64 {
        let SumState { sum, magnitude, error, nan } = state;
        let of_finite = self.rounding.guarded(sum, self.usual_bound(state, n));
        let is_open =
            (magnitude >= self.rounding.overflow * self.rounding.unit) | (sum.is_nan() & (nan == 0.0));
        let of_infinite = if is_open { f64::INFINITY } else { 0.0 * error };
        let bound = if sum.is_finite() { of_finite } else { of_infinite };
        let bound = if magnitude >= self.rounding.overflow { f64::INFINITY } else { bound };
        let bound = if n <= 1.0 { error } else { bound };
        if bound.is_nan() { f64::INFINITY } else { bound }
    }
}

impl Reduction for Sum {
    type Item = f64;
    type State = SumState;
    lines_in_vectors!(SumStates by Sum);
    line_in_vectors!(SumStates of SumState by Sum);

    fn empty(&self) -> SumState {
        SumState { sum: 0.0, magnitude: 0.0, error: 0.0, nan: 0.0 }
    }

    #[inline(always)]
    fn take(&self, state: &mut SumState, x: f64, error: f64) -> bool {
        state.sum += x;
        state.magnitude += term(x, error);
        state.error += error;
        state.nan = if x.is_nan() { 1.0 } else { state.nan };
        true
    }

    fn join(&self, first: SumState, second: SumState) -> SumState {
        SumState {
            sum: first.sum + second.sum,
            magnitude: first.magnitude + second.magnitude,
            error: first.error + second.error,
            nan: first.nan.max(second.nan),
        }
    }

    #[inline(always)]
    fn finish(&self, state: SumState, n: usize) -> [(f64, f64); 3] {
        single(state.sum, self.bound(state, n as f64))
    }
}

states_of! {
    /// The states of a stretch.
    SumStates of SumState by Sum { sum, magnitude, error, nan }
}

impl Sum {
    /// The states after each of the next elements of a line. For finite ones two or three sums suffice.
    #[inline(always)]
    fn follow(&self, states: &mut SumStates, state: &mut SumState, [items, errors]: [&[f64]; 2]) {
        let [finite, inexact] = states.hold(items, errors);
        if !finite {
            return follow(self, state, [items, errors], |k, state| states.set(k, state));
        }
        let SumStates { sum, magnitude, error, nan } = states;
        nan.fill(state.nan);
        let (sums, add) = ([state.sum, state.magnitude], |a: f64, b: f64| a + b);
        if inexact {
            let sums = [state.sum, state.magnitude, state.error];
            [state.sum, state.magnitude, state.error] =
                running([sum, magnitude, error], items.len(), sums, add);
        } else {
            error.fill(state.error);
            [state.sum, state.magnitude] = running([sum, magnitude], items.len(), sums, add);
        }
    }

    /// The results of states to their places: the first of `from[0]` elements, each next of `from[1]` more. Where all are
    /// usual that takes a third of the time.
    #[inline(always)]
    fn results_of(
        &self,
        states: &SumStates,
        from: [usize; 2],
        places: Range<usize>,
        columns: &mut [Block<f64>],
    ) {
        let (items, errors) = columns[0].part(places);
        let number = |k: usize| from[0] + from[1] * k;
        let limit = self.rounding.overflow / 4.0;
        let mut all = true;
        for k in 0..items.len().min(errors.len()).min(STRETCH) {
            let (state, n) = (states.get(k), number(k) as f64);
            let bound = self.usual_bound(state, n);
            // Nothing is known about NaN.
            all &= state.sum.abs() + state.magnitude + bound < limit;
            (items[k], errors[k]) = (state.sum, if n <= 1.0 { state.error } else { bound });
        }
        if !all {
            for (k, result) in items.iter_mut().zip(errors).enumerate() {
                (*result.0, *result.1) = self.finish(states.get(k), number(k))[0];
            }
        }
    }
}

impl SumStates {
    /// Stores what each element adds, if all are finite; returns whether they are, and whether some have errors.
    #[inline(always)]
    fn hold(&mut self, items: &[f64], errors: &[f64]) -> [bool; 2] {
        let (mut finite, mut exact) = (true, true);
        for k in 0..items.len().min(errors.len()).min(STRETCH) {
            let (x, error) = (items[k], errors[k]);
            (self.sum[k], self.magnitude[k], self.error[k]) = (x, x.abs() + error, error);
            finite &= x.is_finite();
            exact &= error == 0.0;
        }
        [finite, !exact]
    }
}

/// What an element adds to the magnitudes.
#[inline(always)]
fn term(x: f64, error: f64) -> f64 {
    if x.is_finite() { x.abs() + error } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_sums_have_the_bound_of_a_sum() {
        let usual = |k: u64| (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 * 1e-5 - 80.0;
        let large = [1e300, f64::MAX, -3e38, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for (dtype, error) in
            [(DType::F32, 0.0), (DType::F32, 1e-3), (DType::F64, 1e-9), (DType::F32, f64::INFINITY)]
        {
            for &special in [0.0].iter().chain(&large) {
                let (sum, mut block) = (Sum::new(dtype), Block::new());
                block.items = std::array::from_fn(|k| if k == 200 { special } else { usual(k as u64) });
                block.errors = [error; super::super::BLOCK];
                let (mut columns, mut state, mut expected) = ([Block::new()], sum.empty(), sum.empty());
                sum.scan(&mut state, &block, [0, 300], &mut columns);
                for k in 0..300 {
                    sum.take(&mut expected, block.items[k], block.errors[k]);
                    let [(item, bound), ..] = sum.finish(expected, k + 1);
                    let given = [columns[0].items[k], columns[0].errors[k]];
                    assert_eq!(
                        given.map(f64::to_bits),
                        [item, bound].map(f64::to_bits),
                        "{dtype} {special} at {k}"
                    );
                }
            }
        }
    }
}
