//! The inverses of the error function and of its complement, in doubles, good to a few units in the last place.
//!
//! Near 0 a series starts Halley's iteration on erf; in the tails a rational function (Abramowitz and Stegun, 26.2.22)
//! starts it on erfc, where no digits cancel. Where erfc nears the least double its logarithm is solved instead.

use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, PI, SQRT_2};

/// The x with erf(x) = y: infinite at -1 and 1, NaN beyond.
pub fn inverse_erf(y: f64) -> f64 {
    // One less what is at least a half is exact.
    if y.abs() < 0.5 { near_zero(y) } else { tail(1.0 - y.abs()).copysign(y) }
}

/// The x with erfc(x) = y: infinite at 0 and 2, NaN beyond.
pub fn inverse_erfc(y: f64) -> f64 {
    match y {
        0.5..1.5 => near_zero(1.0 - y),
        1.5.. => -tail(2.0 - y),
        _ => tail(y),
    }
}

/// The inverse of erf at up to a half.
fn near_zero(y: f64) -> f64 {
    let square = PI * y * y;
    let start = y / FRAC_2_SQRT_PI * (1.0 + square * (1.0 / 12.0 + square * (7.0 / 480.0)));
    (0..3).fold(start, |x, _| improved(x, libm::erf(x) - y))
}

/// The inverse of erfc at up to a half.
fn tail(y: f64) -> f64 {
    if y <= 0.0 || y.is_nan() {
        return if y == 0.0 { f64::INFINITY } else { f64::NAN };
    }
    let t = libm::sqrt(2.0 * (LN_2 - libm::log(y)));
    let start = (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))) / SQRT_2;
    match y < 1e-200 {
        true => (0..8).fold(start, |x, _| from_logarithm(x, y)),
        false => (0..3).fold(start, |x, _| improved(x, y - libm::erfc(x))),
    }
}

/// A step of Halley's iteration, given by how much erf is too large.
fn improved(x: f64, excess: f64) -> f64 {
    let step = excess / (FRAC_2_SQRT_PI * libm::exp(-x * x));
    x - step / (1.0 + x * step)
}

/// A step of the fixed point that erfc(x) = exp(-x x) / (x sqrt(pi)) (1 - h + 3 h h - 15 h h h …), h = 1 / (2 x x), gives.
fn from_logarithm(x: f64, y: f64) -> f64 {
    let h = 0.5 / (x * x);
    let series = 1.0 - h * (1.0 - h * (3.0 - h * (15.0 - h * (105.0 - h * 945.0))));
    libm::sqrt(-libm::log(y) - libm::log(x * libm::sqrt(PI)) + libm::log(series))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The two ways to the tail meet.
        let (near, far) = (inverse_erfc(1.000_000_1e-200), inverse_erfc(0.999_999_9e-200));
        assert!(near < far && far - near < 1e-8);
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
