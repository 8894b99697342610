//! Angles of points in blocks, with the bits of `libm::atan2`.
//!
//! If neither number dominates, its computation is done in the same order without branches, so that it vectorizes: the arc
//! tangent of the quotient, from that of one of five numbers and a polynomial of the remainder (FreeBSD's e_atan2.c and
//! s_atan.c, after Sun's).

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use crate::ordinary::ordinary;

/// The angles of the points `(x[k], y[k])` into `out[k]`.
pub(crate) fn angles(y: &[f64], x: &[f64], out: &mut [f64]) {
    ordinary!(angle, libm::atan2; y, x => out);
}

/// The quotients of ordinary numbers lie between this and its reciprocal, which leaves out zeros and infinities.
const MIN_QUOTIENT: f64 = 1.0 / (1_u64 << 60) as f64;

/// The angle, or NaN where the numbers are not ordinary.
#[inline(always)]
fn angle(y: f64, x: f64) -> f64 {
    const PI_LOW: f64 = 1.2246467991473532e-16;
    let quotient = (y / x).abs();
    let right = arc_tangent(quotient);
    let size = if x < 0.0 { PI - (right - PI_LOW) } else { right };
    let is_ordinary = (quotient > MIN_QUOTIENT) & (quotient < 1.0 / MIN_QUOTIENT);
    if is_ordinary { size.copysign(y) } else { f64::NAN }
}

/// The arc tangent of a positive number: that of the nearest of 0, 1/2, 1, 3/2 and infinity, in two parts, and that of
/// the tangent of the difference.
#[inline(always)]
fn arc_tangent(x: f64) -> f64 {
    let (above, below, high, low) = if x < 0.4375 {
        (x, 1.0, 0.0, 0.0)
    } else if x < 0.6875 {
        (2.0 * x - 1.0, 2.0 + x, 0.4636476090008061, 2.2698777452961687e-17)
    } else if x < 1.1875 {
        (x - 1.0, x + 1.0, FRAC_PI_4, 3.061616997868383e-17)
    } else if x < 2.4375 {
        (x - 1.5, 1.0 + 1.5 * x, 0.982793723247329, 1.3903311031230998e-17)
    } else {
        (-1.0, x, FRAC_PI_2, 6.123233995736766e-17)
    };
    let t = above / below;
    high - (t * series(t * t) - low - t)
}

/// One less the arc tangent of t over t, for the square of t; terms of even and of odd powers apart.
#[inline(always)]
fn series(z: f64) -> f64 {
    const TERMS: [f64; 11] = [
        0.3333333333333293,
        -0.19999999999876483,
        0.14285714272503466,
        -0.11111110405462356,
        0.09090887133436507,
        -0.0769187620504483,
        0.06661073137387531,
        -0.058335701337905735,
        0.049768779946159324,
        -0.036531572744216916,
        0.016285820115365782,
    ];
    let [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = TERMS;
    let w = z * z;
    let even = z * (a0 + w * (a2 + w * (a4 + w * (a6 + w * (a8 + w * a10)))));
    let odd = w * (a1 + w * (a3 + w * (a5 + w * (a7 + w * a9))));
    even + odd
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordinary::tests::{drawn, is_same};

    #[test]
    fn blocks_have_the_bits_of_single_angles() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.4375,
            0.6875,
            1.1875,
            2.4375,
            1e-30,
            f64::INFINITY,
            -f64::INFINITY,
            f64::NAN,
        ];
        let (mut ys, mut xs) = (drawn(400_000), drawn(400_077));
        xs.drain(..77);
        let pairs = || special.iter().flat_map(|&y| special.iter().map(move |&x| (y, x)));
        ys.extend(pairs().map(|(y, _)| y));
        xs.extend(pairs().map(|(_, x)| x));
        let mut out = vec![0.0; ys.len()];
        angles(&ys, &xs, &mut out);
        for (&given, (&y, &x)) in out.iter().zip(ys.iter().zip(&xs)) {
            let expected = libm::atan2(y, x);
            assert!(is_same(given, expected), "({x:e}, {y:e}): {given:e} where {expected:e} was expected");
        }
        let ordinary = ys.iter().zip(&xs).filter(|&(&y, &x)| !angle(y, x).is_nan()).count();
        assert!(ordinary > 100_000, "{ordinary} are taken in blocks");
    }
}
