//! erf and erfc of f64. erf below 1 is a polynomial in x^2, otherwise `1 - erfc(x)`; erfc is `t p(t) exp(-x^2)` with
//! `t = 2 / (2 + |x|)`, as in f32, and x^2 in two doubles.
//!
//! Coefficients: minimax fits by `scripts/minimax.py`, with relative errors below 2^-56.

use super::super::operand::Operand;
use super::super::writer::Writer;
use super::exp::exp_of_sum;
use super::power_of_two::Range;

/// `(erf(x) - x) / x` as a polynomial in x^2.
const SMALL: [f64; 12] = [
    -7.779_480_003_192_625e-10,
    1.371_098_664_619_043_9e-8,
    -1.620_631_521_698_595_2e-7,
    1.644_713_176_289_836e-6,
    -1.492_471_231_757_758_4e-5,
    1.205_529_357_770_979_3e-4,
    -8.548_325_929_341_408e-4,
    5.223_977_606_119_031e-3,
    -0.026_866_170_643_111_534,
    0.112_837_916_709_441_85,
    -0.376_126_389_031_835_2,
    0.128_379_167_095_512_56,
];
/// `exp(x^2) erfc(x) / t` as a polynomial in t - 13/32, for x from 5/8.
const SCALED: [f64; 23] = [
    -0.227_222_803_099_034_03,
    0.135_180_587_301_877_93,
    0.225_248_769_651_233_5,
    -0.229_805_983_443_291_23,
    -0.049_925_452_246_122_9,
    0.190_465_257_507_980_32,
    -0.082_821_519_282_225_24,
    -0.088_105_022_662_661_9,
    0.120_240_392_606_598_31,
    -1.165_613_551_630_572e-3,
    -0.101_874_739_000_479_54,
    0.054_867_349_751_261_23,
    0.069_613_144_918_315_22,
    -0.083_461_468_403_236_77,
    -0.045_743_683_504_467_88,
    0.106_583_781_191_063_3,
    0.044_737_219_075_958_6,
    -0.145_719_997_288_055_18,
    -0.112_438_074_172_496_14,
    0.199_737_949_638_468_28,
    0.509_830_927_878_309_6,
    0.586_725_301_459_434_5,
    0.451_150_044_751_298_5,
];
/// The bits of the sign, the exponent and the first 25 of the fraction, whose square is exact.
const FIRST_BITS: i64 = -1 << 27;

/// The error function.
pub(super) fn erf(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let small = small_erf(w, magnitude);
    // From 6 on the result rounds to 1.
    let bounded = w.at_most(magnitude, 6.0);
    let rest = erfc_of_magnitude(w, bounded);
    let one = w.number(x, 1.0);
    let large = w.sub(one, rest);
    let is_small = w.compare("fcmp olt", magnitude, 1.0);
    let y = w.select(is_small, small, large);
    w.copysign(y, x)
}

/// 1 less the error function.
pub(super) fn erfc(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    // From there on the result is zero, and the exponential is not yet too small.
    let magnitude = w.at_most(magnitude, 27.3);
    let far = erfc_of_magnitude(w, magnitude);
    let small = small_erf(w, magnitude);
    let one = w.number(x, 1.0);
    let near = w.sub(one, small);
    // Errors of t count several times here, and those of erf less than once.
    let is_near = w.compare("fcmp olt", magnitude, 0.625);
    let above = w.select(is_near, near, far);
    let two = w.number(x, 2.0);
    let below = w.sub(two, above);
    let negative = w.compare("fcmp olt", x, 0.0);
    w.select(negative, below, above)
}

/// erf for x from 0 to 1.
fn small_erf(w: &mut Writer<'_>, x: Operand) -> Operand {
    let square = w.mul(x, x);
    let p = w.horner(square, &SMALL);
    w.mul_add(p, x, x)
}

/// erfc for x from 5/8 to 27.3.
fn erfc_of_magnitude(w: &mut Writer<'_>, x: Operand) -> Operand {
    let two = w.number(x, 2.0);
    let sum = w.add(x, 2.0);
    let t = w.div(two, sum);
    let shifted = w.sub(t, 0.406_25);
    let p = w.horner(shifted, &SCALED);
    let p = w.mul(p, t);
    let square = w.mul(x, x);
    let lost = lost_in_square(w, x, square);
    let [exponent, rest] = [square, lost].map(|part| w.unary("fneg", part));
    let power = exp_of_sum(w, exponent, Some(rest), Range::Nonpositive);
    w.mul(p, power)
}

/// `x^2 - square`: without fused multiply-add that of the first bits, which is exact, and `(x - high) (x + high)`.
fn lost_in_square(w: &mut Writer<'_>, x: Operand, square: Operand) -> Operand {
    if w.isa.fma {
        let negated = w.unary("fneg", square);
        return w.mul_add(x, x, negated);
    }
    let bits = w.bits(x);
    let bits = w.binary("and", bits, FIRST_BITS);
    let high = w.float_of(bits);
    let of_high = w.mul(high, high);
    let lost = w.sub(of_high, square);
    let (less, more) = (w.sub(x, high), w.add(x, high));
    let rest = w.mul(less, more);
    w.add(lost, rest)
}
