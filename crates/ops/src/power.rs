//! Powers of doubles, one and in blocks, with the bits of `libm::pow` but for exponents above 2^31: it takes a shorter path
//! for them, which is off by hundreds of units in the last place.
//!
//! For ordinary operands its computation is done in the same order without branches, so that it vectorizes: the logarithm of
//! the base in two parts, the product with the exponent in two parts, and 2 to the power of that (FreeBSD's e_pow.c, after
//! Sun's). For all others, which have special rules, it is called itself.

use std::f64::consts::LN_2;

use crate::ordinary::ordinary;

/// x to the power y.
pub(crate) fn one(x: f64, y: f64) -> f64 {
    let power = if y.abs() > MAX_OF_LIBRARY { power(x, y) } else { f64::NAN };
    if power.is_nan() { libm::pow(x, y) } else { power }
}

/// The largest exponent for which the library takes this path.
const MAX_OF_LIBRARY: f64 = 2_147_483_648.0;

/// `bases[k]` to the power `exponents[k]` into `out[k]`.
pub(crate) fn powers(bases: &[f64], exponents: &[f64], out: &mut [f64]) {
    ordinary!(power, one; bases, exponents => out);
}

/// The power, or NaN where the operands are not ordinary.
#[inline(always)]
fn power(x: f64, y: f64) -> f64 {
    let size = x.abs();
    let [t1, t2] = logarithm(size);
    let y1 = high(y);
    let low = (y - y1) * t1 + y * t2;
    let product = y1 * t1;
    let whole = low + product;
    let is_whole = y.trunc() == y;
    let is_odd = (0.5 * y).trunc() * 2.0 != y;
    let normal = (f64::MIN_POSITIVE..=f64::MAX).contains(&size) & (size != 1.0);
    // For these exponents it takes a shorter path.
    let plain = (y != 0.0) & (y.abs() != 1.0) & (y != 2.0) & (y != 0.5);
    let ordinary = normal & plain & ((-1021.0..1023.9).contains(&whole)) & ((x > 0.0) | is_whole);
    let value = exponential(product, low, whole);
    let signed = if (x < 0.0) & is_odd { -value } else { value };
    if ordinary { signed } else { f64::NAN }
}

/// The binary logarithm of a positive normal number, in two parts.
#[inline(always)]
fn logarithm(x: f64) -> [f64; 2] {
    const SERIES: [f64; 6] = [
        0.5999999999999946,
        0.4285714285785502,
        0.33333332981837743,
        0.272728123808534,
        0.23066074577556175,
        0.20697501780033842,
    ];
    const SCALE: f64 = 0.9617966939259756;
    const SCALE_HIGH: f64 = 0.9617967009544373;
    const SCALE_LOW: f64 = -7.028461650952758e-09;
    let bits = x.to_bits();
    let fraction = (bits >> 32) & 0x000f_ffff;
    // The interval about 1, 1.5 or 2 in which the significand lies; the last is that about 1, an octave up.
    let is_middle = (fraction > 0x3988e) & (fraction < 0xbb67a);
    let is_upper = fraction >= 0xbb67a;
    let octave = (bits >> 52) + u64::from(is_upper);
    let n = f64::from_bits(octave | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    let upper = (fraction | 0x3ff0_0000) - if is_upper { 0x0010_0000 } else { 0 };
    let ax = f64::from_bits(upper << 32 | bits & 0xffff_ffff);
    let (centre, log_high, log_low) = match is_middle {
        true => (1.5, 0.5849624872207642, 1.350039202129749e-08),
        false => (1.0, 0.0, 0.0),
    };
    let (u, v) = (ax - centre, 1.0 / (ax + centre));
    let ss = u * v;
    let s_h = high(ss);
    let sum = ((upper >> 1) | 0x2000_0000) + 0x0008_0000 + if is_middle { 0x0004_0000 } else { 0 };
    let t_h = f64::from_bits(sum << 32);
    let t_l = ax - (t_h - centre);
    let s_l = v * ((u - s_h * t_h) - s_h * t_l);
    let s2 = ss * ss;
    let [l1, l2, l3, l4, l5, l6] = SERIES;
    let r = s2 * s2 * (l1 + s2 * (l2 + s2 * (l3 + s2 * (l4 + s2 * (l5 + s2 * l6))))) + s_l * (s_h + ss);
    let s2 = s_h * s_h;
    let t_h = high(3.0 + s2 + r);
    let t_l = r - ((t_h - 3.0) - s2);
    let (u, v) = (s_h * t_h, s_l * t_h + t_l * ss);
    let p_h = high(u + v);
    let p_l = v - (p_h - u);
    let z_h = SCALE_HIGH * p_h;
    let z_l = SCALE_LOW * p_h + p_l * SCALE + log_low;
    let t1 = high(((z_h + z_l) + log_high) + n);
    [t1, z_l - (((t1 - n) - log_high) - z_h)]
}

/// 2 to the power of a sum in two parts, whose rounded value is `whole`.
#[inline(always)]
fn exponential(product: f64, low: f64, whole: f64) -> f64 {
    const SERIES: [f64; 5] = [
        0.16666666666666602,
        -0.0027777777777015593,
        6.613756321437934e-05,
        -1.6533902205465252e-06,
        4.1381367970572385e-08,
    ];
    const LN_2_HIGH: f64 = 0.6931471824645996;
    const LN_2_LOW: f64 = -1.904654299957768e-09;
    /// Added to an integer, it leaves that in the last bits.
    const ALIGNER: f64 = 6_755_399_441_055_744.0;
    let size = high(whole).abs();
    let rounded = if size > 0.5 { (size + 0.5).trunc() } else { 0.0 };
    let n = rounded.copysign(whole);
    let p_h = product - n;
    let t = high(low + p_h);
    let u = t * LN_2_HIGH;
    let v = (low - (t - p_h)) * LN_2 + t * LN_2_LOW;
    let z = u + v;
    let w = v - (z - u);
    let t = z * z;
    let [p1, p2, p3, p4, p5] = SERIES;
    let t1 = z - t * (p1 + t * (p2 + t * (p3 + t * (p4 + t * p5))));
    let r = (z * t1) / (t1 - 2.0) - (w + z * w);
    let exponent = (n + ALIGNER).to_bits() << 52;
    f64::from_bits((1.0 - (r - z)).to_bits().wrapping_add(exponent))
}

/// The upper half of a number's bits.
#[inline(always)]
fn high(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ordinary::tests::{drawn, is_same};

    #[test]
    fn blocks_have_the_bits_of_single_powers() {
        let special =
            [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, f64::INFINITY, -f64::INFINITY, f64::NAN, 5e-324, 1e308];
        let (mut bases, mut exponents) = (drawn(200_000), drawn(200_077));
        exponents.drain(..77);
        bases.extend(special.iter().flat_map(|&x| [x; 11]));
        exponents.extend(special.iter().cycle().take(121));
        let mut out = vec![0.0; bases.len()];
        powers(&bases, &exponents, &mut out);
        let mut ordinary = 0;
        for (&given, (&x, &y)) in out.iter().zip(bases.iter().zip(&exponents)) {
            let expected = one(x, y);
            assert!(y.abs() > MAX_OF_LIBRARY || is_same(expected, libm::pow(x, y)), "{x:e} to the {y:e}");
            ordinary += usize::from(!power(x, y).is_nan());
            assert!(
                is_same(given, expected),
                "{x:e} to the {y:e}: {given:e} where {expected:e} was expected"
            );
        }
        assert!(ordinary > 20_000, "{ordinary} are taken in blocks");
    }

    /// Where `libm::pow` gives 8.739198692762356e282; by arithmetic of 200 bits.
    #[test]
    fn large_exponents_lose_no_digits() {
        assert_eq!(one(0.999_999_811_154_473_5, -3_449_892_433.852_815_6), 8.739_198_692_762_769e282);
    }
}
