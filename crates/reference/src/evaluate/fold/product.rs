//! Products of floats: the accumulated states, and the bounds, of one line or of a block of them.

use ops::{DType, vectorized};

use super::monoids::{depth, gamma, growth, is_short, single};
use super::states::{follow, in_lanes, running, states_of};
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

    /// What is known about a stretch before its products are computed, if no element so far is zero or NaN: that the
    /// smallest and the largest partial product are both in range after all of it, even with the roundings of a short line,
    /// which are below 3, or that one was out of range before.
    #[inline(always)]
    fn range(&self, before: &ProductState, after: &ProductState) -> Option<Range> {
        let (normal, overflow) = (self.rounding.normal, self.rounding.overflow);
        let is_outside = before.low < normal || before.high >= overflow;
        let is_safe = after.low >= 4.0 * normal && after.high < overflow / 4.0;
        let is_usual = before.zero + before.nan == 0.0;
        match (is_outside, is_safe) {
            (true, _) if is_usual => Some(Range::Outside),
            (false, true) if is_usual => Some(Range::Within),
            _ => None,
        }
    }

    /// The results of a stretch in a known range, after `before` elements.
    #[inline(always)]
    fn run(
        &self,
        state: &mut ProductState,
        line: &mut Line,
        (range, before): (Range, usize),
        (items, bounds): (&mut [f64], &mut [f64]),
    ) {
        let (count, multiply) = (items.len(), |a: f64, b: f64| a * b);
        let Line { products, uppers, has_errors, .. } = &mut *line;
        if range == Range::Within && (*has_errors || state.upper != state.product.abs()) {
            let start = [state.product, state.upper];
            [state.product, state.upper] = running([products, uppers], count, start, multiply);
        } else {
            [state.product] = running([&mut *products], count, [state.product], multiply);
            uppers.iter_mut().zip(products).for_each(|(upper, product)| *upper = product.abs());
            state.upper = state.product.abs();
        }
        items.copy_from_slice(&line.products[..count]);
        match range {
            Range::Outside => bounds.fill(f64::INFINITY),
            Range::Within => line.bound(self, before, bounds),
        }
    }

    /// The bound of a product in range.
    #[inline(always)]
    fn usual_bound(&self, product: f64, upper: f64, order: f64) -> f64 {
        upper - product.abs() + order * upper + self.rounding.own(product)
    }

    /// The result of a state, and by what part the roundings of `n` factors may move it.
    #[inline(always)]
    fn result(&self, state: ProductState, n: usize, order: f64) -> (f64, f64) {
        let ProductState { product, upper, low, high, zero, nan, error } = state;
        let bound = self.usual_bound(product, upper, order);
        let (normal, overflow) = self.rounding.limits(order);
        let bound = if low < normal { f64::INFINITY } else { bound };
        let bound = if zero > 0.0 { 0.0 } else { bound };
        let bound = if high >= overflow { f64::INFINITY } else { bound };
        let bound = if nan > 0.0 { 0.0 * error } else { bound };
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        (product, if n <= 1 { error } else { bound })
    }

    /// The results of states to their places: the first of `from[0]` elements, each next of `from[1]` more.
    #[inline(always)]
    fn results_of(
        &self,
        states: &ProductStates,
        from: [usize; 2],
        places: std::ops::Range<usize>,
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
        for k in 0..items.len().min(errors.len()).min(STRETCH) {
            let n = from[0] + from[1] * k;
            let order = gamma(&self.rounding, self.dtype, depth(n as f64));
            (items[k], errors[k]) = self.result(states.get(k), n, order);
        }
    }
}

/// The range of the partial products of a line.
#[derive(Clone, Copy, PartialEq)]
enum Range {
    /// All are between losing digits and overflowing.
    Within,
    /// One is not, so nothing is known of the bounds.
    Outside,
}

/// A stretch of a line: elements and their magnitudes at most, which become products, and the factors of the smallest and of the
/// largest partial product.
struct Line {
    products: [f64; STRETCH],
    uppers: [f64; STRETCH],
    lows: [f64; STRETCH],
    highs: [f64; STRETCH],
    has_errors: bool,
}

impl Line {
    fn new() -> Line {
        let ones = [1.0; STRETCH];
        Line { products: ones, uppers: ones, lows: ones, highs: ones, has_errors: false }
    }

    /// Takes the elements of a stretch; returns whether none is zero, NaN or unknown.
    #[inline(always)]
    fn take(&mut self, items: &[f64], errors: &[f64]) -> bool {
        let (mut usual, mut exact) = (true, true);
        for k in 0..items.len().min(errors.len()).min(STRETCH) {
            let (x, error) = (items[k], errors[k]);
            let most = x.abs() + error;
            (self.products[k], self.uppers[k]) = (x, most);
            self.lows[k] = lesser(greater(x.abs() - error, 0.0), 1.0);
            self.highs[k] = greater(most, 1.0);
            usual &= is_usual(x, error);
            exact &= error == 0.0;
        }
        self.has_errors = !exact;
        usual
    }

    /// What the state is after these elements but for the products.
    #[inline(always)]
    fn after(&self, state: &ProductState, errors: &[f64]) -> ProductState {
        let product = |factors: &[f64]| in_lanes(&factors[..errors.len()], 1.0, |a, b| a * b);
        let (low, high) = (state.low * product(&self.lows), state.high * product(&self.highs));
        let error =
            if self.has_errors { state.error + in_lanes(errors, 0.0, |a, b| a + b) } else { state.error };
        ProductState { low, high, error, ..*state }
    }

    /// The bounds of products in range, after `before` elements.
    #[inline(always)]
    fn bound(&self, monoid: &Product, before: usize, bounds: &mut [f64]) {
        for k in 0..bounds.len().min(STRETCH) {
            let order = gamma(&monoid.rounding, monoid.dtype, depth((before + k + 1) as f64));
            bounds[k] = monoid.usual_bound(self.products[k], self.uppers[k], order);
        }
    }
}

/// The products of neighbouring lines.
pub(super) struct ProductLines {
    states: ProductStates,
    /// Whether no element so far is zero, NaN or unknown: the fields for those are not updated until one is.
    is_usual: bool,
}

impl ProductStates {
    /// One more element of each of lines that are usual, and the results after `count` elements.
    fn step_usual(
        &mut self,
        monoid: &Product,
        [items, errors]: [&[f64]; 2],
        count: usize,
        (results, bounds): (&mut [f64], &mut [f64]),
    ) {
        let order = growth(&monoid.rounding, monoid.dtype, depth(count as f64));
        let limits = monoid.rounding.limits(order);
        vectorized!(states: &'a mut ProductStates = self, monoid: Product = *monoid, order: f64 = order, limits: (f64, f64) = limits,
            items: &'a [f64] = items, errors: &'a [f64] = errors, results: &'a mut [f64] = results, bounds: &'a mut [f64] = bounds => (), {
            let count = items.len().min(errors.len()).min(results.len()).min(bounds.len()).min(STRETCH);
            for k in 0..count {
                let (x, most) = (items[k], items[k].abs() + errors[k]);
                let (product, upper) = (states.product[k] * x, states.upper[k] * most);
                let low = states.low[k] * lesser(greater(x.abs() - errors[k], 0.0), 1.0);
                let high = states.high[k] * greater(most, 1.0);
                let bound = monoid.usual_bound(product, upper, order);
                let is_outside = (low < limits.0) | (high >= limits.1) | bound.is_nan();
                (states.product[k], states.upper[k], states.low[k], states.high[k]) = (product, upper, low, high);
                (results[k], bounds[k]) = (product, if is_outside { f64::INFINITY } else { bound });
            }
        });
    }
}

/// Whether an element is neither zero, NaN nor unknown.
#[inline(always)]
fn is_usual(x: f64, error: f64) -> bool {
    (error < f64::INFINITY) & ((x.abs() > 0.0) | (error > 0.0) & (x == 0.0))
}

/// Whether all elements are.
fn are_usual(items: &[f64], errors: &[f64]) -> bool {
    vectorized!(items: &'a [f64] = items, errors: &'a [f64] = errors => bool, {
        items.iter().zip(errors).fold(true, |all, (&x, &error)| all & is_usual(x, error))
    })
}

impl Reduction for Product {
    type Item = f64;
    type State = ProductState;
    type Lines = Vec<ProductLines>;

    fn scan(
        &self,
        state: &mut ProductState,
        block: &Block<f64>,
        [before, count]: [usize; 2],
        columns: &mut [Block<f64>],
    ) {
        vectorized!(monoid: Product = *self, state: &'a mut ProductState = state, block: &'a Block<f64> = block,
            places: [usize; 2] = [before, count], columns: &'a mut [Block<f64>] = columns => (), {
            let (mut line, [before, count]) = (Line::new(), places);
            let is_short = is_short(&monoid.rounding, (before + count) as f64);
            for places in stretches(count) {
                let (items, errors) = (&block.items[places.clone()], &block.errors[places.clone()]);
                let (before, is_usual) = (before + places.start, line.take(items, errors));
                let after = line.after(state, errors);
                let range = monoid.range(state, &after).filter(|_| is_usual && is_short);
                if let Some(range) = range {
                    (state.low, state.high, state.error) = (after.low, after.high, after.error);
                    let (results, bounds) = columns[0].part(places);
                    monoid.run(state, &mut line, (range, before), (results, bounds));
                    if before == 0 {
                        bounds[0] = errors[0];
                    }
                } else {
                    let mut states = ProductStates::new(monoid.empty());
                    follow(&monoid, state, [items, errors], |k, state| states.set(k, state));
                    monoid.results_of(&states, [before + 1, 1], places, columns);
                }
            }
        });
    }

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
                vectorized!(monoid: Product = *self, states: &'a ProductStates = &lines.states, count: usize = count,
                    places: std::ops::Range<usize> = places, columns: &'a mut [Block<f64>] = columns => (), {
                    monoid.results_of(states, [count, 0], places, columns);
                });
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

    /// If some order may overflow, or lose digits among the subnormals, nothing is known.
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
