//! exp, exp2 and expm1: reduction by powers of two to |r| <= ln 2 / 2, then a polynomial.
//!
//! Cody and Waite, Software manual for the elementary functions, 1980: `r = x - n ln 2` with ln 2 in two parts, of
//! which the first has few bits, so that its product with n is exact. Coefficients of expm1: Cephes (Moshier, 1989); of exp:
//! `scripts/minimax.py`, with a relative error below 2^-28.

use super::super::operand::Operand;
use super::super::wide;
use super::super::writer::Writer;
use super::{LN_2_HIGH, LN_2_LOW};

/// Twice the bias of the exponents of f32.
const TWO_BIASES: i64 = 254;
/// Added and subtracted, it rounds what is below 2^21 to an integer n; n and two biases are then in the last bits.
const SHIFTER: f32 = 12_582_912.0 + TWO_BIASES as f32;
/// `exp(r)`.
const EXP: [f32; 7] = [1.381_454_9e-3, 8.368_745e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1, 1.0, 1.0];
/// `(exp(r) - 1 - r) / r^2`.
const EXPM1: [f32; 6] = [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
/// `(exp2(r) - 1) / r` for |r| <= 1/2.
const EXP2: [f32; 7] =
    [1.519_581_8e-5, 1.546_713_5e-4, 1.333_394e-3, 9.618_037e-3, 5.550_41e-2, 2.402_265e-1, 6.931_472e-1];

/// 2^f for f from 0 to 1, within 2^-18 of itself; of 0 it is exactly 1.
const EXP2_HALF: [f32; 5] = [0.013_426_687, 0.052_242_47, 0.241_280_21, 0.693_044_84, 1.0];

/// An integer n from -254 to 256 as a float, and bits of which the last nine are n and two biases.
#[derive(Clone, Copy)]
struct Whole {
    float: Operand,
    biased: Operand,
}

/// The integer nearest to `x * factor`.
fn nearest(w: &mut Writer<'_>, x: Operand, factor: f32) -> Whole {
    let shifted = w.mul_add(x, factor, SHIFTER);
    Whole { biased: w.bits(shifted), float: w.sub(shifted, SHIFTER) }
}

/// `x - n ln 2`.
fn reduce(w: &mut Writer<'_>, x: Operand, n: Whole) -> Operand {
    let r = w.mul_add(n.float, -LN_2_HIGH, x);
    w.mul_add(n.float, -LN_2_LOW, r)
}

/// `x * 2^n` for n from -252 to 254. Half of n at a time, so that only the last product rounds, overflows or is subnormal;
/// each half has one of the biases.
fn scale(w: &mut Writer<'_>, x: Operand, n: Whole) -> Operand {
    if wide::applies(w, x.ty) {
        return wide::scale(w, x, n.float);
    }
    let half = w.binary("lshr", n.biased, 1);
    let half = w.binary("shl", half, 23);
    let whole = w.binary("shl", n.biased, 23);
    let rest = w.binary("sub", whole, half);
    let (first, second) = (w.float_of(half), w.float_of(rest));
    let x = w.mul(x, first);
    w.mul(x, second)
}

/// `x`, but no further out than where results are zero or infinite, so that n stays in the range of `scale`. The instruction
/// for it takes any n, and makes infinity of NaN times 2^infinity: it needs no upper bound. The lower one is for what is
/// large and negative, with a remainder so large that the polynomial overflows.
fn bounded(w: &mut Writer<'_>, x: Operand, least: f32, most: f32) -> Operand {
    let x = if wide::applies(w, x.ty) { x } else { w.at_most(x, most) };
    w.at_least(x, least)
}

/// exp, within 1.2 units in the last place everywhere, subnormal results included.
pub(super) fn exp(w: &mut Writer<'_>, x: Operand) -> Operand {
    let x = bounded(w, x, -104.0, 89.0);
    exp_within(w, x)
}

/// exp of what lies from -104 to 89, or is NaN.
pub(super) fn exp_within(w: &mut Writer<'_>, x: Operand) -> Operand {
    let n = nearest(w, x, std::f32::consts::LOG2_E);
    let r = reduce(w, x, n);
    let y = w.horner(r, &EXP);
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
    let x = bounded(w, x, -104.0, 89.0);
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
    let q = w.horner(r, &EXPM1);
    let square = w.mul(r, r);
    let p = w.mul_add(q, square, r);
    // Half of the result, because 2^128 is no f32 while the result may be one.
    let biased = w.binary("shl", n.biased, 23);
    let half_power = w.binary("sub", biased, 128 << 23);
    let half_power = w.float_of(half_power);
    let offset = w.sub(half_power, 0.5);
    let half = w.mul_add(half_power, p, offset);
    let y = w.add(half, half);
    // The sum above loses the sign of zero, and the bits of subnormals.
    let magnitude = w.abs(x);
    let tiny = w.compare("fcmp olt", magnitude, 1e-8);
    w.select(tiny, x, y)
}
