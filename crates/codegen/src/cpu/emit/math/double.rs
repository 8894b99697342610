//! exp2 and log2 in double precision, for functions of f32 that would lose digits in their own: right to some 2^-35.
//!
//! Every finite f32 is a normal double, so neither meets a subnormal, and their polynomials are shorter than those of the
//! functions that f64 itself has. Coefficients are those of Taylor's series.

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::frexp::{Parts, frexp};

/// `2^r` for |r| <= 1/2.
const EXP2: [f64; 10] = [
    1.017_808_600_923_969_7e-7,
    1.321_548_679_014_430_5e-6,
    1.525_273_380_405_983_8e-5,
    1.540_353_039_338_160_6e-4,
    1.333_355_814_642_844_1e-3,
    9.618_129_107_628_477e-3,
    5.550_410_866_482_157_6e-2,
    0.240_226_506_959_100_7,
    std::f64::consts::LN_2,
    1.0,
];
/// `log2((1 + s) / (1 - s)) / s` as a polynomial in s^2.
const LOG2: [f64; 8] = [
    0.192_359_338_785_195_12,
    0.221_953_083_213_686_67,
    0.262_308_189_252_538_8,
    0.320_598_897_975_325_2,
    0.412_198_583_111_132_4,
    0.577_078_016_355_585_4,
    0.961_796_693_925_975_6,
    2.885_390_081_777_926_8,
];
/// Added and subtracted, it rounds a double below 2^51 to an integer, which is then in its last bits.
const SHIFTER: f64 = 6_755_399_441_055_744.0;

/// A double rounded to an integer: the integer, and its last bits.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    pub(super) float: Operand,
    pub(super) bits: Operand,
}

/// The integer nearest to a double below 2^51.
pub(super) fn nearest(w: &mut Writer<'_>, x: Operand) -> Whole {
    let shifted = w.add(x, Term::Float(SHIFTER));
    let bits = w.bits(shifted);
    Whole { float: w.sub(shifted, Term::Float(SHIFTER)), bits }
}

/// 2 to the power x, for x within 400 of 0, so that the result is far from the limits of doubles.
pub(super) fn exp2(w: &mut Writer<'_>, x: Operand) -> Operand {
    let x = w.at_most(x, 400.0);
    let x = w.at_least(x, -400.0);
    let n = nearest(w, x);
    let r = w.sub(x, n.float);
    let y = w.horner(r, &EXP2);
    // The shift drops all but the last bits of n, and those of the shifter.
    let exponent = w.binary("shl", n.bits, 52);
    let bits = w.bits(y);
    let bits = w.binary("add", bits, exponent);
    w.float_of(bits)
}

/// The logarithm to base 2 of a positive normal number. Other inputs give unspecified results.
pub(super) fn log2(w: &mut Writer<'_>, x: Operand) -> Operand {
    let Parts { exponent, significand: m } = frexp(w, x);
    let (less, more) = (w.sub(m, 1.0), w.add(m, 1.0));
    let s = w.div(less, more);
    let square = w.mul(s, s);
    let p = w.horner(square, &LOG2);
    let exponent = w.convert("sitofp", exponent, Element::F64);
    w.mul_add(p, s, exponent)
}
