//! Means and sums of squared deviations: the accumulated states, and the bounds, of one line or of a block of them.
//!
//! Deviations are those from the first element: in doubles a mean that is updated with each element is off by more than
//! compiled code, which does the same. Joined as by Chan, Golub and LeVeque (1983). The states of a block are stored field
//! by field, and nothing branches, so that both vectorize.

use std::ops::Range;

use ops::DType;

use super::monoids::{LONGEST_CHAIN, chain, gamma};
use super::states::{follow, in_lanes, line_in_vectors, lines_in_vectors, running, states_of};
use super::{Block, Reduction, STRETCH};
use crate::evaluate::bound::{Rounding, greater, lesser};

/// Mean, sum of squared deviations and count.
#[derive(Clone, Copy)]
pub(super) struct Welford {
    dtype: DType,
    rounding: Rounding,
}

#[derive(Clone, Copy, Default)]
pub(super) struct WelfordState {
    count: f64,
    /// The first element, and the sums of deviations from it and of their squares.
    shift: f64,
    sum: f64,
    squares: f64,
    /// The smallest and the largest element, errors included.
    low: f64,
    high: f64,
    /// Sum of magnitudes, errors included, and of errors and their squares.
    magnitude: f64,
    error: f64,
    error_squares: f64,
}

states_of! {
    /// The states of a stretch.
    WelfordStates of WelfordState by Welford { count, shift, sum, squares, low, high, magnitude, error, error_squares }
}

impl Welford {
    pub(super) fn new(dtype: DType) -> Welford {
        Welford { dtype, rounding: Rounding::new(dtype, 0.5) }
    }

    /// An upper bound of the sum of squared deviations of the elements from the first elements of runs. Of a run of `k`
    /// elements it is at most `k` times its share of the squares about the mean, as its first deviates no further than all
    /// together.
    #[inline(always)]
    fn about_elements(&self, state: &WelfordState, mean: f64, m2: f64) -> f64 {
        let n = state.count;
        let longest = if self.dtype == DType::F32 { lesser(n, LONGEST_CHAIN) } else { n };
        let farthest = greater(state.high - mean, mean - state.low);
        lesser(m2 * longest, m2 + n * farthest * farthest)
    }

    /// The mean is an element and the mean deviation from it, rounded once.
    #[inline(always)]
    fn mean_bound(&self, state: &WelfordState, mean: f64, deviations: f64, roundings: f64) -> f64 {
        let share = 1.0 / state.count;
        state.error * share + roundings * (deviations * share).sqrt() + self.rounding.ulp(mean)
    }

    /// M2 is the squared norm of the deviations: errors of elements move it by at most their norm. The sums of deviations
    /// and of their squares are each off by the roundings times what is added up, and so is the quotient of the former.
    #[inline(always)]
    fn m2_bound(&self, state: &WelfordState, [m2, most]: [f64; 2], deviations: f64, roundings: f64) -> f64 {
        // Of a normal number: a product of a subnormal one takes a processor as long as a hundred others.
        let underflow = state.count * greater(self.rounding.ulp(0.0), f64::MIN_POSITIVE);
        most - m2 + 3.0 * roundings * deviations + underflow + self.rounding.own(m2)
    }

    /// The mean and the sum of squared deviations, each with its bound. With infinities, or numbers too large to subtract or
    /// square, the result depends on the order.
    #[inline(always)]
    fn results(&self, state: WelfordState) -> [(f64, f64); 3] {
        let deviation = state.sum / state.count;
        let mean = if state.count > 1.0 { state.shift + deviation } else { state.shift };
        let m2 = if state.count > 1.0 { state.squares - state.sum * deviation } else { state.squares };
        // NaN stays.
        let m2 = if m2 < 0.0 { 0.0 } else { m2 };
        let norm = m2.sqrt() + state.error_squares.sqrt();
        let most = norm * norm;
        let roundings = gamma(&self.rounding, self.dtype, chain(self.dtype, state.count) + 8.0);
        let deviations = self.about_elements(&state, mean, most);
        let of_mean = self.mean_bound(&state, mean, deviations, roundings);
        let of_m2 = self.rounding.guarded(m2, self.m2_bound(&state, [m2, most], deviations, roundings));
        let of_m2 = if 2.0 * deviations >= self.rounding.overflow { f64::INFINITY } else { of_m2 };
        let is_single = state.count == 1.0;
        let [of_mean, of_m2] =
            [if is_single { state.error } else { of_mean }, if is_single { 0.0 } else { of_m2 }];
        let limit = if is_single { f64::INFINITY } else { self.rounding.overflow / 2.0 };
        let overflows = state.magnitude >= limit;
        let none = (state.count == 0.0) | state.magnitude.is_nan() & (state.error != f64::INFINITY);
        let bound = |bound: f64, overflows: bool| {
            let sure = if bound.is_nan() | overflows { f64::INFINITY } else { bound };
            if none { 0.0 } else { sure }
        };
        let unknown = state.error == f64::INFINITY;
        let count_bound = if state.count * self.rounding.unit < 1.0 { 0.0 } else { f64::INFINITY };
        let of_mean = bound(of_mean, overflows & !is_single | unknown);
        let of_m2 = bound(of_m2, overflows | unknown);
        [(mean, of_mean), (m2, of_m2), (state.count, count_bound)]
    }

    /// The states after each of the next elements of a line. Where no magnitudes are near to what overflows, their sum may
    /// stand for that at each place.
    #[inline(always)]
    fn follow(&self, states: &mut WelfordStates, state: &mut WelfordState, [items, errors]: [&[f64]; 2]) {
        let shift = if state.count == 0.0 { items[0] } else { state.shift };
        let exact = states.hold(state.count, shift, [items, errors]);
        let magnitude = state.magnitude + in_lanes(&states.magnitude[..items.len()], 0.0, |a, b| a + b);
        // Nothing is known about NaN.
        let is_usual = magnitude < self.rounding.overflow / 4.0;
        if !is_usual {
            return follow(self, state, [items, errors], |k, state| states.set(k, state));
        }
        (state.shift, state.magnitude) = (shift, magnitude);
        state.count += items.len() as f64;
        states.magnitude.fill(magnitude);
        states.run(state, items.len());
        let fields = [&mut states.error, &mut states.error_squares];
        let before = [state.error, state.error_squares];
        if exact {
            fields.into_iter().zip(before).for_each(|(field, before)| field.fill(before));
        } else {
            [state.error, state.error_squares] = running(fields, items.len(), before, |a, b| a + b);
        }
    }

    /// The results of states, to their places.
    #[inline(always)]
    fn results_of(
        &self,
        states: &WelfordStates,
        _: [usize; 2],
        places: Range<usize>,
        columns: &mut [Block<f64>],
    ) {
        let [means, squares, counts] = columns else { unreachable!("three results") };
        let count = places.len().min(STRETCH);
        let [(means, mean_bounds), (squares, square_bounds), (counts, count_bounds)] =
            [means, squares, counts].map(|column| column.part(places.start..places.start + count));
        for k in 0..count {
            let results = self.results(states.get(k));
            (means[k], mean_bounds[k]) = results[0];
            (squares[k], square_bounds[k]) = results[1];
            (counts[k], count_bounds[k]) = results[2];
        }
    }
}

impl WelfordStates {
    /// Stores what each element adds, about a shift and after `before` others; returns whether all are exact.
    #[inline(always)]
    fn hold(&mut self, before: f64, shift: f64, [items, errors]: [&[f64]; 2]) -> bool {
        let mut exact = true;
        for (k, number) in (0..items.len().min(errors.len()).min(STRETCH)).zip(1_i32..) {
            let (x, error) = (items[k], errors[k]);
            let deviation = x - shift;
            (self.count[k], self.shift[k]) = (before + f64::from(number), shift);
            (self.sum[k], self.squares[k]) = (deviation, deviation * deviation);
            (self.low[k], self.high[k]) = (x - error, x + error);
            (self.magnitude[k], self.error[k], self.error_squares[k]) =
                (x.abs() + error, error, error * error);
            exact &= error == 0.0;
        }
        exact
    }

    /// Runs through what `count` elements add.
    #[inline(always)]
    fn run(&mut self, state: &mut WelfordState, count: usize) {
        let mut running = *state;
        for k in 0..count.min(STRETCH) {
            running.sum += self.sum[k];
            running.squares += self.squares[k];
            running.low = lesser(self.low[k], running.low);
            running.high = greater(self.high[k], running.high);
            (self.sum[k], self.squares[k]) = (running.sum, running.squares);
            (self.low[k], self.high[k]) = (running.low, running.high);
        }
        *state = running;
    }
}

impl Reduction for Welford {
    type Item = f64;
    type State = WelfordState;
    lines_in_vectors!(WelfordStates by Welford);
    line_in_vectors!(WelfordStates of WelfordState by Welford);

    fn empty(&self) -> WelfordState {
        WelfordState {
            count: 0.0,
            shift: 0.0,
            sum: 0.0,
            squares: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            magnitude: 0.0,
            error: 0.0,
            error_squares: 0.0,
        }
    }

    #[inline(always)]
    fn take(&self, state: &mut WelfordState, x: f64, error: f64) -> bool {
        state.shift = if state.count == 0.0 { x } else { state.shift };
        state.count += 1.0;
        let deviation = x - state.shift;
        state.sum += deviation;
        state.squares += deviation * deviation;
        state.low = lesser(x - error, state.low);
        state.high = greater(x + error, state.high);
        state.magnitude += x.abs() + error;
        state.error += error;
        state.error_squares += error * error;
        true
    }

    fn join(&self, first: WelfordState, second: WelfordState) -> WelfordState {
        if first.count == 0.0 || second.count == 0.0 {
            return if second.count == 0.0 { first } else { second };
        }
        let apart = second.shift - first.shift;
        let moved = second.sum + second.count * apart;
        WelfordState {
            count: first.count + second.count,
            shift: first.shift,
            sum: first.sum + moved,
            squares: first.squares + (second.squares + apart * (second.sum + moved)),
            low: first.low.min(second.low),
            high: first.high.max(second.high),
            magnitude: first.magnitude + second.magnitude,
            error: first.error + second.error,
            error_squares: first.error_squares + second.error_squares,
        }
    }

    fn finish(&self, state: WelfordState, _: usize) -> [(f64, f64); 3] {
        self.results(state)
    }

    fn is_sure(&self, result: usize, length: usize, _: bool) -> bool {
        result == 2 && length as f64 * self.rounding.unit < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCK, Block};
    use super::*;

    /// Running means of a line that is usual, or has something special somewhere.
    #[test]
    fn running_means_are_those_of_a_loop() {
        let usual = |k: usize| ((k.wrapping_mul(0x9e37_79b9) >> 7) % 1000) as f64 * 1e-2 - 3.0;
        for (dtype, error) in [(DType::F32, 0.0), (DType::F32, 1e-3), (DType::F64, 1e-9)] {
            for special in [1.0, 1e30, -1e300, f64::INFINITY, f64::NAN] {
                let (monoid, mut block) = (Welford::new(dtype), Block::new());
                block.items = std::array::from_fn(|k| if k == 200 { special } else { usual(k) });
                block.errors = [error; BLOCK];
                let (mut columns, mut state) = ([Block::new(), Block::new(), Block::new()], monoid.empty());
                monoid.scan(&mut state, &block, [0, 300], &mut columns);
                let mut expected = monoid.empty();
                for k in 0..300 {
                    monoid.take(&mut expected, block.items[k], block.errors[k]);
                    for (column, (item, bound)) in columns.iter().zip(monoid.finish(expected, k + 1)) {
                        let given = (column.items[k], column.errors[k]);
                        let same = given.0 == item || given.0.is_nan() && item.is_nan();
                        assert!(same, "{dtype} {special} at {k}: {} for {item}", given.0);
                        assert_eq!(given.1.to_bits(), bound.to_bits(), "{dtype} {special} at {k}");
                    }
                }
            }
        }
    }
}
