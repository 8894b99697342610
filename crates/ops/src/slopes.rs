//! How far smooth functions deviate, by their slopes: for [`super::Spread::Slope`].
//!
//! Each takes x, the function's value y there and a bound on the error of x, all finite, and gives a bound on the deviation
//! of the value without calling the function again. NaN says that the rule does not reach so far, and that the function
//! must be asked.

use std::f64::consts::{FRAC_1_PI, LN_2, SQRT_2};

/// `exp(t) - 1` for `0 <= t <= 1`, or more.
#[inline(always)]
fn growth(t: f64) -> f64 {
    if t <= 1.0 { t * (1.0 + t) } else { f64::NAN }
}

pub(super) fn exp(_: f64, y: f64, e: f64) -> f64 {
    y * growth(e)
}

/// `2^t - 1` is at most `t` up to 1.
pub(super) fn exp2(_: f64, y: f64, e: f64) -> f64 {
    if e <= 1.0 { y * e } else { f64::NAN }
}

/// The slope is `y + 1`, of which rounding may have left nothing.
pub(super) fn expm1(_: f64, y: f64, e: f64) -> f64 {
    (y + 1.0 + f64::EPSILON) * growth(e)
}

/// By the slope at the near end; `scale` is the logarithm of e to the base.
fn logarithm(x: f64, e: f64, scale: f64) -> f64 {
    if e < x { scale * e / (x - e) } else { f64::NAN }
}

pub(super) fn log(x: f64, _: f64, e: f64) -> f64 {
    logarithm(x, e, 1.0)
}

pub(super) fn log2(x: f64, _: f64, e: f64) -> f64 {
    logarithm(x, e, std::f64::consts::LOG2_E)
}

pub(super) fn log10(x: f64, _: f64, e: f64) -> f64 {
    logarithm(x, e, std::f64::consts::LOG10_E)
}

pub(super) fn log1p(x: f64, _: f64, e: f64) -> f64 {
    // The sum with 1 may be off by half a unit in its last place.
    logarithm((1.0 + x) * (1.0 - f64::EPSILON), e, 1.0)
}

/// The difference of the roots of x and `x - e`, without cancellation.
#[inline(always)]
pub fn sqrt(x: f64, y: f64, e: f64) -> f64 {
    if e <= x { e / (y + (x - e).sqrt()) } else { f64::NAN }
}

/// With `t = e / x` the result at the near end is `y` over the root of `1 - t`, whose series is `1 + t/2` and at most
/// `3/8 t² / (1 - t)`. Up to a half that quotient is at most `1 + t + 2 t²`.
#[inline(always)]
pub fn rsqrt(x: f64, y: f64, e: f64) -> f64 {
    let t = e / x;
    let above = t * (0.5 + 0.375 * t * (1.0 + t * (1.0 + 2.0 * t)));
    if (0.0..=0.5).contains(&t) { y * above } else { f64::NAN }
}

/// By the addition theorem; the tangent of `e` is at most `e + e³`. Beyond, a pole may be met, where there is no bound.
pub(super) fn tan(_: f64, y: f64, e: f64) -> f64 {
    let step = e * (1.0 + e * e);
    let left = 1.0 - y.abs() * step;
    if e <= 1.0 && left > 0.0 { (1.0 + y * y) * step / left } else { f64::INFINITY }
}

/// By the slope at the end that is further out; near 1 it has no bound.
pub(super) fn asin(x: f64, _: f64, e: f64) -> f64 {
    let far = x.abs() + e;
    if far < 0.99 { e / (1.0 - far * far).sqrt() } else { f64::NAN }
}

/// By the slope at the end that is nearer to 0.
pub(super) fn atan(x: f64, _: f64, e: f64) -> f64 {
    let near = (x.abs() - e).max(0.0);
    e / (1.0 + near * near)
}

/// The slope, `1 - y²`, grows by at most `exp(2e)` towards 0.
pub(super) fn tanh(_: f64, y: f64, e: f64) -> f64 {
    e * (1.0 - y * y + 4.0 * f64::EPSILON) * (1.0 + growth(2.0 * e)).min(1.0 / (1.0 - y * y))
}

/// The slope is half the root of pi over `exp(-x²)`, of which erfc(x) is at most so much that one over
/// `erfc(x) (x + sqrt(x² + 4 / pi))` is more (Abramowitz and Stegun, 7.1.13). It is largest at the end that is further out,
/// where `left` is what erfc is at least.
#[inline(always)]
fn inverse_erf_of(left: f64, y: f64, e: f64) -> f64 {
    let x = y.abs();
    if left > 0.0 { e / (left * (x + (x * x + 4.0 * FRAC_1_PI).sqrt())) } else { f64::NAN }
}

pub(super) fn erfinv(x: f64, y: f64, e: f64) -> f64 {
    // The difference from 1 may be off by half a unit in its last place.
    inverse_erf_of((1.0 - x.abs() - e) * (1.0 - 4.0 * f64::EPSILON), y, e)
}

pub(super) fn erfcinv(x: f64, y: f64, e: f64) -> f64 {
    let end = if x <= 1.0 { x } else { 2.0 - x };
    inverse_erf_of((end - e) * (1.0 - 4.0 * f64::EPSILON), y, e)
}

/// The slope, psi, grows with x. Above 0 it lies below `log(x) - 1 / 2x`, and that is at most one over 12x² and at most one
/// over 2x more (Alzer 1997, On some inequalities for the gamma and psi functions). Wide intervals and those that may meet a
/// pole are asked at their ends.
#[inline(always)]
pub fn lgamma(x: f64, _: f64, e: f64) -> f64 {
    let (min, most) = (x - e, x + e);
    let (low, high, inverse) = (near_log(min), near_log(most), 1.0 / min);
    let below = low - inverse * (0.5 + inverse / 12.0).min(1.0);
    let above = high - 0.5 / most;
    let bound = e * ((-below).max(above) + LOG_ERROR * (low.abs() + high.abs()));
    if (min > 0.0) & (e <= 0.01 * x) { bound } else { f64::NAN }
}

/// By how much more than the logarithm is [`near_log`] off, of itself.
const LOG_ERROR: f64 = 1e-5;

/// The natural logarithm of a positive number, to five digits: of the root of two and a half as the largest, by the first
/// terms of the series of the inverse hyperbolic tangent.
#[inline(always)]
fn near_log(x: f64) -> f64 {
    // Subnormal numbers are made normal first.
    let is_small = x < f64::MIN_POSITIVE;
    let bits = if is_small { x * 18_014_398_509_481_984.0 } else { x }.to_bits();
    let half_octave = SQRT_2.to_bits() & 0x000f_ffff_ffff_ffff;
    let carry = u64::from(bits & 0x000f_ffff_ffff_ffff > half_octave);
    let exponent = (bits >> 52) + carry;
    let significand = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | ((1023 - carry) << 52));
    let s = (significand - 1.0) / (significand + 1.0);
    let t = s * s;
    let octaves = exponent as i32 - if is_small { 1023 + 54 } else { 1023 };
    f64::from(octaves) * LN_2 + 2.0 * s * (1.0 + t * (1.0 / 3.0 + t * (1.0 / 5.0 + t / 7.0)))
}

/// By the slope at the end that is nearer to 0; `exp(-t)` is at most one over a part of the series of `exp(t)`.
pub(super) fn erf(x: f64, _: f64, e: f64) -> f64 {
    let near = (x.abs() - e).max(0.0);
    let t = near * near;
    let series = 1.0 + t * (1.0 + t / 2.0 * (1.0 + t / 3.0 * (1.0 + t / 4.0 * (1.0 + t / 5.0))));
    std::f64::consts::FRAC_2_SQRT_PI * e / series
}

/// Above 0 by its logarithm, of which the slope is at most `x + sqrt(x² + 2)` (Birnbaum 1942, on Mills' ratio).
pub(super) fn erfc(x: f64, y: f64, e: f64) -> f64 {
    if x < 0.0 { erf(x, y, e) } else { y * growth(e * (x + (x * x + 2.0).sqrt())) }
}

/// A power of an exact exponent, by the slope of the logarithm at the near end; else by both logarithms.
#[inline(always)]
pub fn pow([a, b]: [f64; 2], y: f64, [e, f]: [f64; 2]) -> f64 {
    let size = a.abs();
    let base = e / (size - e);
    let by_exponent = f * (near_log(size).abs() * (1.0 + LOG_ERROR) + base);
    let exponent = if f > 0.0 { by_exponent } else { 0.0 };
    let bound = y.abs() * growth(b.abs() * base + exponent);
    if (e >= size) | (f > 0.0) & (a < 0.0) { f64::NAN } else { bound }
}

/// The angle under which the box is seen; the arc sine of `t` is at most `t + t³` up to a half.
#[inline(always)]
pub fn atan2([y, x]: [f64; 2], [e, f]: [f64; 2]) -> f64 {
    let t = (e * e + f * f).sqrt() / (x * x + y * y).sqrt();
    if t <= 0.5 { t * (1.0 + t * t) } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::super::inverse_erf::{inverse_erf, inverse_erfc};
    use super::*;

    #[test]
    fn a_near_logarithm_is_near() {
        for k in 1..20_000 {
            let x = (f64::from(k) * 0.07 - 700.0).exp() * (1.0 + f64::from(k % 77) / 40.0);
            let error = (near_log(x) - x.ln()).abs();
            assert!(error <= LOG_ERROR / 2.0 * x.ln().abs(), "{x:e}: {} and {}", near_log(x), x.ln());
        }
        assert_eq!(near_log(1.0), 0.0);
    }

    /// How far rounding lets the ends be.
    fn reach(x: f64, e: f64) -> f64 {
        ((x + e) - x).max(x - (x - e))
    }

    /// Never below the deviation at either end, and where the error is small not much above it.
    fn check(
        name: &str,
        f: impl Fn(f64) -> f64,
        rule: impl Fn(f64, f64, f64) -> f64,
        xs: &[f64],
        factor: f64,
    ) {
        for &x in xs {
            for e in [1e-12, 1e-7, 1e-3, 0.1, 0.4] {
                let e = reach(x, e);
                let (y, bound) = (f(x), rule(x, f(x), e));
                let moved = (f(x - e) - y).abs().max((f(x + e) - y).abs());
                if bound.is_nan() || moved.is_nan() {
                    continue;
                }
                let slack = 1e-15 * y.abs();
                assert!(bound >= moved - slack, "{name} at {x} ± {e}: {bound} below {moved}");
                let tight = bound <= factor * moved + slack + 1e-14;
                assert!(e > 1e-7 || tight, "{name} at {x} ± {e}: {bound} far above {moved}");
            }
        }
    }

    #[test]
    fn slopes_bound_what_ends_deviate() {
        let all = [-30.0, -5.0, -2.0, -1.0, -0.6, -0.1, 0.0, 1e-3, 0.3, 0.5, 0.9, 1.0, 1.5, 2.5, 6.0, 40.0];
        check("exp", libm::exp, exp, &all, 1.1);
        check("exp2", libm::exp2, exp2, &all, 1.5);
        check("expm1", libm::expm1, expm1, &all, 1.1);
        check("log", libm::log, log, &all, 1.1);
        check("log2", libm::log2, log2, &all, 1.1);
        check("log10", libm::log10, log10, &all, 1.1);
        check("log1p", libm::log1p, log1p, &all, 1.1);
        let positive = [1e-300, 1e-9, 1e-3, 0.3, 0.5, 1.0, 2.5, 40.0, 1e300];
        check("sqrt", f64::sqrt, sqrt, &positive, 1.1);
        check("rsqrt", |x| 1.0 / x.sqrt(), rsqrt, &positive, 1.1);
        check("tan", libm::tan, tan, &[-1.5, -1.0, 0.0, 0.2, 1.2, 3.0], 1.1);
        check("asin", libm::asin, asin, &[-0.9, -0.5, 0.0, 0.3, 0.95], 1.1);
        check("acos", libm::acos, asin, &[-0.9, -0.5, 0.0, 0.3, 0.95], 1.1);
        check("atan", libm::atan, atan, &all, 1.1);
        check("tanh", libm::tanh, tanh, &all, 1.2);
        check("erf", libm::erf, erf, &[-2.0, -0.5, 0.0, 0.1, 1.0, 1.5], 2.0);
        let inside = [-0.9999, -0.9, -0.3, 0.0, 1e-3, 0.5, 0.86, 0.99, 0.999999];
        check("erfinv", inverse_erf, erfinv, &inside, 1.3);
        let outside = [1e-200, 1e-9, 1e-3, 0.1, 0.3, 1.0, 1.4, 1.9, 1.999];
        check("erfcinv", inverse_erfc, erfcinv, &outside, 1.3);
        check("lgamma", libm::lgamma, lgamma, &[1e-300, 1e-9, 0.1, 0.7, 1.0, 3.0, 40.0, 1e6], 3.0);
        check("erfc", libm::erfc, erfc, &[-2.0, -0.5, 0.0, 0.1, 1.0, 3.0, 10.0], 2.0);
    }

    #[test]
    fn slopes_of_two_operands_bound_the_corners() {
        for (a, b) in [(2.0, 3.0), (0.5, -2.0), (-3.0, 2.0), (7.5, 0.5), (1.0, 100.0)] {
            for (e, f) in [(1e-9, 0.0), (1e-3, 0.0), (1e-9, 1e-8), (0.0, 1e-3)] {
                let (e, f) = (reach(a, e), reach(b, f));
                let (y, bound) = (libm::pow(a, b), pow([a, b], libm::pow(a, b), [e, f]));
                let angle = atan2([a, b], [e, f]);
                for (s, t) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
                    let (c, d) = (a + s * e, b + t * f);
                    let moved = (libm::pow(c, d) - y).abs();
                    assert!(
                        bound.is_nan() || bound >= moved - 1e-15 * y.abs(),
                        "pow {a} {b}: {bound} below {moved}"
                    );
                    let moved = (libm::atan2(c, d) - libm::atan2(a, b)).abs();
                    assert!(angle >= moved - 1e-15, "atan2 {a} {b}: {angle} below {moved}");
                }
            }
        }
    }
}
