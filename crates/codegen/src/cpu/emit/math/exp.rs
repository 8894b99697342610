//! exp, exp2 and expm1: reduction by powers of two to |r| <= ln 2 / 2, then a polynomial.
//!
//! Coefficients of expm1: Cephes (Moshier, 1989); of exp: `scripts/minimax.py`, with a relative error below 2^-28.

use std::f64::consts::LN_2;

use ops::Approximation;

use super::super::avx512;
use super::super::operand::{Element, Operand};
use super::super::writer::Writer;
use super::power_of_two::{
    Format, Raised, Range, bounded, format, reduce, reduce_short, reduce_to_whole, scaled,
};

/// `(exp(r) - 1) / r`.
const EXP: [f32; 6] = [1.381_454_9e-3, 8.368_745e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1, 1.0];
/// The same, so that exp is within 2^-23.3.
const EXP_TERM: [f32; 5] = [8.290_275e-3, 4.189_816e-2, 1.666_763_8e-1, 4.999_914_8e-1, 9.999_997e-1];
/// `(exp(r) - 1 - r) / r^2`.
const EXPM1: [f32; 6] = [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
/// `(exp2(r) - 1) / r` for |r| <= 1/2.
const EXP2: [f32; 7] =
    [1.519_581_8e-5, 1.546_713_5e-4, 1.333_394e-3, 9.618_037e-3, 5.550_41e-2, 2.402_265e-1, 6.931_472e-1];

/// The same for f64, by `scripts/minimax.py`: `(exp(r) - 1) / r` so that exp has a relative error below 2^-57, `(exp(r) - 1 - r) /
/// r^2`, and `(exp2(r) - 1) / r`.
const EXP_DOUBLE: [f64; 11] = [
    2.499_993_571_791_690_7e-8,
    2.763_031_051_422_735e-7,
    2.755_758_730_279_316e-6,
    2.480_149_294_117_075_7e-5,
    1.984_126_950_486_062_6e-4,
    1.388_888_894_376_354_2e-3,
    8.333_333_333_495_625e-3,
    4.166_666_666_652_974e-2,
    0.166_666_666_666_664_1,
    0.500_000_000_000_001_1,
    1.0,
];
const EXPM1_DOUBLE: [f64; 11] = [
    2.087_534_057_019_392e-9,
    2.510_902_521_806_522_6e-8,
    2.755_740_273_525_533_5e-7,
    2.755_724_425_184_970_5e-6,
    2.480_158_717_228_623_5e-5,
    1.984_126_988_607_601_4e-4,
    1.388_888_888_896_256_5e-3,
    8.333_333_333_321_653e-3,
    4.166_666_666_666_651e-2,
    0.166_666_666_666_666_77,
    0.5,
];
const EXP2_DOUBLE: [f64; 11] = [
    4.434_756_929_500_324e-10,
    7.073_821_165_049_671e-9,
    1.017_819_997_615_168_6e-7,
    1.321_543_507_504_633_1e-6,
    1.525_273_349_138_943_3e-5,
    1.540_353_045_749_751_4e-4,
    1.333_355_814_677_724_4e-3,
    9.618_129_107_593_843e-3,
    5.550_410_866_482_007e-2,
    0.240_226_506_959_101_33,
    std::f64::consts::LN_2,
];

/// The same so that exp2 is within 2^-18.4, and within 2^-13.2.
const EXP2_HALF: [f32; 4] = [0.009_582_853, 0.055_906_426, 0.240_240_99, 0.693_124_2];
const EXP2_BF16: [f32; 3] = [0.055_008_935, 0.242_210_96, 0.693_282_9];
/// 2^f for f from 0 to 1, within 2^-18 of itself; of 0 it is exactly 1.
const EXP2_HALF_ABOVE: [f32; 5] = [0.013_426_687, 0.052_242_47, 0.241_280_21, 0.693_044_84, 1.0];
/// The same within 2^-13.5.
const EXP2_BF16_ABOVE: [f32; 4] = [0.077_067_04, 0.227_645, 0.695_116_76, 1.0];

/// exp, within 1.2 units in the last place everywhere, subnormal results included.
pub(super) fn exp(w: &mut Writer<'_>, x: Operand) -> Operand {
    exp_in(w, x, Range::Any)
}

/// The same for a range.
pub(super) fn exp_in(w: &mut Writer<'_>, x: Operand, range: Range) -> Operand {
    raised_exp(w, x, range).lowered(w)
}

fn raised_exp(w: &mut Writer<'_>, x: Operand, range: Range) -> Raised {
    let x = bounded(w, x, format(x).exp, LN_2, range);
    raised_exp_of_sum(w, x, None, range)
}

/// An exponential of a row of the table of ops.
pub(in super::super) fn exponential(w: &mut Writer<'_>, x: Operand, op: Approximation) -> Raised {
    let is_double = x.ty.element == Element::F64;
    match op {
        Approximation::ExpTerm if is_double => raised_exp(w, x, Range::Nonpositive),
        Approximation::ExpTerm => exp_term(w, x),
        Approximation::Exp(range) => raised_exp(w, x, range.into()),
        Approximation::Exp2Half(_) | Approximation::Exp2Bf16(_) if is_double => raised_exp2(w, x),
        Approximation::Exp2Half(range) => exp2_short(w, x, [&EXP2_HALF, &EXP2_HALF_ABOVE], range.into()),
        Approximation::Exp2Bf16(range) => exp2_short(w, x, [&EXP2_BF16, &EXP2_BF16_ABOVE], range.into()),
        Approximation::Reciprocal | Approximation::MulAdd => unreachable!("an exponential is asked for"),
    }
}

/// exp of values from -105 to 89, of f64 from -746 to 710, or of those of the range, or of NaN, plus a small number.
pub(super) fn exp_of_sum(w: &mut Writer<'_>, x: Operand, rest: Option<Operand>, range: Range) -> Operand {
    raised_exp_of_sum(w, x, rest, range).lowered(w)
}

fn raised_exp_of_sum(w: &mut Writer<'_>, x: Operand, rest: Option<Operand>, range: Range) -> Raised {
    let (n, r) = reduce(w, x, range);
    let r = rest.map_or(r, |rest| w.add(r, rest));
    let slope = w.horner_of_type(r, &EXP, &EXP_DOUBLE);
    scaled(w, slope, r, n, range)
}

/// exp of f32 that are at most 0, to 21 bits: the error of using one part of ln 2 grows with n. Of 0 it is exactly 1.
fn exp_term(w: &mut Writer<'_>, x: Operand) -> Raised {
    let x = bounded(w, x, format(x).exp, LN_2, Range::Term);
    let (n, r) = reduce_short(w, x, Range::Term);
    let slope = w.horner(r, &EXP_TERM);
    scaled(w, slope, r, n, Range::Term)
}

/// exp2 by a short polynomial: of the remainder, or where one instruction makes it, of the fraction from 0 to 1.
fn exp2_short(w: &mut Writer<'_>, x: Operand, [slope, above]: [&[f32]; 2], range: Range) -> Raised {
    if avx512::applies(w, x.ty) {
        let fraction = avx512::fraction(w, x);
        let y = w.horner(fraction, above);
        // Far below the smallest subnormal no microcode runs, and nothing is clamped to where it does.
        return Raised::from(avx512::scale(w, y, x, f64::NEG_INFINITY));
    }
    let x = bounded(w, x, format(x).exp2, 1.0, range);
    let (n, r) = reduce_to_whole(w, x, range);
    let slope = w.horner(r, slope);
    scaled(w, slope, r, n, range)
}

/// 2 to the power x, exact for integers.
pub(super) fn exp2(w: &mut Writer<'_>, x: Operand) -> Operand {
    raised_exp2(w, x).lowered(w)
}

fn raised_exp2(w: &mut Writer<'_>, x: Operand) -> Raised {
    let [min, most] = format(x).exp2;
    let x = w.at_most(x, most);
    let x = w.at_least(x, min);
    Raised::from(exp2_of_sum(w, x, None))
}

/// 2 to the power of a value from -2044 to 2046, or NaN, plus a small number.
pub(super) fn exp2_of_sum(w: &mut Writer<'_>, x: Operand, rest: Option<Operand>) -> Operand {
    let (n, r) = reduce_to_whole(w, x, Range::Any);
    let r = rest.map_or(r, |rest| w.add(r, rest));
    let slope = w.horner_of_type(r, &EXP2, &EXP2_DOUBLE);
    scaled(w, slope, r, n, Range::Any).lowered(w)
}

/// exp(x) - 1 without cancellation near zero: `2^n (exp(r) - 1) + (2^n - 1)`.
pub(super) fn expm1(w: &mut Writer<'_>, x: Operand) -> Operand {
    let &Format { fraction, bias, expm1: [min, most], tiny, .. } = format(x);
    let bounded = w.at_most(x, most);
    let bounded = w.at_least(bounded, min);
    let (n, r) = reduce(w, bounded, Range::Any);
    let q = w.horner_of_type(r, &EXPM1, &EXPM1_DOUBLE);
    let square = w.mul(r, r);
    let p = w.mul_add(q, square, r);
    // Half of the result, because the power of two may overflow where the result does not.
    let biased = w.binary("shl", n.biased, fraction);
    let half_power = w.binary("sub", biased, (bias + 1) << fraction);
    let half_power = w.float_of(half_power);
    let offset = w.sub(half_power, 0.5);
    let half = w.mul_add(half_power, p, offset);
    let y = w.add(half, half);
    // The sum above loses the sign of zero, and the bits of subnormals.
    let magnitude = w.abs(x);
    let is_tiny = w.compare("fcmp olt", magnitude, tiny);
    w.select(is_tiny, x, y)
}
