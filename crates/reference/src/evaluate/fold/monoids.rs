//! What each fold accumulates, and how far compiled code may be from it.
//!
//! Compiled code adds in the dtype itself, in lanes and chunks whose order it is free to choose; the evaluator adds in
//! doubles. With `u` the unit roundoff, a sum of `n` elements in any order is off by at most `(n - 1) u` times the sum of
//! magnitudes, however large `n` is (Rump 2012, Error estimation of floating-point summation and dot product). One lane
//! may walk a whole fold of f64, so no legal order is spared the worst case: `1, u, u, …` added from the left stays 1. Folds
//! of f32 are added up in blocks whose sums go on in f64, so an element meets no more roundings than [`LONGEST_CHAIN`] says,
//! those of f64 aside. Elements that are products may be added without being rounded, all but the first: `u` times the
//! magnitudes more.

use ops::{BoolMeaning, DType, IntMeaning, IntType, Monoid, ScalarOp};

use super::{Item, Reduction};
use crate::evaluate::bound::{Rounding, apart};

/// Roundings in a row that an element of a sum of f32 may meet: 64 in the block of an array or of a variance's lanes (in the
/// block of a sum's lane are 16), and 32 where lanes, blocks of the grid and pieces of a loop come together and results are stored.
const LONGEST_CHAIN: f64 = 96.0;

/// Roundings in a row that an element of a sum of `n` elements may meet.
#[inline(always)]
pub(super) fn chain(dtype: DType, n: f64) -> f64 {
    let in_double = n * (f64::EPSILON / f64::from(f32::EPSILON));
    if dtype == DType::F32 { depth(n).min(LONGEST_CHAIN + in_double) } else { depth(n) }
}

/// Roundings in a row that an element of a fold of `n` elements may meet.
#[inline(always)]
fn depth(n: f64) -> f64 {
    (n - 1.0).max(0.0)
}

/// The relative error of so many roundings of a sum; in f64 the evaluator's own are as large, and count too.
#[inline(always)]
pub(super) fn linear(rounding: &Rounding, dtype: DType, roundings: f64) -> f64 {
    let sides = if dtype == DType::F64 { 2.0 } else { 1.0 };
    sides * roundings * rounding.unit
}

/// The relative error of so many factors, each off by one rounding (Higham, Accuracy and Stability of Numerical
/// Algorithms, 3.1); nothing is known where they may add up to the whole.
fn gamma(rounding: &Rounding, dtype: DType, roundings: f64) -> f64 {
    let whole = roundings * rounding.unit;
    if whole < 1.0 { linear(rounding, dtype, roundings) / (1.0 - whole) } else { f64::INFINITY }
}

/// One result, the other two places unused.
pub(super) fn single<I: Item>(value: I, bound: f64) -> [(I, f64); 3] {
    let bound = if bound.is_nan() { f64::INFINITY } else { bound };
    [(value, bound), (I::default(), 0.0), (I::default(), 0.0)]
}

/// Product of floats.
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
    zero: bool,
    nan: bool,
    error: f64,
}

impl Product {
    pub(super) fn new(dtype: DType) -> Product {
        Product { dtype, rounding: Rounding::new(dtype, 0.5) }
    }
}

impl Reduction for Product {
    type Item = f64;
    type State = ProductState;

    fn empty(&self) -> ProductState {
        ProductState { product: 1.0, upper: 1.0, low: 1.0, high: 1.0, zero: false, nan: false, error: 0.0 }
    }

    fn take(&self, state: &mut ProductState, x: f64, error: f64) -> bool {
        let zero = x == 0.0 && error == 0.0;
        state.product *= x;
        state.upper *= x.abs() + error;
        state.low *= if zero { 1.0 } else { (x.abs() - error).clamp(0.0, 1.0) };
        state.high *= (x.abs() + error).max(1.0);
        state.zero |= zero;
        state.nan |= x.is_nan();
        state.error += error;
        true
    }

    fn join(&self, first: ProductState, second: ProductState) -> ProductState {
        ProductState {
            product: first.product * second.product,
            upper: first.upper * second.upper,
            low: first.low * second.low,
            high: first.high * second.high,
            zero: first.zero || second.zero,
            nan: first.nan || second.nan,
            error: first.error + second.error,
        }
    }

    /// Where some order may overflow or lose digits among the subnormals on the way, nothing is known.
    fn finish(&self, state: ProductState, n: usize) -> [(f64, f64); 3] {
        let ProductState { product, upper, low, high, zero, nan, error } = state;
        let bound = match n {
            0 | 1 => error,
            _ if nan => 0.0 * error,
            _ if high >= self.rounding.overflow => f64::INFINITY,
            _ if zero => 0.0,
            _ if low < self.rounding.normal => f64::INFINITY,
            _ => {
                let order = gamma(&self.rounding, self.dtype, depth(n as f64)) * upper;
                upper - product.abs() + order + self.rounding.own(product)
            }
        };
        single(product, bound)
    }
}

/// Largest or smallest of floats; no rounding, so only the elements' errors count.
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

impl Extreme {
    pub(super) fn new(largest: bool) -> Extreme {
        Extreme { largest }
    }

    /// NaN wins and -0 lies below 0, as in the rows of the two ops.
    #[inline(always)]
    fn better(&self, a: f64, b: f64) -> f64 {
        if a.is_nan() || b.is_nan() {
            return f64::NAN;
        }
        match a == b {
            true if a.is_sign_positive() == self.largest => a,
            true => b,
            false if self.largest => a.max(b),
            false => a.min(b),
        }
    }
}

impl Reduction for Extreme {
    type Item = f64;
    type State = ExtremeState;

    fn empty(&self) -> ExtremeState {
        let worst = if self.largest { f64::NEG_INFINITY } else { f64::INFINITY };
        ExtremeState { best: worst, upper: worst, lower: worst }
    }

    #[inline(always)]
    fn take(&self, state: &mut ExtremeState, x: f64, error: f64) -> bool {
        let loses = if self.largest { x + error < state.lower } else { x - error > state.upper };
        if loses {
            return false;
        }
        state.best = self.better(state.best, x);
        // A NaN that may be anything is not sure to be NaN.
        let (upper, lower) = match error {
            f64::INFINITY => (f64::INFINITY, f64::NEG_INFINITY),
            _ => (x + error, x - error),
        };
        state.upper = self.better(state.upper, upper);
        state.lower = self.better(state.lower, lower);
        true
    }

    fn join(&self, first: ExtremeState, second: ExtremeState) -> ExtremeState {
        ExtremeState {
            best: self.better(first.best, second.best),
            upper: self.better(first.upper, second.upper),
            lower: self.better(first.lower, second.lower),
        }
    }

    fn finish(&self, state: ExtremeState, _: usize) -> [(f64, f64); 3] {
        single(state.best, apart(state.upper, state.best).max(apart(state.lower, state.best)))
    }
}

/// Mean, sum of squared deviations and count, of deviations from the first element: in doubles a mean that is updated with each
/// element is off by more than compiled code, which does the same. Joined as by Chan, Golub and LeVeque (1983).
pub(super) struct Welford {
    dtype: DType,
    rounding: Rounding,
}

#[derive(Clone, Copy)]
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

impl WelfordState {
    fn mean(&self) -> f64 {
        if self.count > 1.0 { self.shift + self.sum / self.count } else { self.shift }
    }

    /// The sum of squared deviations from the mean; NaN stays.
    fn m2(&self) -> f64 {
        let m2 =
            if self.count > 1.0 { self.squares - self.sum * (self.sum / self.count) } else { self.squares };
        if m2 < 0.0 { 0.0 } else { m2 }
    }
}

impl Welford {
    pub(super) fn new(dtype: DType) -> Welford {
        Welford { dtype, rounding: Rounding::new(dtype, 0.5) }
    }

    /// What the squared deviations of the elements from those at hand where runs begin may add up to. Of a run of `k` elements
    /// it is at most `k` times its share of the squares about the mean, as its first deviates no further than all together.
    fn about_elements(&self, state: &WelfordState, m2: f64, n: usize) -> f64 {
        let longest = if self.dtype == DType::F32 { LONGEST_CHAIN.min(n as f64) } else { n as f64 };
        let mean = state.mean();
        let farthest = (state.high - mean).max(mean - state.low);
        (m2 * longest).min(m2 + state.count * farthest * farthest)
    }

    /// The mean is an element and the mean deviation from it, rounded once.
    fn mean_bound(&self, state: &WelfordState, deviations: f64, roundings: f64) -> f64 {
        let deviation = (deviations / state.count).sqrt();
        state.error / state.count + roundings * deviation + self.rounding.ulp(state.mean())
    }

    /// Seen as the norm of the deviations, squared: errors of elements move it by at most their norm. The sums of deviations
    /// and of their squares are each off by the roundings times what is added up, and so is the quotient of the former.
    fn m2_bound(&self, state: &WelfordState, most: f64, deviations: f64, roundings: f64) -> f64 {
        // Of a normal number: a product of a subnormal one takes a processor as long as a hundred others.
        let underflow = state.count * self.rounding.ulp(0.0).max(f64::MIN_POSITIVE);
        let m2 = state.m2();
        most - m2 + 3.0 * roundings * deviations + underflow + self.rounding.own(m2)
    }
}

impl Reduction for Welford {
    type Item = f64;
    type State = WelfordState;

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
        state.low = state.low.min(x - error);
        state.high = state.high.max(x + error);
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

    /// Where infinities or numbers too large to subtract or square take part, the order decides what comes out.
    fn finish(&self, state: WelfordState, n: usize) -> [(f64, f64); 3] {
        let roundings = gamma(&self.rounding, self.dtype, chain(self.dtype, n as f64) + 8.0);
        let count_bound = if state.count * self.rounding.unit < 1.0 { 0.0 } else { f64::INFINITY };
        let (mean, m2) = (state.mean(), state.m2());
        let most = (m2.sqrt() + state.error_squares.sqrt()).powi(2);
        let deviations = self.about_elements(&state, most, n);
        let (mean_bound, m2_bound) = match n {
            0 => (0.0, 0.0),
            _ if state.error == f64::INFINITY => (f64::INFINITY, f64::INFINITY),
            _ if state.magnitude.is_nan() => (0.0, 0.0),
            1 => (state.error, if state.magnitude.is_finite() { 0.0 } else { f64::INFINITY }),
            _ if 2.0 * state.magnitude >= self.rounding.overflow => (f64::INFINITY, f64::INFINITY),
            _ => {
                let of_m2 = self.rounding.guarded(m2, self.m2_bound(&state, most, deviations, roundings));
                let overflows = 2.0 * deviations >= self.rounding.overflow;
                let of_mean = self.mean_bound(&state, deviations, roundings);
                (of_mean, if overflows { f64::INFINITY } else { of_m2 })
            }
        };
        let sure = |bound: f64| if bound.is_nan() { f64::INFINITY } else { bound };
        [(mean, sure(mean_bound)), (m2, sure(m2_bound)), (state.count, count_bound)]
    }
}

/// Folds of integers and bools: exact in any order, wrapping as the ops do.
pub(super) struct Integers {
    monoid: Monoid,
    identity: i64,
    op: IntegerOp,
    rounding: Rounding,
}

/// The op that combines, of integers or of bools.
#[derive(Clone, Copy)]
enum IntegerOp {
    Int(fn(i64, i64, IntType) -> i64, IntType),
    Bool(fn(bool, bool) -> bool),
}

#[derive(Clone, Copy)]
pub(super) struct IntegerState {
    value: i64,
    error: f64,
}

impl Integers {
    /// Welford is not among them: shape rules reject it. What takes several operands is evaluated in cells.
    pub(super) fn new(monoid: &Monoid, dtype: DType) -> Integers {
        let scalar_op = match monoid {
            Monoid::Sum => ScalarOp::Add,
            Monoid::Prod => ScalarOp::Mul,
            Monoid::Max => ScalarOp::Maximum,
            Monoid::Min => ScalarOp::Minimum,
            Monoid::Welford | Monoid::Argmax | Monoid::Argmin | Monoid::Lambda(_) => {
                unreachable!("{} is no fold of one integer", monoid.name())
            }
        };
        let op = match (IntType::of(dtype), scalar_op.row().int, scalar_op.row().boolean) {
            (None, _, Some(BoolMeaning::Binary(f))) => IntegerOp::Bool(f),
            (Some(ty), Some(IntMeaning::Binary(f)), _) => IntegerOp::Int(f, ty),
            _ => unreachable!("`{}` has two operands and a meaning on {dtype}", scalar_op.name()),
        };
        let identity = monoid.identity(&[dtype])[0].as_i64();
        Integers { monoid: monoid.clone(), identity, op, rounding: Rounding::new(dtype, 0.0) }
    }

    fn apply(&self, a: i64, b: i64) -> i64 {
        match self.op {
            IntegerOp::Int(f, ty) => f(a, b, ty),
            IntegerOp::Bool(f) => i64::from(f(a != 0, b != 0)),
        }
    }

    fn spread(&self, a: f64, b: f64) -> f64 {
        match self.monoid {
            Monoid::Sum => a + b,
            Monoid::Prod if a + b > 0.0 => f64::INFINITY,
            _ => a.max(b),
        }
    }
}

impl Reduction for Integers {
    type Item = i64;
    type State = IntegerState;

    fn empty(&self) -> IntegerState {
        IntegerState { value: self.identity, error: 0.0 }
    }

    fn take(&self, state: &mut IntegerState, x: i64, error: f64) -> bool {
        *state = self.join(*state, IntegerState { value: x, error });
        true
    }

    fn join(&self, first: IntegerState, second: IntegerState) -> IntegerState {
        IntegerState {
            value: self.apply(first.value, second.value),
            error: self.spread(first.error, second.error),
        }
    }

    #[inline(always)]
    fn finish(&self, state: IntegerState, _: usize) -> [(i64, f64); 3] {
        if state.error == 0.0 {
            return single(state.value, 0.0);
        }
        let exact = match self.op {
            IntegerOp::Int(_, ty) => ty.as_f64(state.value),
            IntegerOp::Bool(_) => state.value as f64,
        };
        single(state.value, self.rounding.total(exact, state.error))
    }
}
