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

/// A number as the sum of two, of which the first has 21 bits.
struct Sum {
    high: Operand,
    low: Operand,
}

/// |x| to the power y, where neither is NaN; 1 for 1 to any power.
pub(super) fn of_magnitude(w: &mut Writer<'_>, magnitude: Operand, y: Operand) -> Operand {
    let bounded = within(w, y);
    let logarithm = log2(w, magnitude);
    let first = first_bits(w, bounded);
    let rest = w.sub(bounded, first);
    let high = w.mul(first, logarithm.high);
    let low = w.mul(rest, logarithm.high);
    let low = w.mul_add(bounded, logarithm.low, low);
    let power = w.add(high, low);
    let taken = w.sub(power, high);
    let low = w.sub(low, taken);
    let power = or_limit(w, magnitude, y, power);
    let reach = w.abs(power);
    let beyond = w.compare("fcmp oge", reach, MAX_EXPONENT);
    let low = w.select(beyond, 0.0, low);
    let power = w.at_most(power, MAX_EXPONENT);
    let power = w.at_least(power, -MAX_EXPONENT);
    exp2_of_sum(w, power, Some(low))
}

/// y, or the nearest number that is not beyond [`MAX_POWER`].
fn within(w: &mut Writer<'_>, y: Operand) -> Operand {
    let size = w.abs(y);
    let beyond = w.compare("fcmp ogt", size, Term::Float(MAX_POWER));
    let most = w.copysign(Operand::float(MAX_POWER, y.ty), y);
    w.select(beyond, most, y)
}

/// The binary logarithm of the power; for zero and infinity beyond all exponents, with a sign that y decides.
fn or_limit(w: &mut Writer<'_>, magnitude: Operand, y: Operand, power: Operand) -> Operand {
    let infinite = w.compare("fcmp oeq", magnitude, f32::INFINITY);
    let zero = w.compare("fcmp oeq", magnitude, 0.0);
    let most = w.number(y, MAX_EXPONENT);
    let of_infinity = w.copysign(most, y);
    let of_zero = w.unary("fneg", of_infinity);
    let power = w.select(infinite, of_infinity, power);
    w.select(zero, of_zero, power)
}

/// log2 of a positive finite number.
fn log2(w: &mut Writer<'_>, x: Operand) -> Sum {
    let (f, exponent) = frexp_any(w, x);
    let (s, quotient) = quotient(w, f);
    let series = series(w, s, &quotient);
    let high = w.mul(quotient.high, series.high);
    let low = w.mul(quotient.low, series.high);
    let low = w.mul_add(series.low, s, low);
    let product = renormalized(w, high, low, None);
    let [factor_high, factor_low] = FACTOR;
    let high = w.mul(product.high, Term::Float(factor_high));
    let low = w.mul(product.low, Term::Float(factor_high + factor_low));
    let low = w.mul_add(product.high, Term::Float(factor_low), low);
    renormalized(w, high, low, Some(exponent))
}

/// `s = f / (2 + f)`, rounded and in two parts.
fn quotient(w: &mut Writer<'_>, f: Operand) -> (Operand, Sum) {
    let denominator = w.add(f, 2.0);
    let one = w.number(f, 1.0);
    let inverse = w.div(one, denominator);
    let s = w.mul(f, inverse);
    let (high, first) = (first_bits(w, s), first_bits(w, denominator));
    let taken = w.sub(first, 2.0);
    let last = w.sub(f, taken);
    let product = w.mul(high, first);
    let rest = w.sub(f, product);
    let product = w.mul(high, last);
    let rest = w.sub(rest, product);
    (s, Sum { high, low: w.mul(inverse, rest) })
}

/// `3 + s^2 + r`, where s is also in two parts.
fn series(w: &mut Writer<'_>, s: Operand, parts: &Sum) -> Sum {
    let square = w.mul(s, s);
    let fourth = w.mul(square, square);
    let r = w.horner(square, &LOG);
    let r = w.mul(fourth, r);
    let both = w.add(parts.high, s);
    let r = w.mul_add(parts.low, both, r);
    let square = w.mul(parts.high, parts.high);
    let sum = w.add(square, 3.0);
    let sum = w.add(sum, r);
    let high = first_bits(w, sum);
    let taken = w.sub(high, 3.0);
    let taken = w.sub(taken, square);
    Sum { high, low: w.sub(r, taken) }
}

/// `high + low`, plus a third number that is zero or larger than both, as a sum whose first part has few bits.
fn renormalized(w: &mut Writer<'_>, high: Operand, low: Operand, third: Option<Operand>) -> Sum {
    let sum = w.add(high, low);
    let sum = third.map_or(sum, |third| w.add(sum, third));
    let first = first_bits(w, sum);
    let taken = third.map_or(first, |third| w.sub(first, third));
    let taken = w.sub(taken, high);
    Sum { high: first, low: w.sub(low, taken) }
}

fn first_bits(w: &mut Writer<'_>, x: Operand) -> Operand {
    let bits = w.bits(x);
    let bits = w.binary("and", bits, FIRST_BITS);
    w.float_of(bits)
}
