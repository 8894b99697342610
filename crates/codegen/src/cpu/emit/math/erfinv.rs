//! erfinv: `x p(w)` with `w = -log(1 - x^2)`, in which the result is smooth up to the ends.
//!
//! The form is that of Giles, Approximating the erfinv function, 2010. Coefficients: minimax fits by
//! `scripts/minimax.py`, with relative errors below 2^-27.

use super::super::operand::Operand;
use super::super::writer::Writer;
use super::log::natural_of_normal;

/// `erfinv(x) / x` as a polynomial in w up to 5, but for its last coefficient.
const MIDDLE: [f32; 9] = [
    -8.790_997e-9,
    2.210_300_8e-7,
    -1.976_457e-6,
    3.983_217_5e-6,
    4.456_527_7e-5,
    -1.274_817_5e-4,
    -2.334_296e-3,
    1.154_865_4e-2,
    2.320_138_2e-1,
];
const MIDDLE_LAST: f32 = 8.862_269e-1;
/// The same in sqrt(w) - 3, for w from 5 to the 16 of the last f32 below 1.
const TAIL: [f32; 9] = [
    1.288_036_1e-4,
    -3.199_518_5e-4,
    -7.519_702e-5,
    1.497_088_2e-3,
    -3.588_205e-3,
    5.682_777_6e-3,
    -7.639_106_4e-3,
    9.445_727e-3,
    1.001_675,
];
const TAIL_LAST: f32 = 2.832_976_8;

/// The inverse of the error function: infinite at -1 and 1, NaN beyond.
pub(super) fn erfinv(w: &mut Writer<'_>, x: Operand) -> Operand {
    let one = w.number(x, 1.0);
    let (below, above) = (w.sub(one, x), w.add(one, x));
    let product = w.mul(below, above);
    let logarithm = natural_of_normal(w, product);
    let zero = w.number(x, 0.0);
    let depth = w.sub(zero, logarithm);
    let p = w.horner(depth, &MIDDLE);
    let middle = w.mul(p, depth);
    let root = w.overloaded("llvm.sqrt", depth, &[]);
    let beside = w.sub(root, 3.0);
    let q = w.horner(beside, &TAIL);
    let tail = w.mul(q, beside);
    let deep = w.compare("fcmp ogt", depth, 5.0);
    let rest = w.select(deep, tail, middle);
    let last = w.number(x, TAIL_LAST);
    let last = w.select(deep, last, MIDDLE_LAST);
    // The larger part comes last, so that only it and the sum round.
    let y = w.mul(x, last);
    let y = w.mul_add(x, rest, y);
    let magnitude = w.abs(x);
    let end = w.compare("fcmp oeq", magnitude, 1.0);
    let infinity = w.number(x, f32::INFINITY);
    let infinity = w.copysign(infinity, x);
    let y = w.select(end, infinity, y);
    let beyond = w.compare("fcmp ogt", magnitude, 1.0);
    w.select(beyond, f32::NAN, y)
}
