//! sin, cos and tan: reduction by multiples of pi/2 in double precision to |r| <= pi/4, then a polynomial. The tangent is
//! a quotient of two, all in double precision.
//!
//! Double precision makes the reduction of an f32 exact to far below its last place up to 2^20, with fused operations up to
//! 2^36 ([`HALF_PI`]). Larger arguments, which would need hundreds of bits of pi, send the whole vector to the C library.
//! Coefficients: Cephes sinf and cosf
//! (Moshier, 1989); those of the tangent minimax fits by `scripts/minimax.py`.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::double;

/// `(sin(r) - r) / r^3` as a polynomial in r^2.
const SIN: [f32; 3] = [-1.951_529_6e-4, 8.332_161e-3, -1.666_665_5e-1];
/// `(cos(r) - 1 + r^2 / 2) / r^4` as a polynomial in r^2.
const COS: [f32; 3] = [2.443_315_7e-5, -1.388_731_6e-3, 4.166_664_6e-2];
/// `sin(r) / r` and `cos(r)` as polynomials in r^2, with relative errors below 2^-34.
const SIN_RATIO: [f64; 5] = [
    2.717_148_957_219_263e-6,
    -1.983_917_793_798_695e-4,
    8.333_328_688_764_912e-3,
    -0.166_666_666_304_319_17,
    0.999_999_999_995_448_2,
];
const COS_WIDE: [f64; 5] = [
    2.437_263_603_979_650_8e-5,
    -1.388_652_867_090_494_4e-3,
    4.166_661_321_726_431e-2,
    -0.499_999_995_713_832_1,
    0.999_999_999_943_908_8,
];
/// pi/2 in 33 bits, whose products with integers below 2^20 are exact, and the remainder.
const HALF_PI_HIGH: f64 = 1.570_796_326_734_125_6;
const HALF_PI_LOW: f64 = 6.077_100_506_506_192e-11;
/// pi/2 in three doubles. A number less the nearest multiple of the first is exact in a fused operation: both are multiples of
/// 2^-53, and the difference is below 1.
pub(super) const HALF_PI: [f64; 3] = [FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33];

/// The sine.
pub(super) fn sin(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "sinf", |w| {
        let (quadrant, r) = reduce(w, x);
        let r = w.convert("fptrunc", r, Element::F32);
        let y = sine_of_sum(w, quadrant, r);
        // The reduction loses the sign of zero.
        let zero = w.compare("fcmp oeq", x, 0.0);
        w.select(zero, x, y)
    })
}

/// The cosine: the sine a right angle on.
pub(super) fn cos(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "cosf", |w| {
        let (quadrant, r) = reduce(w, x);
        let r = w.convert("fptrunc", r, Element::F32);
        let next = w.binary("add", quadrant, 1);
        sine_of_sum(w, next, r)
    })
}

/// The tangent: sine over cosine, or in odd quarters the reverse, negated.
pub(super) fn tan(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "tanf", |w| {
        let (quadrant, r) = reduce(w, x);
        let square = w.mul(r, r);
        let ratio = w.horner(square, &SIN_RATIO);
        let sine = w.mul(ratio, r);
        let cosine = w.horner(square, &COS_WIDE);
        let odd = is_odd(w, quadrant);
        let negated = w.unary("fneg", cosine);
        let above = w.select(odd, negated, sine);
        let below = w.select(odd, sine, cosine);
        let y = w.div(above, below);
        let y = w.convert("fptrunc", y, Element::F32);
        // The polynomials would change small inputs by rounding.
        let magnitude = w.abs(x);
        let tiny = w.compare("fcmp olt", magnitude, 1e-5);
        w.select(tiny, x, y)
    })
}

/// The fast path if all elements are small enough or NaN, otherwise the C library's function.
pub(super) fn with_fallback(
    w: &mut Writer<'_>,
    x: Operand,
    function: &'static str,
    fast: impl FnOnce(&mut Writer<'_>) -> Operand,
) -> Operand {
    let magnitude = w.abs(x);
    // Further on the nearest multiple of pi/2, in a double, is too often the one beside it.
    let largest = if w.isa.fma { 68_719_476_736.0 } else { 1_048_576.0 };
    let large = w.compare("fcmp ogt", magnitude, largest);
    w.unless_any(large, function, &[x], fast)
}

/// The nearest multiple of pi/2, as an integer of which the last two bits matter, and the distance from it.
fn reduce(w: &mut Writer<'_>, x: Operand) -> (Operand, Operand) {
    let x = w.convert("fpext", x, Element::F64);
    let quadrants = w.mul(x, Term::Float(FRAC_2_PI));
    let n = double::nearest(w, quadrants);
    let [high, low] = if w.isa.fma { [HALF_PI[0], HALF_PI[1]] } else { [HALF_PI_HIGH, HALF_PI_LOW] };
    let r = w.mul_add(n.float, Term::Float(-high), x);
    let r = w.mul_add(n.float, Term::Float(-low), r);
    (w.convert("trunc", n.bits, Element::I32), r)
}

/// The sine of r plus `quadrants` right angles.
fn sine_of_sum(w: &mut Writer<'_>, quadrants: Operand, r: Operand) -> Operand {
    let square = w.mul(r, r);
    let p = w.horner(square, &SIN);
    let cube = w.mul(square, r);
    let sine = w.mul_add(p, cube, r);
    let q = w.horner(square, &COS);
    let fourth = w.mul(square, square);
    let half = w.mul(square, 0.5);
    let one = w.number(r, 1.0);
    let cosine = w.sub(one, half);
    let cosine = w.mul_add(q, fourth, cosine);
    by_quadrant(w, quadrants, sine, cosine)
}

/// The sine of an angle plus `quadrants` right angles, by its sine and cosine.
pub(super) fn by_quadrant(w: &mut Writer<'_>, quadrants: Operand, sine: Operand, cosine: Operand) -> Operand {
    let odd = is_odd(w, quadrants);
    let y = w.select(odd, cosine, sine);
    let sign = w.binary("and", quadrants, 2);
    let sign = w.binary("shl", sign, i64::from(y.ty.element.bits()) - 2);
    let bits = w.bits(y);
    let bits = w.binary("xor", bits, sign);
    w.float_of(bits)
}

/// Whether sine and cosine change places.
pub(super) fn is_odd(w: &mut Writer<'_>, quadrants: Operand) -> Operand {
    let odd = w.binary("and", quadrants, 1);
    w.compare("icmp ne", odd, 0)
}
