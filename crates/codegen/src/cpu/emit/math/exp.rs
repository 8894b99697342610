//! exp, exp2 and expm1: reduction by powers of two to |r| <= ln 2 / 2, then a polynomial.
//!
//! Cody and Waite, Software manual for the elementary functions, 1980: `r = x - n ln 2` with ln 2 in two parts, of
//! which the first has few bits, so that its product with n is exact. Coefficients of expm1: Cephes (Moshier, 1989); of exp:
//! `scripts/minimax.py`, with a relative error below 2^-28.

use super::super::avx512;
use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::{LN_2_HIGH, LN_2_LOW};

/// The constants of a float type for the reduction.
struct Format {
    /// Bits below the exponent, and its bias.
    fraction: i64,
    bias: i64,
    /// Added and subtracted, it rounds to an integer n; n and two biases are then in the last bits.
    shifter: f64,
    log2_e: f64,
    /// ln 2 in few bits, whose products with small integers are exact, and the remainder.
    ln_2: [f64; 2],
    /// Where exp and exp2 are zero and infinite, and expm1 is -1 and infinite.
    exp: [f32; 2],
    exp2: [f32; 2],
    expm1: [f32; 2],
    /// Below this, expm1 returns its operand.
    tiny: f32,
    /// A number times 2^n, for n below this, is zero: at most sqrt(2) times a power of two is half of the smallest subnormal.
    zero: f64,
}

const SINGLE: Format = Format {
    fraction: 23,
    bias: 127,
    shifter: 12_582_912.0 + 254.0,
    log2_e: std::f32::consts::LOG2_E as f64,
    ln_2: [LN_2_HIGH as f64, LN_2_LOW as f64],
    exp: [-105.0, 89.0],
    exp2: [-151.0, 129.0],
    expm1: [-18.0, 89.0],
    tiny: 1e-8,
    zero: -150.5,
};
const DOUBLE: Format = Format {
    fraction: 52,
    bias: 1023,
    shifter: 6_755_399_441_055_744.0 + 2046.0,
    log2_e: std::f64::consts::LOG2_E,
    ln_2: [super::LN_2_HIGH_DOUBLE, super::LN_2_LOW_DOUBLE],
    exp: [-746.0, 710.0],
    exp2: [-1076.0, 1025.0],
    expm1: [-38.0, 710.0],
    tiny: 1e-17,
    zero: -1075.5,
};

fn format(x: Operand) -> &'static Format {
    if x.ty.element == Element::F64 { &DOUBLE } else { &SINGLE }
}

/// `exp(r)`.
const EXP: [f32; 7] = [1.381_454_9e-3, 8.368_745e-3, 4.166_839e-2, 1.666_652_1e-1, 4.999_999_4e-1, 1.0, 1.0];
/// The same within 2^-23.3.
const EXP_TERM: [f32; 6] = [8.290_275e-3, 4.189_816e-2, 1.666_763_8e-1, 4.999_914_8e-1, 9.999_997e-1, 1.0];
/// `(exp(r) - 1 - r) / r^2`.
const EXPM1: [f32; 6] = [1.987_569_2e-4, 1.398_2e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
/// `(exp2(r) - 1) / r` for |r| <= 1/2.
const EXP2: [f32; 7] =
    [1.519_581_8e-5, 1.546_713_5e-4, 1.333_394e-3, 9.618_037e-3, 5.550_41e-2, 2.402_265e-1, 6.931_472e-1];

/// The same for f64, by `scripts/minimax.py`: `exp(r)` with a relative error below 2^-57, `(exp(r) - 1 - r) / r^2`, and
/// `(exp2(r) - 1) / r`.
const EXP_DOUBLE: [f64; 12] = [
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

/// 2^f for f from 0 to 1, within 2^-18 of itself; of 0 it is exactly 1.
const EXP2_HALF: [f32; 5] = [0.013_426_687, 0.052_242_47, 0.241_280_21, 0.693_044_84, 1.0];
/// The same within 2^-13.5.
const EXP2_BF16: [f32; 4] = [0.077_067_04, 0.227_645, 0.695_116_76, 1.0];

/// A small integer n as a float, and bits of which the last ones are n and two biases.
#[derive(Clone, Copy)]
struct Whole {
    float: Operand,
    biased: Operand,
}

/// The integer nearest to `x * factor`.
fn nearest(w: &mut Writer<'_>, x: Operand, factor: f64) -> Whole {
    let shifter = Term::Float(format(x).shifter);
    let shifted = w.mul_add(x, Term::Float(factor), shifter);
    Whole { biased: w.bits(shifted), float: w.sub(shifted, shifter) }
}

/// n and r with `x = n ln 2 + r`.
fn reduce(w: &mut Writer<'_>, x: Operand) -> (Whole, Operand) {
    let Format { log2_e, ln_2: [high, low], .. } = *format(x);
    let n = nearest(w, x, log2_e);
    let r = w.mul_add(n.float, Term::Float(-high), x);
    (n, w.mul_add(n.float, Term::Float(-low), r))
}

/// `x * 2^n` for n from -252 to 254, of f64 from -2044 to 2046. Half of n at a time, so that only the last product rounds,
/// overflows or is subnormal; each half has one of the two biases. Processors take hundreds of cycles for products that
/// underflow, which masked scores have many of: a factor is zero for n so small that no result is subnormal.
fn scale(w: &mut Writer<'_>, x: Operand, n: Whole) -> Operand {
    if avx512::applies(w, x.ty) {
        return avx512::scale(w, x, n.float, format(x).zero);
    }
    let &Format { fraction, zero, .. } = format(x);
    let half = w.binary("lshr", n.biased, 1);
    let half = w.binary("shl", half, fraction);
    let whole = w.binary("shl", n.biased, fraction);
    let rest = w.binary("sub", whole, half);
    let (first, second) = (w.float_of(half), w.float_of(rest));
    let underflows = w.compare("fcmp olt", n.float, Term::Float(zero));
    let first = w.select(underflows, 0.0, first);
    let x = w.mul(x, first);
    w.mul(x, second)
}

/// `x`, clamped to where results are zero or infinite, so that n stays in the range of `scale`. The instruction for scaling
/// takes any n, and NaN times 2^infinity is infinity there: f32, whose polynomial is positive everywhere, needs no upper
/// bound then. The lower bound is for large negative inputs, whose remainder would make the polynomial overflow.
fn bounded(w: &mut Writer<'_>, x: Operand, [min, most]: [f32; 2]) -> Operand {
    let any = avx512::applies(w, x.ty) && x.ty.element == Element::F32;
    let x = if any { x } else { w.at_most(x, most) };
    w.at_least(x, min)
}

/// exp, within 1.2 units in the last place everywhere, subnormal results included.
pub(super) fn exp(w: &mut Writer<'_>, x: Operand) -> Operand {
    let x = bounded(w, x, format(x).exp);
    exp_within(w, x)
}

/// exp of values from -105 to 89, of f64 from -746 to 710, or of NaN.
pub(super) fn exp_within(w: &mut Writer<'_>, x: Operand) -> Operand {
    exp_of_sum(w, x, None)
}

/// exp of such a value plus a small number.
pub(super) fn exp_of_sum(w: &mut Writer<'_>, x: Operand, rest: Option<Operand>) -> Operand {
    let (n, r) = reduce(w, x);
    let r = rest.map_or(r, |rest| w.add(r, rest));
    let y = w.horner_of_type(r, &EXP, &EXP_DOUBLE);
    scale(w, y, n)
}

/// exp of f32 to 21 bits: the error of using one part of ln 2 grows with n. Of 0 it is exactly 1. The polynomial is of odd
/// degree, so both bounds are needed.
pub(in super::super) fn exp_term(w: &mut Writer<'_>, x: Operand) -> Operand {
    let [min, most] = SINGLE.exp;
    let x = w.at_most(x, most);
    let x = w.at_least(x, min);
    let (n, r) = if w.isa.fma {
        let n = nearest(w, x, SINGLE.log2_e);
        (n, w.mul_add(n.float, Term::Float(-f64::from(std::f32::consts::LN_2)), x))
    } else {
        reduce(w, x)
    };
    let y = w.horner(r, &EXP_TERM);
    scale(w, y, n)
}

/// exp2 to 18 bits.
pub(in super::super) fn exp2_half(w: &mut Writer<'_>, x: Operand) -> Operand {
    exp2_short(w, x, &EXP2_HALF)
}

/// exp2 to 13 bits.
pub(in super::super) fn exp2_bf16(w: &mut Writer<'_>, x: Operand) -> Operand {
    exp2_short(w, x, &EXP2_BF16)
}

/// exp2 by a short polynomial of the fraction, from 0 to 1; the rest is the exponent.
fn exp2_short(w: &mut Writer<'_>, x: Operand, coefficients: &[f32]) -> Operand {
    if avx512::applies(w, x.ty) {
        let fraction = avx512::fraction(w, x);
        let y = w.horner(fraction, coefficients);
        // Far below the smallest subnormal no microcode runs, and nothing is clamped to where it does.
        return avx512::scale(w, y, x, f64::NEG_INFINITY);
    }
    let x = bounded(w, x, SINGLE.exp2);
    // Half is subtracted, so that the nearest integer is the one below.
    let lowered = w.sub(x, 0.5);
    let n = nearest(w, lowered, 1.0);
    let fraction = w.sub(x, n.float);
    let y = w.horner(fraction, coefficients);
    scale(w, y, n)
}

/// 2 to the power x, exact for integers.
pub(super) fn exp2(w: &mut Writer<'_>, x: Operand) -> Operand {
    let [min, most] = format(x).exp2;
    let x = w.at_most(x, most);
    let x = w.at_least(x, min);
    exp2_of_sum(w, x, None)
}

/// 2 to the power of a value from -2044 to 2046, or NaN, plus a small number.
pub(super) fn exp2_of_sum(w: &mut Writer<'_>, x: Operand, rest: Option<Operand>) -> Operand {
    let n = nearest(w, x, 1.0);
    let r = w.sub(x, n.float);
    let r = rest.map_or(r, |rest| w.add(r, rest));
    let p = w.horner_of_type(r, &EXP2, &EXP2_DOUBLE);
    let y = w.mul_add(p, r, 1.0);
    scale(w, y, n)
}

/// exp(x) - 1 without cancellation near zero: `2^n (exp(r) - 1) + (2^n - 1)`.
pub(super) fn expm1(w: &mut Writer<'_>, x: Operand) -> Operand {
    let &Format { fraction, bias, expm1: [min, most], tiny, .. } = format(x);
    let bounded = w.at_most(x, most);
    let bounded = w.at_least(bounded, min);
    let (n, r) = reduce(w, bounded);
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
