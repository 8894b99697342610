//! Sums of floats: what is accumulated, and the bound, of one sum or of all running sums of a block.
//!
//! Why the bound holds stands at the top of `monoids.rs`. Running sums are added up one by one; their bounds do not depend on
//! each other and are computed with vectors.

use ops::{DType, vectorized};

use super::monoids::{chain, linear, single};
use super::{Block, Reduction};
use crate::evaluate::block::BLOCK;
use crate::evaluate::bound::Rounding;

/// Sum of floats.
#[derive(Clone, Copy)]
pub(super) struct Sum {
    dtype: DType,
    rounding: Rounding,
}

#[derive(Clone, Copy)]
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

    /// The bound of a sum of `n` elements. Some order may overflow on the way where the magnitudes do; infinite elements decide
    /// alone where they do not, unless one is a product that another element brings back, or outweighs, before it is rounded.
    #[inline(always)]
    fn bound(&self, state: SumState, n: f64) -> f64 {
        let SumState { sum, magnitude, error, nan } = state;
        let order = linear(&self.rounding, self.dtype, chain(self.dtype, n) + 1.0) * magnitude;
        let of_finite = self.rounding.guarded(sum, error + order + self.rounding.own(sum));
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

    fn empty(&self) -> SumState {
        SumState { sum: 0.0, magnitude: 0.0, error: 0.0, nan: 0.0 }
    }

    #[inline(always)]
    fn take(&self, state: &mut SumState, x: f64, error: f64) -> bool {
        state.sum += x;
        state.magnitude += if x.is_finite() { x.abs() + error } else { 0.0 };
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

    fn finish(&self, state: SumState, n: usize) -> [(f64, f64); 3] {
        single(state.sum, self.bound(state, n as f64))
    }

    fn scan(
        &self,
        state: &mut SumState,
        block: &Block<f64>,
        [before, count]: [usize; 2],
        columns: &mut [Block<f64>],
    ) {
        let mut running = Running::default();
        let Block { items: sums, errors: bounds } = &mut columns[0];
        for (place, (&x, &error)) in block.items.iter().zip(&block.errors).take(count).enumerate() {
            self.take(state, x, error);
            sums[place] = state.sum;
            running.magnitudes[place] = state.magnitude;
            running.errors[place] = state.error;
            running.nans[place] = state.nan;
        }
        running.bound(*self, before as f64, &sums[..count], &mut bounds[..count]);
    }

    fn step(&self, states: &mut [SumState], block: &Block<f64>, count: usize, columns: &mut [Block<f64>]) {
        let (items, errors) = (&block.items[..states.len()], &block.errors[..states.len()]);
        let Block { items: sums, errors: bounds } = &mut columns[0];
        let (sums, bounds) = (&mut sums[..states.len()], &mut bounds[..states.len()]);
        vectorized!(monoid: Sum = *self, count: f64 = count as f64, states: &'a mut [SumState] = states,
            items: &'a [f64] = items, errors: &'a [f64] = errors, sums: &'a mut [f64] = sums,
            bounds: &'a mut [f64] = bounds => (), {
            let results = sums.iter_mut().zip(bounds);
            for ((state, (sum, bound)), (&x, &error)) in states.iter_mut().zip(results).zip(items.iter().zip(errors)) {
                monoid.take(state, x, error);
                (*sum, *bound) = (state.sum, monoid.bound(*state, count));
            }
        });
    }
}

/// What belongs to the running sums of a block, among doubles, so that vectors can hold it.
struct Running {
    magnitudes: [f64; BLOCK],
    errors: [f64; BLOCK],
    /// 1 from the first NaN on.
    nans: [f64; BLOCK],
}

impl Default for Running {
    fn default() -> Running {
        Running { magnitudes: [0.0; BLOCK], errors: [0.0; BLOCK], nans: [0.0; BLOCK] }
    }
}

impl Running {
    /// The bounds of sums of which so many elements went before.
    fn bound(&self, monoid: Sum, before: f64, sums: &[f64], bounds: &mut [f64]) {
        let count = sums.len();
        let [magnitudes, errors, nans] =
            [&self.magnitudes, &self.errors, &self.nans].map(|numbers| &numbers[..count]);
        vectorized!(monoid: Sum = monoid, before: f64 = before, sums: &'a [f64] = sums, magnitudes: &'a [f64] = magnitudes,
            errors: &'a [f64] = errors, nans: &'a [f64] = nans, bounds: &'a mut [f64] = bounds => (), {
            let others = magnitudes.iter().zip(errors).zip(nans);
            let all = bounds.iter_mut().zip(sums).zip(others).enumerate();
            for (k, ((bound, &sum), ((&magnitude, &error), &nan))) in all {
                let state = SumState { sum, magnitude, error, nan };
                *bound = monoid.bound(state, before + f64::from(k as i32 + 1));
            }
        });
    }
}
