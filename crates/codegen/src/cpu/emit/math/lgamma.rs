//! lgamma, in double precision for f32 too, as digits cancel near the zeros below -2.
//!
//! From 0.8 to 2.5 a polynomial times the distances from the zeros at 1 and 2. Other numbers below 8 are shifted there by
//! integers, and the logarithm of the factors is added; from 8 on Stirling's formula, below 0 the reflection. Coefficients:
//! minimax fits by `scripts/minimax.py`, with relative errors below 2^-55.

use std::f64::consts::PI;

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::log_double;

/// `lgamma(x) / ((x - 1) (x - 2))` as a polynomial in x - 3 / 2, for x from 0.8 to 2.5.
const OVER_ZEROS: [f64; 28] = [
    -1.714_922_917_273_013_8e-7,
    9.653_521_501_910_406e-7,
    -2.004_164_376_498_966e-6,
    1.561_652_831_808_832_7e-6,
    -1.915_032_445_590_635_3e-9,
    1.026_495_134_730_882e-6,
    -5.262_258_920_288_464e-6,
    8.636_005_259_558_202e-6,
    -1.059_514_958_891_550_1e-5,
    1.562_730_500_456_969_8e-5,
    -2.616_082_917_347_123e-5,
    4.218_114_295_822_572e-5,
    -6.646_004_641_210_847e-5,
    1.055_269_582_278_963_1e-4,
    -1.688_484_119_854_296_4e-4,
    2.712_922_333_123_377_3e-4,
    -4.380_038_603_841_424_7e-4,
    7.115_207_432_429_324e-4,
    -1.164_413_437_743_952_8e-3,
    1.922_916_232_367_283_2e-3,
    -3.212_074_151_346_832_3e-3,
    5.446_457_841_448_536e-3,
    -9.425_622_445_535_02e-3,
    0.016_797_098_631_236_445,
    -0.031_308_487_501_064_56,
    0.062_911_401_074_564_65,
    -0.145_959_895_914_305_8,
    0.483_128_950_540_980_9,
];
/// x times what Stirling's formula lacks, as a polynomial in 1 / x^2, for x from 8 on.
const STIRLING: [f64; 6] = [
    -1.609_035_715_444_591_6e-3,
    8.353_208_375_708_479e-4,
    -5.951_698_644_259_935e-4,
    7.936_504_187_600_752e-4,
    -2.777_777_776_804_749_4e-3,
    0.083_333_333_333_332_45,
];
/// `sin(pi r) / r` as a polynomial in r^2, for r up to a half.
const SIN_PI: [f64; 9] = [
    7.694_728_415_452_344e-7,
    -2.190_318_554_338_071_5e-5,
    4.662_996_888_298_544e-4,
    -7.370_430_478_776_277e-3,
    0.082_145_886_569_894_51,
    -0.599_264_529_318_738_4,
    2.550_164_039_877_294,
    -5.167_712_780_049_969,
    PI,
];
/// `log(2 pi) / 2 - 1 / 2`.
const STIRLING_CONSTANT: f64 = 0.418_938_533_204_672_7;
/// The range of the polynomial, and where Stirling's formula begins.
const BEGIN: f64 = 0.8;
const END: f64 = 2.5;
const LARGE: f64 = 8.0;
/// The most by which a number below 8 is shifted down.
const MAX_SHIFT: i8 = 6;

/// The logarithm of the magnitude of gamma.
pub(super) fn lgamma(w: &mut Writer<'_>, x: Operand) -> Operand {
    if x.ty.element == Element::F64 {
        return of_double(w, x);
    }
    let wide = w.convert("fpext", x, Element::F64);
    let y = of_double(w, wide);
    w.convert("fptrunc", y, x.ty.element)
}

fn of_double(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let positive = of_positive(w, magnitude);
    let negative = w.compare("fcmp olt", x, 0.0);
    let any = w.any(negative);
    let reflect = |w: &mut Writer<'_>| {
        let reflected = reflected(w, magnitude, positive);
        w.select(negative, reflected, positive)
    };
    w.either(any, reflect, |_| positive)
}

fn of_positive(w: &mut Writer<'_>, x: Operand) -> Operand {
    let small = w.compare("fcmp olt", x, Term::Float(BEGIN));
    let large = w.compare("fcmp oge", x, Term::Float(LARGE));
    let (shifted, factors) = shifted_down(w, x);
    // A small number is shifted up by 1, which the distance from 1 takes back: nothing rounds.
    let from_one = w.sub(shifted, 1.0);
    let from_one = w.select(small, x, from_one);
    let from_two = w.sub(from_one, 1.0);
    let centred = w.sub(from_one, 0.5);
    let ratio = w.horner(centred, &OVER_ZEROS);
    let zeros = w.mul(from_one, from_two);
    let y = w.mul(zeros, ratio);

    let itself = w.binary("or", small, large);
    let of = w.select(itself, x, factors);
    let logarithm = log_double::log(w, of);
    let negated = w.unary("fneg", logarithm);
    let of_shift = w.select(small, negated, logarithm);
    let y = w.add(y, of_shift);
    let far = stirling(w, x, logarithm);
    w.select(large, far, y)
}

/// A number from 2.5 to 8 less an integer, in the last unit of the range, and the factors between their gammas; a smaller
/// number, and 1.
fn shifted_down(w: &mut Writer<'_>, x: Operand) -> (Operand, Operand) {
    let one = w.number(x, 1.0);
    (1..=MAX_SHIFT).fold((x, one), |(shifted, factors), shift| {
        let down = w.sub(x, f32::from(shift));
        let taken = w.compare("fcmp oge", down, Term::Float(END - 1.0));
        let more = w.mul(factors, down);
        (w.select(taken, down, shifted), w.select(taken, more, factors))
    })
}

/// `(x - 1 / 2) (log(x) - 1) + log(2 pi) / 2 - 1 / 2`, and what it lacks.
fn stirling(w: &mut Writer<'_>, x: Operand, logarithm: Operand) -> Operand {
    let one = w.number(x, 1.0);
    let inverse = w.div(one, x);
    let square = w.mul(inverse, inverse);
    let lacking = w.horner(square, &STIRLING);
    let rest = w.mul_add(lacking, inverse, Term::Float(STIRLING_CONSTANT));
    let factor = w.sub(x, 0.5);
    let less = w.sub(logarithm, 1.0);
    w.mul_add(factor, less, rest)
}

/// Of a negative number, by that of its magnitude m: `log(pi / (m sin(pi m)))` less it.
fn reflected(w: &mut Writer<'_>, magnitude: Operand, of_magnitude: Operand) -> Operand {
    let nearest = w.overloaded("llvm.roundeven", magnitude, &[]);
    let r = w.sub(magnitude, nearest);
    let square = w.mul(r, r);
    let sine = w.horner(square, &SIN_PI);
    let sine = w.mul(sine, r);
    let sine = w.abs(sine);
    let product = w.mul(magnitude, sine);
    let pi = Operand::float(PI, magnitude.ty);
    let quotient = w.div(pi, product);
    let logarithm = log_double::log(w, quotient);
    let y = w.sub(logarithm, of_magnitude);
    // An integer; an infinity has no remainder.
    let pole = w.compare("fcmp ueq", sine, 0.0);
    let y = w.select(pole, f32::INFINITY, y);
    // The product of tiny numbers would underflow.
    let tiny = w.compare("fcmp olt", magnitude, 1e-17);
    w.select(tiny, of_magnitude, y)
}
