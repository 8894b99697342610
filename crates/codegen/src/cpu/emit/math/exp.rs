//! exp, exp2 and expm1: reduction by powers of two to |r| <= ln 2 / 2, then a polynomial.
//!
//! Cody and Waite, Software manual for the elementary functions, 1980: `r = x - n ln 2` with ln 2 in two parts, of
//! which the first has few bits, so that its product with n is exact. Coefficients of exp: Cephes (Moshier, 1989).

use super::super::operand::Operand;
use super::super::wide;
use super::super::writer::Writer;
use super::{LN_2_HIGH, LN_2_LOW};

/// Added and subtracted, it rounds what is below 2^22 to an integer, which is then in its last bits.
const SHIFTER: f32 = 12_582_912.0;
/// `(exp(r) - 1 - r) / r^2`.
const EXP: [f32; 6] = [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
/// `(exp2(r) - 1) / r` for |r| <= 1/2.
const EXP2: [f32; 7] =
    [1.519_581_8e-5, 1.546_713_5e-4, 1.333_394e-3, 9.618_037e-3, 5.550_41e-2, 2.402_265e-1, 6.931_472e-1];

/// 2^f for f from 0 to 1, within 2^-18 of itself; of 0 it is exactly 1.
const EXP2_HALF: [f32; 5] = [0.013_426_687, 0.052_242_47, 0.241_280_21, 0.693_044_84, 1.0];

/// An integer as a float and as bits.
#[derive(Clone, Copy)]
struct Whole {
    float: Operand,
    int: Operand,
}

/// The integer nearest to `x * factor`.
fn nearest(w: &mut Writer<'_>, x: Operand, factor: f32) -> Whole {
    let shifted = w.mul_add(x, factor, SHIFTER);
    let bits = w.bits(shifted);
    let int = w.binary("sub", bits, i64::from(SHIFTER.to_bits()));
    Whole { float: w.sub(shifted, SHIFTER), int }
}

/// `x - n ln 2`.
fn reduce(w: &mut Writer<'_>, x: Operand, n: Whole) -> Operand {
    let r = w.mul_add(n.float, -LN_2_HIGH, x);
    w.mul_add(n.float, -LN_2_LOW, r)
}

/// `exp(r) - 1`.
fn reduced_expm1(w: &mut Writer<'_>, r: Operand) -> Operand {
    let q = w.horner(r, &EXP);
    let square = w.mul(r, r);
    w.mul_add(q, square, r)
}

/// 2^n for n from -126 to 127.
fn power_of_two(w: &mut Writer<'_>, n: Operand) -> Operand {
    let biased = w.binary("add", n, 127);
    let bits = w.binary("shl", biased, 23);
    w.float_of(bits)
}

/// `x * 2^n` for n from -252 to 254. Half of n at a time, so that only the last product rounds, overflows or is subnormal.
fn scale(w: &mut Writer<'_>, x: Operand, n: Whole) -> Operand {
    if wide::applies(w, x.ty) {
        return wide::scale(w, x, n.float);
    }
    let half = w.binary("ashr", n.int, 1);
    let rest = w.binary("sub", n.int, half);
    let (first, second) = (power_of_two(w, half), power_of_two(w, rest));
    let x = w.mul(x, first);
    w.mul(x, second)
}

/// exp, within 1.2 units in the last place everywhere, subnormal results included.
pub(super) fn exp(w: &mut Writer<'_>, x: Operand) -> Operand {
    // Beyond these the result is infinite or zero; bounded, n stays in the range of `scale`.
    let x = w.at_most(x, 89.0);
    let x = w.at_least(x, -104.0);
    let n = nearest(w, x, std::f32::consts::LOG2_E);
    let r = reduce(w, x, n);
    let y = reduced_expm1(w, r);
    let y = w.add(y, 1.0);
    scale(w, y, n)
}

/// exp to 16 bits: one product, of which the fraction goes through a short polynomial and the rest is the exponent.
pub(in super::super) fn exp_half(w: &mut Writer<'_>, x: Operand) -> Operand {
    if wide::applies(w, x.ty) {
        let t = w.mul(x, std::f32::consts::LOG2_E);
        let fraction = wide::fraction(w, t);
        let y = w.horner(fraction, &EXP2_HALF);
        return wide::scale(w, y, t);
    }
    let x = w.at_most(x, 89.0);
    let x = w.at_least(x, -104.0);
    // Half less, so that the nearest integer is the one below.
    let lowered = w.mul_add(x, std::f32::consts::LOG2_E, -0.5);
    let n = nearest(w, lowered, 1.0);
    let negated = w.unary("fneg", n.float);
    let fraction = w.mul_add(x, std::f32::consts::LOG2_E, negated);
    let y = w.horner(fraction, &EXP2_HALF);
    scale(w, y, n)
}

/// 2 to the power x, exact for integers.
pub(super) fn exp2(w: &mut Writer<'_>, x: Operand) -> Operand {
    let x = w.at_most(x, 129.0);
    let x = w.at_least(x, -151.0);
    let n = nearest(w, x, 1.0);
    let r = w.sub(x, n.float);
    let p = w.horner(r, &EXP2);
    let y = w.mul_add(p, r, 1.0);
    scale(w, y, n)
}

/// exp(x) - 1 without cancellation near zero: `2^n (exp(r) - 1) + (2^n - 1)`.
pub(super) fn expm1(w: &mut Writer<'_>, x: Operand) -> Operand {
    // Below -18 the result rounds to -1.
    let bounded = w.at_most(x, 89.0);
    let bounded = w.at_least(bounded, -18.0);
    let n = nearest(w, bounded, std::f32::consts::LOG2_E);
    let r = reduce(w, bounded, n);
    let p = reduced_expm1(w, r);
    // Half of the result, because 2^128 is no f32 while the result may be one.
    let less = w.binary("sub", n.int, 1);
    let half_power = power_of_two(w, less);
    let offset = w.sub(half_power, 0.5);
    let half = w.mul_add(half_power, p, offset);
    let y = w.add(half, half);
    // The sum above loses the sign of zero, and the bits of subnormals.
    let magnitude = w.abs(x);
    let tiny = w.compare("fcmp olt", magnitude, 1e-8);
    w.select(tiny, x, y)
}
