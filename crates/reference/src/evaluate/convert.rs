//! The bound of a cast: the casts of the ends of the interval around a number.
//!
//! Casts are monotone except to bool, and to integers that wrap. Among the normal numbers of a float type, or well inside an
//! integer type, rounding is arithmetic on doubles, over vectors; for the rest it is the cast itself.

use ir::array::{Element, with_element};
use ops::DType;
use ops::lanes::{NullaryFnOnce, wide};
use ops::vectorized;

use super::bound::{EXPONENT, Rounding, apart};

/// Bounds of the casts to `dtype` of the numbers `reals`, whose errors become the bounds.
pub(super) fn convert(dtype: DType, reals: &[f64], errors: &mut [f64], rounding: &Rounding) {
    match dtype {
        DType::Bool => return truth(reals, errors),
        // There is nothing to round.
        DType::F64 => {
            return with_element!(dtype, T => {
                let pairs = errors.iter_mut().zip(reals);
                pairs.for_each(|(error, &x)| *error = cast::<T>(x, *error, rounding));
            });
        }
        _ => {}
    }
    let (floor, limit) = plain(dtype, rounding);
    let is_signed = !dtype.is_unsigned_int();
    let range = Plain { floor, limit, is_signed };
    let is_plain = |x: f64, e: f64| range.holds(x, e);
    let all = vectorized!(range: Plain = range, reals: &'a [f64] = reals, errors: &'a [f64] = errors => bool, {
        reals.iter().zip(errors).fold(true, |all, (&x, &e)| all & range.holds(x, e))
    });
    let others: Vec<(usize, f64)> = match all {
        true => Vec::new(),
        false => with_element!(dtype, T => {
            let pairs = reals.iter().zip(&*errors).enumerate().filter(|&(_, (&x, &e))| !is_plain(x, e));
            pairs.map(|(k, (&x, &e))| (k, cast::<T>(x, e, rounding))).collect()
        }),
    };
    match dtype.is_float() {
        // The nearest power of two, halfway cases to the larger one.
        _ if dtype == DType::F8E8M0 => {
            const HALF: u64 = 1 << 51;
            moved(reals, errors, |x| f64::from_bits((x.abs().to_bits() + HALF) & EXPONENT));
        }
        true => {
            let factor = 1.0 + rounding.unit / (f64::EPSILON / 2.0);
            moved(reals, errors, move |x| x * factor - (x * factor - x));
        }
        false => moved(reals, errors, f64::trunc),
    }
    others.into_iter().for_each(|(k, error)| errors[k] = error);
}

/// 2^127, the largest number of [`DType::F8E8M0`], whose smallest is its reciprocal.
const POWERS: f64 = (1_u128 << 127) as f64;

/// The range in which rounding is arithmetic.
#[derive(Clone, Copy)]
struct Plain {
    floor: f64,
    limit: f64,
    is_signed: bool,
}

impl Plain {
    /// Whether the whole interval of a number is in that range.
    #[inline(always)]
    fn holds(self, x: f64, e: f64) -> bool {
        let size = x.abs();
        let min = if self.is_signed { size } else { x };
        (min - e >= self.floor) & (size + e < self.limit) | (e == 0.0)
    }
}

/// The magnitudes from which on, and below which, rounding is arithmetic; for unsigned integers a lower bound of the number.
fn plain(dtype: DType, rounding: &Rounding) -> (f64, f64) {
    match dtype {
        DType::F8E8M0 => (2.0 / POWERS, POWERS / 2.0),
        _ if dtype.is_float() => (rounding.normal * 2.0, rounding.overflow * (1.0 - 2.0 * rounding.unit)),
        _ if dtype.is_unsigned_int() => (0.0, rounding.overflow * (1.0 - f64::EPSILON)),
        _ => (f64::NEG_INFINITY, rounding.overflow - 1.0),
    }
}

/// The casts to bool: they may flip if an interval contains zero.
fn truth(reals: &[f64], errors: &mut [f64]) {
    vectorized!(reals: &'a [f64] = reals, errors: &'a mut [f64] = errors => (), {
        for (error, &x) in errors.iter_mut().zip(reals) {
            let may_flip = (*error > 0.0) & ((x.abs() <= *error) | (*error == f64::INFINITY));
            *error = if may_flip { 1.0 } else { 0.0 };
        }
    });
}

/// How far a rounding of the ends lies from that of the numbers.
#[inline(always)]
fn moved(reals: &[f64], errors: &mut [f64], round: impl Fn(f64) -> f64) {
    wide(Moved { reals, errors, round });
}

struct Moved<'a, R> {
    reals: &'a [f64],
    errors: &'a mut [f64],
    round: R,
}

impl<R: Fn(f64) -> f64> NullaryFnOnce for Moved<'_, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (error, &x) in self.errors.iter_mut().zip(self.reals) {
            let value = (self.round)(x);
            let low = (value - (self.round)(down(x - *error))).abs();
            let high = ((self.round)(up(x + *error)) - value).abs();
            let most = if low > high { low } else { high };
            *error = if *error == 0.0 { 0.0 } else { most };
        }
    }
}

/// Below a number, so that an end that rounding has moved inside is outside again.
#[inline(always)]
fn down(x: f64) -> f64 {
    x - (x.abs() * f64::EPSILON + f64::MIN_POSITIVE)
}

#[inline(always)]
fn up(x: f64) -> f64 {
    x + (x.abs() * f64::EPSILON + f64::MIN_POSITIVE)
}

/// The bound of a cast to `T` of one number. A cast to bool may flip if the interval contains zero. An infinite bound stays
/// infinite.
fn cast<T: Element>(x: f64, error: f64, rounding: &Rounding) -> f64 {
    if error == 0.0 {
        return 0.0;
    }
    if error == f64::INFINITY {
        return error.min(rounding.widest);
    }
    if T::DTYPE == DType::Bool {
        return f64::from(x.abs() <= error);
    }
    let value = T::from_real(x).to_real();
    let low = T::from_real((x - error).next_down()).to_real();
    let high = T::from_real((x + error).next_up()).to_real();
    let spread = apart(low, value).max(apart(high, value));
    match T::DTYPE.is_float() {
        // Rounded to a zero of either sign.
        true if spread == 0.0 && value == 0.0 && x.abs() <= error => f64::MIN_POSITIVE,
        true => spread,
        false if T::DTYPE.is_narrow_int() => wrapped(T::DTYPE, x, error, rounding).unwrap_or(spread),
        // No number in its interval is below zero, or too large.
        false if T::DTYPE == DType::U64 && x >= error && x + error < plain(T::DTYPE, rounding).1 => spread,
        false => rounding.guarded(x, spread),
    }
}

/// The bound of a cast to a wrapping integer type, unless the whole interval wraps alike.
fn wrapped(dtype: DType, x: f64, error: f64, rounding: &Rounding) -> Option<f64> {
    let period = rounding.overflow - rounding.lowest;
    let wraps = |end: f64| ((end.trunc() - rounding.lowest) / period).floor();
    let saturates = x.abs() + error >= (dtype.compute().bits() as f64 - 1.0).exp2();
    let differ = wraps((x - error).next_down()) != wraps((x + error).next_up());
    (saturates || differ).then_some(rounding.widest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(dtype: DType, x: f64, error: f64) -> f64 {
        let mut errors = [error];
        convert(dtype, &[x], &mut errors, &Rounding::new(dtype, 0.5));
        errors[0]
    }

    #[test]
    fn a_cast_has_an_error_only_where_rounding_may_flip() {
        assert_eq!(bound(DType::BF16, 1.001, 1e-4), 0.0);
        assert_eq!(bound(DType::BF16, 1.0039, 1e-4), 1.0 / 128.0);
        assert_eq!(bound(DType::F16, 1e-10, 1e-12), 0.0);
        assert_eq!(bound(DType::F16, 1e-10, 1e-9), f64::MIN_POSITIVE);
        assert_eq!(bound(DType::I32, 2.9999, 1e-3), 1.0);
        assert_eq!(bound(DType::Bool, 1e-4, 1e-3), 1.0);
        assert_eq!(bound(DType::U8, 254.9, 0.2), 1.0);
        assert_eq!(bound(DType::U8, 300.4, 0.7), 1.0);
        assert_eq!(bound(DType::U8, 255.9, 0.2), 255.0);
        assert_eq!(bound(DType::I8, -128.0, 256.0), 255.0);
        assert_eq!(bound(DType::U8, -0.5, 0.2), 0.0);
        assert_eq!(bound(DType::Bool, f64::NAN, f64::INFINITY), 1.0);
        assert_eq!(bound(DType::F32, f64::NAN, f64::INFINITY), f64::INFINITY);
    }

    #[test]
    fn blocks_have_the_bounds_of_single_casts() {
        let xs =
            [1.0, -1.0, 1.00390625, 3.15625, -250.3, 1e-3, 17.5, -2.9999, 65504.0, 448.0, 1e-30, 3e38, 0.0];
        for dtype in DType::REAL {
            let rounding = Rounding::new(dtype, 0.5);
            for x in xs {
                for error in [0.0, 1e-12, 1e-4, 0.5, 1.0] {
                    let single = with_element!(dtype, T => cast::<T>(x, error, &rounding));
                    let given = bound(dtype, x, error);
                    let near = (given - single).abs() <= 4.0 * f64::EPSILON * x.abs();
                    assert!(given == single || near, "{dtype} of {x} ± {error}: {given}, not {single}");
                }
            }
        }
    }
}
