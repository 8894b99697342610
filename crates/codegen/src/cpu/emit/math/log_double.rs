//! log, log2 and log10 of f64: `x = 2^e (1 + f)` as in f32, then `log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2))` with
//! `s = f / (2 + f)`. To other bases the larger part is multiplied in few bits, exactly.
//!
//! Method and coefficients: fdlibm (Sun Microsystems, 1993) and FreeBSD's msun, with an error below 2^-58.

use super::super::operand::{Operand, Term};
use super::super::writer::Writer;
use super::frexp::frexp_any;
use super::log::special;
use super::{LN_2_HIGH_DOUBLE, LN_2_LOW_DOUBLE};

/// R.
const RATIO: [f64; 7] = [
    1.479_819_860_511_658_6e-1,
    1.531_383_769_920_937_3e-1,
    1.818_357_216_161_805e-1,
    2.222_219_843_214_978_4e-1,
    2.857_142_874_366_239e-1,
    3.999_999_999_940_942e-1,
    6.666_666_666_666_735e-1,
];
/// 1 / ln 2, 1 / ln 10 and log10(2): the first bits, and the remainder.
const LOG2_E: [f64; 2] = [1.442_695_040_721_446_3, 1.675_171_316_488_651_2e-10];
const LOG10_E: [f64; 2] = [4.342_944_818_781_689e-1, 2.508_294_671_164_527_5e-11];
const LOG10_2: [f64; 2] = [3.010_299_956_636_117_7e-1, 3.694_239_077_158_931e-13];
/// The bits of the sign, the exponent and the first 20 of the fraction.
const FIRST_BITS: i64 = -1 << 32;

/// A decomposed positive number: f, f^2 / 2, the remainder of log(1 + f), and e.
struct Parts {
    f: Operand,
    half_square: Operand,
    rest: Operand,
    exponent: Operand,
}

fn split(w: &mut Writer<'_>, f: Operand, exponent: Operand) -> Parts {
    let sum = w.add(f, 2.0);
    let s = w.div(f, sum);
    let square = w.mul(s, s);
    let ratio = w.horner(square, &RATIO);
    let ratio = w.mul(ratio, square);
    let half = w.mul(f, 0.5);
    let half_square = w.mul(half, f);
    let rest = w.add(half_square, ratio);
    let rest = w.mul(s, rest);
    Parts { f, half_square, rest, exponent }
}

/// The natural logarithm.
pub(super) fn log(w: &mut Writer<'_>, x: Operand) -> Operand {
    let (f, exponent) = frexp_any(w, x);
    let y = natural(w, f, exponent);
    special(w, x, y)
}

/// `log(1 + f) + e ln 2`.
pub(super) fn natural(w: &mut Writer<'_>, f: Operand, exponent: Operand) -> Operand {
    let Parts { f, half_square, rest, exponent } = split(w, f, exponent);
    let low = w.mul_add(exponent, Term::Float(LN_2_LOW_DOUBLE), rest);
    let low = w.sub(half_square, low);
    let low = w.sub(low, f);
    let negated = w.unary("fneg", low);
    w.mul_add(exponent, Term::Float(LN_2_HIGH_DOUBLE), negated)
}

/// The logarithm to base 2, exact for powers of two.
pub(super) fn log2(w: &mut Writer<'_>, x: Operand) -> Operand {
    to_base(w, x, LOG2_E, [1.0, 0.0])
}

/// The logarithm to base 10.
pub(super) fn log10(w: &mut Writer<'_>, x: Operand) -> Operand {
    to_base(w, x, LOG10_E, LOG10_2)
}

/// `log(1 + f)` times one factor, and e times another.
fn to_base(w: &mut Writer<'_>, x: Operand, of_rest: [f64; 2], of_exponent: [f64; 2]) -> Operand {
    let [rest_high, rest_low] = of_rest.map(Term::Float);
    let [exponent_high, exponent_low] = of_exponent.map(Term::Float);
    let (f, exponent) = frexp_any(w, x);
    let Parts { f, half_square, rest, exponent } = split(w, f, exponent);
    let high = w.sub(f, half_square);
    let bits = w.bits(high);
    let bits = w.binary("and", bits, FIRST_BITS);
    let high = w.float_of(bits);
    let low = w.sub(f, high);
    let low = w.sub(low, half_square);
    let low = w.add(low, rest);
    let product = w.mul(high, rest_high);
    let both = w.add(low, high);
    let small = w.mul(exponent, exponent_low);
    let small = w.mul_add(both, rest_low, small);
    let small = w.mul_add(low, rest_high, small);
    let large = w.mul(exponent, exponent_high);
    let sum = w.add(large, product);
    let lost = w.sub(large, sum);
    let lost = w.add(lost, product);
    let small = w.add(small, lost);
    let y = w.add(small, sum);
    special(w, x, y)
}
