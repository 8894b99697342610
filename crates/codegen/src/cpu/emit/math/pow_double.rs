//! |x| to the power y of f64: `2^(y log2 |x|)`, with the logarithm and the product in two doubles each.
//!
//! Method: fdlibm (Sun Microsystems, 1993). `log2 |x| = e + 2 / (3 ln 2) s (3 + s^2 + r)` with `s = f / (2 + f)`; factors of
//! 21 bits have exact products. The polynomial r is a minimax fit by `scripts/minimax.py`, with a relative error of the
//! logarithm below 2^-73.

use super::super::operand::{Operand, Term};
use super::super::writer::Writer;
use super::exp::exp2_of_sum;
use super::frexp::frexp_any;

/// `(3/2 log((1 + s) / (1 - s)) / s - 3 - s^2) / s^4` as a polynomial in s^2.
const LOG: [f64; 8] = [
    0.179_856_440_213_009_92,
    0.175_119_732_027_304_58,
    0.200_044_886_432_502_65,
    0.230_768_349_818_767_26,
    0.272_727_283_102_204_5,
    0.333_333_333_262_660_8,
    0.428_571_428_571_678_24,
    0.599_999_999_999_999_6,
];
/// 2 / (3 ln 2): its first bits, and the remainder.
const FACTOR: [f64; 2] = [0.961_796_283_721_923_8, 4.102_040_517_767_816e-7];
/// The bits of the sign, the exponent and the first 20 of the fraction.
const FIRST_BITS: i64 = -1 << 32;
/// Powers of 2 beyond are zero or infinite.
const MAX_EXPONENT: f32 = 1200.0;
/// Every power but that of 1 is zero or infinite with such exponents, and with larger ones.
const MAX_POWER: f64 = 1e300;

/// A number as the sum of two, of which the first has few bits.
struct Sum {
    high: Operand,
    low: Operand,
}

/// |x| to the power y, where neither is NaN; 1 for 1 to any power.
pub(super) fn of_magnitude(w: &mut Writer<'_>, magnitude: Operand, y: Operand) -> Operand {
    let most = Operand::float(MAX_POWER, y.ty);
    let negated = w.unary("fneg", most);
    let above = w.compare("fcmp ogt", y, most);
    let bounded = w.select(above, most, y);
    let below = w.compare("fcmp olt", bounded, negated);
    let bounded = w.select(below, negated, bounded);
    let logarithm = log2(w, magnitude);
    let first = first_bits(w, bounded);
    let rest = w.sub(bounded, first);
    let low = w.mul(rest, logarithm.high);
    let low = w.mul_add(bounded, logarithm.low, low);
    let high = w.mul(first, logarithm.high);
    let power = w.add(high, low);
    let taken = w.sub(power, high);
    let low = w.sub(low, taken);
    // Of zero and infinity: the sign of the power decides.
    let infinite = w.compare("fcmp oeq", magnitude, f32::INFINITY);
    let power = w.select(infinite, y, power);
    let zero = w.compare("fcmp oeq", magnitude, 0.0);
    let reversed = w.unary("fneg", y);
    let power = w.select(zero, reversed, power);
    let special = w.binary("or", infinite, zero);
    let huge = Operand::float(f64::from(MAX_EXPONENT), y.ty);
    let signed = w.copysign(huge, power);
    let power = w.select(special, signed, power);
    let reach = w.abs(power);
    let beyond = w.compare("fcmp oge", reach, MAX_EXPONENT);
    let low = w.select(beyond, 0.0, low);
    let power = w.at_most(power, MAX_EXPONENT);
    let power = w.at_least(power, -MAX_EXPONENT);
    exp2_of_sum(w, power, Some(low))
}

/// log2 of a positive finite number.
fn log2(w: &mut Writer<'_>, x: Operand) -> Sum {
    let (f, exponent) = frexp_any(w, x);
    // s = f / (2 + f), in two parts.
    let denominator = w.add(f, 2.0);
    let one = w.number(f, 1.0);
    let inverse = w.div(one, denominator);
    let s = w.mul(f, inverse);
    let s_high = first_bits(w, s);
    let denominator_high = first_bits(w, denominator);
    let taken = w.sub(denominator_high, 2.0);
    let denominator_low = w.sub(f, taken);
    let product = w.mul(s_high, denominator_high);
    let rest = w.sub(f, product);
    let product = w.mul(s_high, denominator_low);
    let rest = w.sub(rest, product);
    let s_low = w.mul(inverse, rest);
    // 3 + s^2 + r, in two parts.
    let square = w.mul(s, s);
    let fourth = w.mul(square, square);
    let r = w.horner(square, &LOG);
    let r = w.mul(fourth, r);
    let both = w.add(s_high, s);
    let r = w.mul_add(s_low, both, r);
    let square = w.mul(s_high, s_high);
    let sum = w.add(square, 3.0);
    let sum = w.add(sum, r);
    let sum_high = first_bits(w, sum);
    let taken = w.sub(sum_high, 3.0);
    let taken = w.sub(taken, square);
    let sum_low = w.sub(r, taken);
    // Their product.
    let high = w.mul(s_high, sum_high);
    let low = w.mul(s_low, sum_high);
    let low = w.mul_add(sum_low, s, low);
    let product = w.add(high, low);
    let product_high = first_bits(w, product);
    let taken = w.sub(product_high, high);
    let product_low = w.sub(low, taken);
    // Times the factor, and e.
    let [factor_high, factor_low] = FACTOR.map(Term::Float);
    let high = w.mul(product_high, factor_high);
    let low = w.mul(product_low, Term::Float(FACTOR[0] + FACTOR[1]));
    let low = w.mul_add(product_high, factor_low, low);
    let sum = w.add(high, low);
    let sum = w.add(sum, exponent);
    let sum = first_bits(w, sum);
    let taken = w.sub(sum, exponent);
    let taken = w.sub(taken, high);
    Sum { high: sum, low: w.sub(low, taken) }
}

fn first_bits(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.bits(x);
    let bits = w.binary("and", bits, FIRST_BITS);
    w.float_of(bits)
}
