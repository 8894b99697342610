//! Sums of floats: what is accumulated, and the bound, of one sum or of all running sums of a block.
//!
//! Why the bound holds stands at the top of `monoids.rs`. Running sums are added up one by one; their bounds do not depend on
//! each other and are computed with vectors.

use ops::DType;

use super::Reduction;
use super::monoids::{chain, linear, single};
use super::states::{line_in_vectors, lines_in_vectors, single_results, states_of};
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
    lines_in_vectors!(Sum, SumStates);
    line_in_vectors!(SumStates);

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
    SumStates of SumState { sum, magnitude, error, nan }
}
single_results!(Sum, SumStates);

/// What an element adds to the magnitudes.
#[inline(always)]
fn term(x: f64, error: f64) -> f64 {
    if x.is_finite() { x.abs() + error } else { 0.0 }
}
