//! erfinv and erfcinv of f32: `x p(w)` with `w = -log(1 - x^2)`, in which the result is smooth up to the ends.
//!
//! The form is that of Giles, Approximating the erfinv function, 2010. Coefficients: minimax fits by
//! `scripts/minimax.py`, with relative errors below 2^-27.

use super::super::operand::Operand;
use super::super::writer::Writer;
use super::log::{log, natural_of_normal};

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

/// For erfcinv: `erfinv(x) / x - sqrt(w)` in sqrt(w) - 7, for w from 16 to the 103 of the smallest f32.
const FAR: [f32; 10] = [
    -2.585_808e-9,
    1.561_035_7e-8,
    -3.826_869_5e-8,
    2.485_978e-7,
    -1.703_775e-6,
    6.291_900_3e-6,
    6.476_388e-6,
    -5.129_448e-4,
    8.595_494e-3,
    -0.130_980_3,
];

/// The inverse of the error function: infinite at -1 and 1, NaN beyond.
pub(super) fn erfinv(w: &mut Writer<'_>, x: Operand) -> Operand {
    let one = w.number(x, 1.0);
    let (below, above) = (w.sub(one, x), w.add(one, x));
    let product = w.mul(below, above);
    let logarithm = natural_of_normal(w, product);
    let zero = w.number(x, 0.0);
    let depth = w.sub(zero, logarithm);
    let (rest, last) = ratio(w, depth);
    let rest = w.mul(x, rest);
    inverse(w, x, product, rest, last)
}

/// The inverse of its complement: infinite at 0 and 2, NaN beyond.
pub(super) fn erfcinv(w: &mut Writer<'_>, y: Operand) -> Operand {
    let (one, two) = (w.number(y, 1.0), w.number(y, 2.0));
    let x = w.sub(one, y);
    // What the difference loses for y below a half.
    let taken = w.sub(one, x);
    let lost = w.sub(taken, y);
    let from_two = w.sub(two, y);
    let product = w.mul(y, from_two);
    let logarithm = log(w, product);
    let depth = w.unary("fneg", logarithm);
    let (near, last) = ratio(w, depth);
    let far = w.compare("fcmp ogt", depth, 16.0);
    let any = w.any(far);
    let root = w.overloaded("llvm.sqrt", depth, &[]);
    let with_far = |w: &mut Writer<'_>| {
        let beside = w.sub(root, 7.0);
        let beyond = w.horner(beside, &FAR);
        w.select(far, beyond, near)
    };
    let rest = w.either(any, with_far, |_| near);
    let last = w.select(far, root, last);
    let rest = w.mul(x, rest);
    let rest = w.mul_add(lost, last, rest);
    inverse(w, x, product, rest, last)
}

/// `erfinv(x) / x` for w up to 16: all but the last term, and that.
fn ratio(w: &mut Writer<'_>, depth: Operand) -> (Operand, Operand) {
    let p = w.horner(depth, &MIDDLE);
    let middle = w.mul(p, depth);
    let root = w.overloaded("llvm.sqrt", depth, &[]);
    let beside = w.sub(root, 3.0);
    let q = w.horner(beside, &TAIL);
    let tail = w.mul(q, beside);
    let deep = w.compare("fcmp ogt", depth, 5.0);
    let last = w.number(depth, TAIL_LAST);
    (w.select(deep, tail, middle), w.select(deep, last, MIDDLE_LAST))
}

/// `rest + x last`; infinite where `1 - x^2` is 0, and NaN where it is negative.
fn inverse(w: &mut Writer<'_>, x: Operand, product: Operand, rest: Operand, last: Operand) -> Operand {
    let y = w.mul_add(x, last, rest);
    let end = w.compare("fcmp oeq", product, 0.0);
    let infinity = w.number(x, f32::INFINITY);
    let infinity = w.copysign(infinity, x);
    let y = w.select(end, infinity, y);
    let beyond = w.compare("fcmp olt", product, 0.0);
    w.select(beyond, f32::NAN, y)
}
