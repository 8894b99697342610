//! Products of floats: what is accumulated, and the bounds, of one line or of a block of them.

use std::ops::Range;

use ops::{DType, vectorized};

use super::monoids::{depth, gamma, growth, is_short, single};
use super::states::{follow, line_in_vectors, running, states_of};
use super::{BLOCK, Block, Reduction, STRETCH, stretches};
use crate::evaluate::bound::{Rounding, greater, lesser};

/// Product of floats.
#[derive(Clone, Copy)]
pub(super) struct Product {
    dtype: DType,
    rounding: Rounding,
}

#[derive(Clone, Copy)]
pub(super) struct ProductState {
    product: f64,
    /// The product with every magnitude as large as its error allows.
    upper: f64,
    /// Every partial product of any order lies between these two.
    low: f64,
    high: f64,
    /// 1 where an element is zero, and where one is NaN: among doubles, so that vectors can hold them.
    zero: f64,
    nan: f64,
    error: f64,
}

states_of! {
    /// The states of a stretch.
    ProductStates of ProductState by Product { product, upper, low, high, zero, nan, error }
}

impl Product {
    pub(super) fn new(dtype: DType) -> Product {
        Product { dtype, rounding: Rounding::new(dtype, 0.5) }
    }

    /// The states after each of the next elements of a line. Most often no element is zero or NaN, and the smallest and the
    /// largest partial product are both in range after all of them, or one was out of range before: then they may stand for
    /// those at each place, and the products are left to run.
    fn follow(&self, states: &mut ProductStates, state: &mut ProductState, items: &[f64], errors: &[f64]) {
        let (before, factors) = (*state, Factors::of(items, errors));
        let is_open = before.low < self.rounding.normal || before.high >= self.rounding.overflow;
        let (low, high) = (before.low * factors.low, before.high * factors.high);
        let is_safe = low >= 2.0 * self.rounding.normal && high < self.rounding.overflow / 2.0;
        let is_usual = before.zero + before.nan == 0.0 && are_usual(items, errors);
        if !(is_usual && (is_open || is_safe)) {
            return follow(self, state, [items, errors], |k, state| states.set(k, state));
        }
        let has_errors = factors.error > 0.0 || before.upper != before.product.abs();
        (state.low, state.high, state.error) = (low, high, before.error + factors.error);
        states.hold(*state, items, errors);
        states.error[0] = before.error + errors[0];
        let ProductStates { product, upper, .. } = states;
        let (count, multiply) = (items.len(), |a: f64, b: f64| a * b);
        if has_errors && !is_open {
            let products = [before.product, before.upper];
            [state.product, state.upper] = running([product, upper], count, products, multiply);
        } else {
            [state.product] = running([&mut *product], count, [before.product], multiply);
            // Where nothing is known of the product this one serves as well.
            upper.iter_mut().zip(product).for_each(|(upper, product)| *upper = product.abs());
            state.upper = state.product.abs();
        }
    }

    /// The result of a state, and by what part the roundings of so many factors may move it.
    #[inline(always)]
    fn result(&self, state: ProductState, n: usize, order: f64) -> (f64, f64) {
        let ProductState { product, upper, low, high, zero, nan, error } = state;
        let bound = upper - product.abs() + order * upper + self.rounding.own(product);
        let bound = if low < self.rounding.normal { f64::INFINITY } else { bound };
        let bound = if zero > 0.0 { 0.0 } else { bound };
        let bound = if high >= self.rounding.overflow { f64::INFINITY } else { bound };
        let bound = if nan > 0.0 { 0.0 * error } else { bound };
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        (product, if n <= 1 { error } else { bound })
    }

    /// The results of states, of so many elements the first, and so many more from one to the next, to their places.
    fn results_of(
        &self,
        states: &ProductStates,
        from: [usize; 2],
        places: Range<usize>,
        columns: &mut [Block<f64>],
    ) {
        let (items, errors) = columns[0].part(places);
        let last = from[0] + from[1] * items.len();
        if !is_short(&self.rounding, last as f64) {
            for (k, result) in items.iter_mut().zip(errors).enumerate() {
                (*result.0, *result.1) = self.finish(states.get(k), from[0] + from[1] * k)[0];
            }
            return;
        }
        vectorized!(monoid: Product = *self, states: &'a ProductStates = states, from: [usize; 2] = from,
            items: &'a mut [f64] = items, errors: &'a mut [f64] = errors => (), {
            for k in 0..items.len().min(errors.len()).min(STRETCH) {
                let n = from[0] + from[1] * k;
                let order = gamma(&monoid.rounding, monoid.dtype, depth(n as f64));
                (items[k], errors[k]) = monoid.result(states.get(k), n, order);
            }
        });
    }
}

/// The products of neighbouring lines.
pub(super) struct ProductLines {
    states: ProductStates,
    /// Whether no element so far is zero or NaN, or may be anything: the fields of that are not kept up until one is.
    is_usual: bool,
}

impl ProductStates {
    /// Holds each element and its magnitude, and what one state has for all of them.
    fn hold(&mut self, state: ProductState, items: &[f64], errors: &[f64]) {
        vectorized!(states: &'a mut ProductStates = self, state: ProductState = state,
            items: &'a [f64] = items, errors: &'a [f64] = errors => (), {
            for k in 0..items.len().min(errors.len()).min(STRETCH) {
                (states.product[k], states.upper[k]) = (items[k], items[k].abs() + errors[k]);
                (states.low[k], states.high[k], states.error[k]) = (state.low, state.high, state.error);
                (states.zero[k], states.nan[k]) = (state.zero, state.nan);
            }
        });
    }

    /// One more element of each of lines that are usual, and the results after so many.
    fn step_usual(
        &mut self,
        monoid: &Product,
        [items, errors]: [&[f64]; 2],
        count: usize,
        (results, bounds): (&mut [f64], &mut [f64]),
    ) {
        let order = growth(&monoid.rounding, monoid.dtype, depth(count as f64));
        vectorized!(states: &'a mut ProductStates = self, rounding: Rounding = monoid.rounding, order: f64 = order,
            items: &'a [f64] = items, errors: &'a [f64] = errors, results: &'a mut [f64] = results, bounds: &'a mut [f64] = bounds => (), {
            let count = items.len().min(errors.len()).min(results.len()).min(bounds.len()).min(STRETCH);
            for k in 0..count {
                let (x, most) = (items[k], items[k].abs() + errors[k]);
                let (product, upper) = (states.product[k] * x, states.upper[k] * most);
                let low = states.low[k] * lesser(greater(x.abs() - errors[k], 0.0), 1.0);
                let high = states.high[k] * greater(most, 1.0);
                let bound = upper - product.abs() + order * upper + rounding.own(product);
                let is_open = (low < rounding.normal) | (high >= rounding.overflow) | bound.is_nan();
                (states.product[k], states.upper[k], states.low[k], states.high[k]) = (product, upper, low, high);
                (results[k], bounds[k]) = (product, if is_open { f64::INFINITY } else { bound });
            }
        });
    }
}

/// What the factors of a stretch come to.
struct Factors {
    /// Products of those below and of those above 1, errors included.
    low: f64,
    high: f64,
    error: f64,
}

/// Whether none of these is zero or NaN, or may be anything.
fn are_usual(items: &[f64], errors: &[f64]) -> bool {
    vectorized!(items: &'a [f64] = items, errors: &'a [f64] = errors => bool, {
        let usual = |x: f64, error: f64| (error < f64::INFINITY) & ((x.abs() > 0.0) | (error > 0.0) & (x == 0.0));
        items.iter().zip(errors).fold(true, |all, (&x, &error)| all & usual(x, error))
    })
}

impl Factors {
    fn of(items: &[f64], errors: &[f64]) -> Factors {
        const LANES: usize = 8;
        let [low, high, error] = vectorized!(items: &'a [f64] = items, errors: &'a [f64] = errors => [[f64; LANES]; 3], {
            let mut lanes = [[1.0; LANES], [1.0; LANES], [0.0; LANES]];
            let mut take = |lane: usize, x: f64, error: f64| {
                let [low, high, total] = &mut lanes;
                low[lane] *= lesser(greater(x.abs() - error, 0.0), 1.0);
                high[lane] *= greater(x.abs() + error, 1.0);
                total[lane] += error;
            };
            let (whole, rest) = items.as_chunks::<LANES>();
            let (whole_errors, rest_errors) = errors.as_chunks::<LANES>();
            for (items, errors) in whole.iter().zip(whole_errors) {
                (0..LANES).for_each(|lane| take(lane, items[lane], errors[lane]));
            }
            for (lane, (&x, &error)) in rest.iter().zip(rest_errors).enumerate() {
                take(lane, x, error);
            }
            lanes
        });
        Factors {
            low: low.into_iter().product(),
            high: high.into_iter().product(),
            error: error.into_iter().sum(),
        }
    }
}

impl Reduction for Product {
    type Item = f64;
    type State = ProductState;
    type Lines = Vec<ProductLines>;
    line_in_vectors!(ProductStates);

    fn lines(&self) -> Vec<ProductLines> {
        let lines = || ProductLines { states: ProductStates::new(self.empty()), is_usual: true };
        (0..BLOCK / STRETCH).map(|_| lines()).collect()
    }

    fn state(lines: &Vec<ProductLines>, line: usize) -> ProductState {
        lines[line / STRETCH].states.get(line % STRETCH)
    }

    fn advance(&self, lines: &mut Vec<ProductLines>, block: &Block<f64>, count: usize) {
        for (lines, places) in lines.iter_mut().zip(stretches(count)) {
            lines.states.take(self, &block.items[places.clone()], &block.errors[places]);
        }
    }

    fn step(
        &self,
        lines: &mut Vec<ProductLines>,
        block: &Block<f64>,
        [lines_count, count]: [usize; 2],
        columns: &mut [Block<f64>],
    ) {
        for (lines, places) in lines.iter_mut().zip(stretches(lines_count)) {
            let (items, errors) = (&block.items[places.clone()], &block.errors[places.clone()]);
            lines.is_usual &= are_usual(items, errors);
            if lines.is_usual && count > 1 {
                lines.states.step_usual(self, [items, errors], count, columns[0].part(places));
            } else {
                lines.states.take(self, items, errors);
                self.results_of(&lines.states, [count, 0], places, columns);
            }
        }
    }

    fn empty(&self) -> ProductState {
        ProductState { product: 1.0, upper: 1.0, low: 1.0, high: 1.0, zero: 0.0, nan: 0.0, error: 0.0 }
    }

    #[inline(always)]
    fn take(&self, state: &mut ProductState, x: f64, error: f64) -> bool {
        let zero = (x == 0.0) & (error == 0.0);
        let factor = if zero { 1.0 } else { lesser(greater(x.abs() - error, 0.0), 1.0) };
        state.product *= x;
        state.upper *= x.abs() + error;
        state.low *= factor;
        state.high *= greater(x.abs() + error, 1.0);
        state.zero = if zero { 1.0 } else { state.zero };
        state.nan = if x.is_nan() { 1.0 } else { state.nan };
        state.error += error;
        true
    }

    fn join(&self, first: ProductState, second: ProductState) -> ProductState {
        ProductState {
            product: first.product * second.product,
            upper: first.upper * second.upper,
            low: first.low * second.low,
            high: first.high * second.high,
            zero: first.zero.max(second.zero),
            nan: first.nan.max(second.nan),
            error: first.error + second.error,
        }
    }

    /// Where some order may overflow or lose digits among the subnormals on the way, nothing is known.
    fn finish(&self, state: ProductState, n: usize) -> [(f64, f64); 3] {
        let (product, bound) = self.result(state, n, growth(&self.rounding, self.dtype, depth(n as f64)));
        single(product, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Running products of a line that is usual, leaves what is in range, or has something special somewhere.
    #[test]
    fn running_products_are_those_of_a_loop() {
        let usual = |k: usize| 1.0 + ((k.wrapping_mul(0x9e37_79b9) >> 7) % 1000) as f64 * 1e-5;
        let specials = [1.0, 0.0, 0.25, 1e-200, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        for (dtype, error) in
            [(DType::F32, 0.0), (DType::F32, 1e-3), (DType::F64, 1e-9), (DType::F64, f64::INFINITY)]
        {
            for (special, scale) in specials.into_iter().flat_map(|x| [(x, 1.0), (x, 0.5), (x, -3.0)]) {
                let (monoid, mut block) = (Product::new(dtype), Block::new());
                block.items = std::array::from_fn(|k| if k == 200 { special } else { scale * usual(k) });
                block.errors =
                    std::array::from_fn(|k| if error.is_infinite() && k != 250 { 0.0 } else { error });
                let (mut columns, mut state, mut expected) = ([Block::new()], monoid.empty(), monoid.empty());
                monoid.scan(&mut state, &block, [0, 300], &mut columns);
                let (mut lines, mut rows) = (monoid.lines(), [Block::new()]);
                for k in 0..300 {
                    monoid.take(&mut expected, block.items[k], block.errors[k]);
                    let [(item, bound), ..] = monoid.finish(expected, k + 1);
                    let row = Block { items: [block.items[k]; BLOCK], errors: [block.errors[k]; BLOCK] };
                    monoid.step(&mut lines, &row, [70, k + 1], &mut rows);
                    for (given, place) in [(&columns[0], k), (&rows[0], 0), (&rows[0], 69)] {
                        let (at, given) = (
                            format!("{dtype} {special} of {scale} at {k}"),
                            (given.items[place], given.errors[place]),
                        );
                        assert!(given.0 == item || given.0.is_nan() && item.is_nan(), "{at}");
                        assert_eq!(given.1.to_bits(), bound.to_bits(), "{at}");
                    }
                }
            }
        }
    }

    /// The bound of a product of more factors than units go into 1 checks something.
    #[test]
    fn bounds_of_long_products_are_finite() {
        let product = Product::new(DType::F32);
        for count in [1_usize << 23, 1 << 24, 1 << 27] {
            let [(_, bound), ..] = product.finish(product.empty(), count);
            let units = count as f64 * product.rounding.unit;
            assert!(bound >= units.exp_m1() * 0.999_999 && bound.is_finite(), "{bound} of {count}");
        }
    }
}
