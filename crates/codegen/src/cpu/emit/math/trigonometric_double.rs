//! sin, cos and tan of f64: reduction by multiples of pi/2 to |r| <= pi/4, r in two doubles, then a polynomial. The tangent is
//! the quotient.
//!
//! Differences are in two doubles, as arguments close to a multiple of pi/2 cancel nearly all of its first parts. With fused
//! operations pi/2 is in three doubles and arguments go up to 2^36; without, it is in four parts, of which three have 33
//! bits, so that their products with integers below 2^20 are exact.
//! Larger arguments send the whole vector to the C library. The parts and the forms of the polynomials are those of fdlibm
//! (Sun Microsystems, 1993); coefficients: minimax fits by `scripts/minimax.py`, with relative errors below 2^-57.

use super::super::operand::{Operand, Term};
use super::super::writer::Writer;
use super::double;
use super::trigonometric::{HALF_PI, by_quadrant, is_odd, with_fallback};

/// `(sin(r) - r) / r^3` as a polynomial in r^2, but for its last coefficient.
const SIN: [f64; 5] = [
    1.589_621_205_291_582_6e-10,
    -2.505_074_745_705_161_6e-8,
    2.755_731_361_947_705_2e-6,
    -1.984_126_982_958_418_3e-4,
    8.333_333_333_322_111e-3,
];
const SIN_LAST: f64 = -0.166_666_666_666_666_3;
/// `(cos(r) - 1 + r^2 / 2) / r^4` as a polynomial in r^2.
const COS: [f64; 6] = [
    -1.135_852_556_947_275_8e-11,
    2.087_570_063_597_012_6e-9,
    -2.755_731_417_782_336e-7,
    2.480_158_728_884_675_4e-5,
    -1.388_888_888_887_305e-3,
    0.041_666_666_666_666_595,
];
/// pi/2 in four parts.
const HALF_PI_PARTS: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_9e-32,
];

/// A number as the sum of two, of which the second is an error of the first.
struct Sum {
    high: Operand,
    low: Operand,
}

/// The sine.
pub(super) fn sin(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "sin", |w| {
        let (quadrants, r) = reduce(w, x);
        let (sine, cosine) = (reduced_sine(w, &r), reduced_cosine(w, &r));
        let y = by_quadrant(w, quadrants, sine, cosine);
        // The reduction loses the sign of zero.
        let zero = w.compare("fcmp oeq", x, 0.0);
        w.select(zero, x, y)
    })
}

/// The cosine: the sine a right angle on.
pub(super) fn cos(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "cos", |w| {
        let (quadrants, r) = reduce(w, x);
        let (sine, cosine) = (reduced_sine(w, &r), reduced_cosine(w, &r));
        let next = w.binary("add", quadrants, 1);
        by_quadrant(w, next, sine, cosine)
    })
}

/// The tangent: sine over cosine, or in odd quarters the reverse, negated.
pub(super) fn tan(w: &mut Writer<'_>, x: Operand) -> Operand {
    with_fallback(w, x, "tan", |w| {
        let (quadrants, r) = reduce(w, x);
        let (sine, cosine) = (reduced_sine(w, &r), reduced_cosine(w, &r));
        let odd = is_odd(w, quadrants);
        let negated = w.unary("fneg", cosine);
        let above = w.select(odd, negated, sine);
        let below = w.select(odd, sine, cosine);
        let y = w.div(above, below);
        let zero = w.compare("fcmp oeq", x, 0.0);
        w.select(zero, x, y)
    })
}

/// The nearest multiple of pi/2, as an integer of which the last two bits matter, and the distance from it.
fn reduce(w: &mut Writer<'_>, x: Operand) -> (Operand, Sum) {
    let quadrants = w.mul(x, Term::Float(std::f64::consts::FRAC_2_PI));
    let n = double::nearest(w, quadrants);
    let r = if w.isa.fma { fused_rest(w, x, n.float) } else { rest(w, x, n.float) };
    (n.bits, r)
}

/// `x - n pi/2`.
fn fused_rest(w: &mut Writer<'_>, x: Operand, n: Operand) -> Sum {
    let [first, second, third] = HALF_PI;
    let rest = w.mul_add(n, Term::Float(-first), x);
    let product = w.mul(n, Term::Float(second));
    let negated = w.unary("fneg", product);
    let lost = w.mul_add(n, Term::Float(second), negated);
    let Sum { high, low } = difference(w, rest, product);
    let low = w.sub(low, lost);
    let low = w.mul_add(n, Term::Float(-third), low);
    normalized(w, high, low)
}

/// The same, of four parts.
fn rest(w: &mut Writer<'_>, x: Operand, n: Operand) -> Sum {
    let [first, second, third, fourth] = HALF_PI_PARTS.map(|part| w.mul(n, Term::Float(part)));
    let rest = w.sub(x, first);
    let rest = difference(w, rest, second);
    let Sum { high, low } = difference(w, rest.high, third);
    let low = w.add(rest.low, low);
    let low = w.sub(low, fourth);
    normalized(w, high, low)
}

/// A sum of two numbers of which the second is the smaller.
fn normalized(w: &mut Writer<'_>, high: Operand, low: Operand) -> Sum {
    let sum = w.add(high, low);
    let taken = w.sub(sum, high);
    Sum { high: sum, low: w.sub(low, taken) }
}

/// `a - b`, exactly. Knuth, The art of computer programming, volume 2, 4.2.2.
fn difference(w: &mut Writer<'_>, a: Operand, b: Operand) -> Sum {
    let high = w.sub(a, b);
    let of_b = w.sub(high, a);
    let of_a = w.sub(high, of_b);
    let (lost_of_a, lost_of_b) = (w.sub(a, of_a), w.add(b, of_b));
    Sum { high, low: w.sub(lost_of_a, lost_of_b) }
}

/// The sine of a sum up to pi/4: `r - (r^2 (low / 2 - r^3 p) - low + r^3 / 6)`.
fn reduced_sine(w: &mut Writer<'_>, r: &Sum) -> Operand {
    let square = w.mul(r.high, r.high);
    let cube = w.mul(square, r.high);
    let p = w.horner(square, &SIN);
    let p = w.mul(cube, p);
    let half_low = w.mul(r.low, 0.5);
    let rest = w.sub(half_low, p);
    let rest = w.mul(square, rest);
    let rest = w.sub(rest, r.low);
    let third = w.mul(cube, Term::Float(SIN_LAST));
    let rest = w.sub(rest, third);
    w.sub(r.high, rest)
}

/// The cosine of a sum up to pi/4: what `1 - r^2 / 2` loses is added to the rest.
fn reduced_cosine(w: &mut Writer<'_>, r: &Sum) -> Operand {
    let square = w.mul(r.high, r.high);
    let p = w.horner(square, &COS);
    let fourth = w.mul(square, square);
    let p = w.mul(p, fourth);
    let half = w.mul(square, 0.5);
    let one = w.number(square, 1.0);
    let large = w.sub(one, half);
    let lost = w.sub(one, large);
    let lost = w.sub(lost, half);
    let slope = w.mul(r.high, r.low);
    let rest = w.sub(p, slope);
    let rest = w.add(lost, rest);
    w.add(large, rest)
}
