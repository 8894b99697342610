//! The inverses of the error function and of its complement, in doubles, good to six units in the last place.
//!
//! Quotients of polynomials for the quantiles of the normal distribution (Wichura 1988, The percentage points of the normal
//! distribution, AS 241): one about 0, two in the tails, where the argument is the root of a logarithm. Factors of the root of
//! a half, which make quantiles of inverses, are in the coefficients.

use std::f64::consts::LN_2;

use crate::ordinary::ordinary;

/// The x with erf(x) = y: infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn inverse_erf(y: f64) -> f64 {
    if y.abs() <= MIDDLE_END { middle(0.5 * y) } else { tail(1.0 - y.abs()).copysign(y) }
}

/// The x with erfc(x) = y: infinite at 0 and 2, NaN beyond.
#[inline(always)]
pub fn inverse_erfc(y: f64) -> f64 {
    // One minus a number of at least a half is exact; below, the tail keeps the digits.
    match (1.0 - y).abs() <= MIDDLE_END {
        true => middle(0.5 * (1.0 - y)),
        false if y < 1.0 => tail(y),
        false => -tail(2.0 - y),
    }
}

/// [`inverse_erf`] of each number.
pub(crate) fn inverse_erf_each(y: &[f64], out: &mut [f64]) {
    ordinary!(erf_quantile, |y, _| inverse_erf(y); y, y => out);
}

/// [`inverse_erfc`] of each number.
pub(crate) fn inverse_erfc_each(y: &[f64], out: &mut [f64]) {
    ordinary!(erfc_quantile, |y, _| inverse_erfc(y); y, y => out);
}

/// The end of the range of the middle quotient.
pub const MIDDLE_END: f64 = 0.85;

/// A quotient of polynomials: their coefficients, the highest power first.
pub struct Quotient {
    /// The numerator's.
    pub above: [f64; 8],
    /// The denominator's.
    pub below: [f64; 8],
}

impl Quotient {
    /// By Horner's rule.
    #[inline(always)]
    fn at(&self, x: f64) -> f64 {
        let polynomial =
            |of: &[f64; 8]| of[1..].iter().fold(of[0], |sum, &coefficient| sum * x + coefficient);
        polynomial(&self.above) / polynomial(&self.below)
    }
}

/// Of 0.180625 - y^2 / 4 for an erf of y up to [`MIDDLE_END`]; times y / 2 it is the inverse.
pub const MIDDLE: Quotient = Quotient {
    above: [
        1774.1881392509104,
        23638.98669412459,
        47564.08276422878,
        32471.72503033515,
        9709.773778768777,
        1394.1253306877918,
        94.14537622476796,
        2.3950646231341826,
    ],
    below: [
        5226.495278852854,
        28729.085735721943,
        39307.89580009271,
        21213.794301586597,
        5394.196021424751,
        687.1870074920579,
        42.31333070160091,
        1.0,
    ],
};
/// Of r - 1.6, where r^2 is the negative logarithm of half an erfc: the inverse for r up to 5.
pub const NEAR: Quotient = Quotient {
    above: [
        0.0005476860319304465,
        0.016068184886544188,
        0.17096479033317635,
        0.8983496455234804,
        2.579418287180049,
        4.079650609331798,
        3.2741432902020065,
        1.0065220336036877,
    ],
    below: [
        1.0507500716444169e-9,
        0.000547593808499534,
        0.015198666563616457,
        0.14810397642748008,
        0.6897673349851,
        1.6763848301838038,
        2.053191626637759,
        1.0,
    ],
};
/// Of r - 5: the inverse for larger r.
pub const FAR: Quotient = Quotient {
    above: [
        1.4215210861921614e-07,
        1.9173593302226658e-05,
        0.0008786939826138098,
        0.01876109113396867,
        0.209699991372496,
        1.2620629496172389,
        3.8634793616288836,
        4.707849521913033,
    ],
    below: [
        2.0442631033899397e-15,
        1.421511758316446e-07,
        1.8463183175100548e-05,
        0.0007868691311456133,
        0.014875361290850615,
        0.1369298809227358,
        0.599832206555888,
        1.0,
    ],
};

/// The inverse of erf, from half of its value.
#[inline(always)]
fn middle(half: f64) -> f64 {
    let r = 0.180625 - half * half;
    half * MIDDLE.at(r)
}

/// The inverse of erfc at up to 0.15.
#[inline(always)]
fn tail(y: f64) -> f64 {
    // Half of a subnormal number lacks a bit.
    let logarithm = if y < 2.0 * f64::MIN_POSITIVE { libm::log(y) - LN_2 } else { libm::log(0.5 * y) };
    let r = (-logarithm).sqrt();
    let quotient = if r <= 5.0 { NEAR.at(r - 1.6) } else { FAR.at(r - 5.0) };
    if y == 0.0 { f64::INFINITY } else { quotient }
}

#[inline(always)]
fn erf_quantile(y: f64, _: f64) -> f64 {
    quantile(y, 1.0 - y.abs())
}

#[inline(always)]
fn erfc_quantile(y: f64, _: f64) -> f64 {
    quantile(1.0 - y, if y < 1.0 { y } else { 2.0 - y })
}

/// The x with erf(x) = y and the sign of y, and with erfc(|x|) = left; NaN in the far tail. Both quotients are taken, so
/// that nothing branches.
#[inline(always)]
fn quantile(y: f64, left: f64) -> f64 {
    let of_middle = middle(0.5 * y);
    let of_tail = NEAR.at((-logarithm(0.5 * left)).sqrt() - 1.6).copysign(y);
    let of_tail = if left > NEAR_FROM { of_tail } else { f64::NAN };
    if y.abs() <= MIDDLE_END { of_middle } else { of_tail }
}

/// Values of erfc from here on up are in the near tail.
const NEAR_FROM: f64 = 1e-10;

/// The natural logarithm of a positive normal number other than 1, with the bits of `libm::log` (FreeBSD's e_log.c, after
/// Sun's).
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    const SERIES: [f64; 7] = [
        0.6666666666666735,
        0.3999999999940942,
        0.2857142874366239,
        0.22222198432149784,
        0.1818357216161805,
        0.15313837699209373,
        0.14798198605116586,
    ];
    const LN_2_HIGH: f64 = 0.6931471803691238;
    const LN_2_LOW: f64 = 1.9082149292705877e-10;
    /// The upper half of the bits of the root of a half, where an octave begins, and that of 1.
    const ROOT: u64 = 0x3fe6_a09e << 32;
    const ONE: u64 = 0x3ff0_0000 << 32;
    let moved = x.to_bits().wrapping_add(ONE - ROOT);
    let octaves = f64::from_bits(moved >> 52 | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let f = f64::from_bits((moved & 0x000f_ffff_ffff_ffff) + ROOT) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let (z, w) = (s * s, (s * s) * (s * s));
    let [l1, l2, l3, l4, l5, l6, l7] = SERIES;
    let rest = z * (l1 + w * (l3 + w * (l5 + w * l7))) + w * (l2 + w * (l4 + w * l6));
    s * (half_square + rest) + octaves * LN_2_LOW - half_square + f + octaves * LN_2_HIGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordinary::tests::is_same;

    fn close(x: f64, wanted: f64) {
        assert!((x - wanted).abs() <= 4.0 * f64::EPSILON * wanted.abs(), "{x:e}, not {wanted:e}");
    }

    #[test]
    fn known_values() {
        close(inverse_erf(0.5), 0.476_936_276_204_469_9);
        close(inverse_erf(-0.9), -1.163_087_153_676_674_3);
        close(inverse_erf(1e-300), 8.862_269_254_527_58e-301);
        close(inverse_erfc(1e-10), 4.572_824_967_389_486);
        close(inverse_erfc(0.001), 2.326_753_765_513_524_6);
        close(inverse_erfc(1.5), -0.476_936_276_204_469_9);
        close(inverse_erfc(1e-300), 26.209_469_960_516_124);
        close(inverse_erfc(5e-324), 27.213_293_210_812_95);
    }

    #[test]
    fn they_undo_the_error_functions() {
        for k in 1..400 {
            let x = f64::from(k) / 80.0;
            // Each where the function itself keeps the digits of x.
            match x < 1.0 {
                true => close(inverse_erf(libm::erf(-x)), -x),
                false => close(inverse_erfc(libm::erfc(x)), x),
            }
        }
        // The two quotients of the tail meet.
        let (near, far) = (inverse_erfc(1.000_000_1e-200), inverse_erfc(0.999_999_9e-200));
        assert!(near < far && far - near < 1e-8);
    }

    #[test]
    fn blocks_have_the_bits_of_single_inverses() {
        let near = |k: i32| f64::from(k) / 40_000.0;
        let ys: Vec<f64> = (-41_000..82_000)
            .map(near)
            .chain((1..320).map(|k| 10.0_f64.powi(-k) * 0.7))
            .chain([-0.0, f64::NAN, f64::INFINITY, 0.15, 1.85, 5e-324, 1.0 - f64::EPSILON])
            .collect();
        let mut out = vec![0.0; ys.len()];
        for (each, one) in [
            (inverse_erf_each as fn(&[f64], &mut [f64]), inverse_erf as fn(f64) -> f64),
            (inverse_erfc_each, inverse_erfc),
        ] {
            each(&ys, &mut out);
            for (&given, &y) in out.iter().zip(&ys) {
                assert!(is_same(given, one(y)), "of {y:e}: {given:e} where {:e} was expected", one(y));
            }
        }
        let ordinary = ys.iter().filter(|&&y| !erf_quantile(y, y).is_nan()).count();
        assert!(ordinary > 70_000, "{ordinary} are taken in blocks");
    }

    #[test]
    fn ends_and_beyond() {
        assert_eq!(inverse_erf(1.0), f64::INFINITY);
        assert_eq!(inverse_erf(-1.0), f64::NEG_INFINITY);
        assert!(inverse_erf(1.5).is_nan() && inverse_erf(f64::NAN).is_nan());
        assert!(inverse_erf(-0.0).is_sign_negative());
        assert_eq!(inverse_erfc(0.0), f64::INFINITY);
        assert_eq!(inverse_erfc(2.0), f64::NEG_INFINITY);
        assert_eq!(inverse_erfc(1.0), 0.0);
        assert!(inverse_erfc(-0.5).is_nan() && inverse_erfc(3.0).is_nan() && inverse_erfc(f64::NAN).is_nan());
    }
}
