//! asin, acos, atan and atan2: identities bring the argument near zero, where the odd series converges.
//!
//! Coefficients: minimax fits by `scripts/minimax.py`, with relative errors below 2^-28.

use std::f32::consts::{FRAC_PI_2, PI};

use super::super::operand::Operand;
use super::super::writer::Writer;

/// `(asin(s) - s) / s^3` as a polynomial in s^2, up to [`STRAIGHT`] squared.
const ASIN: [f32; 6] = [4.517_451e-2, 8.677_99e-3, 3.341_236e-2, 4.431_53e-2, 7.501_601e-2, 1.666_664e-1];
/// `(atan(t) - t) / t^3` as a polynomial in t^2, up to 1.
const ATAN: [f32; 9] = [
    -1.793_636e-3,
    1.091_467_2e-2,
    -3.117_797_5e-2,
    5.795_773e-2,
    -8.403_458_4e-2,
    1.095_218_9e-1,
    -1.426_424_2e-1,
    1.999_854_9e-1,
    -3.333_33e-1,
];
/// Up to here asin takes its argument directly. Beyond, the number subtracted from pi/2 is below 1, so that its unit in the
/// last place is no larger than the result's.
const STRAIGHT: f32 = 0.55;
/// The errors of pi/2 and pi in f32.
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;
const PI_LOW: f32 = -8.742_278e-8;

/// An angle, or its distance from a right angle: whichever is small.
struct Folded {
    /// Whether `angle` is the distance.
    apart: Operand,
    /// From 0 to 1.
    angle: Operand,
}

/// The angle whose sine is |x|. Where that is large, `asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2))`.
fn fold_sine(w: &mut Writer<'_>, x: Operand) -> Folded {
    let magnitude = w.abs(x);
    let apart = w.compare("fcmp ogt", magnitude, STRAIGHT);
    let halved = w.mul(magnitude, -0.5);
    let half_versed = w.add(halved, 0.5);
    let root = w.overloaded("llvm.sqrt", half_versed, &[]);
    let square = w.mul(x, x);
    let square = w.select(apart, half_versed, square);
    let s = w.select(apart, root, magnitude);
    let angle = odd(w, s, square, &ASIN);
    let twice = w.add(angle, angle);
    Folded { apart, angle: w.select(apart, twice, angle) }
}

/// `s + s^3 p(s^2)`.
fn odd(w: &mut Writer<'_>, s: Operand, square: Operand, coefficients: &[f32]) -> Operand {
    let p = w.horner(square, coefficients);
    let cube = w.mul(square, s);
    w.mul_add(p, cube, s)
}

/// `whole - x`, where the last bits of the constant are in `low`.
fn from_angle(w: &mut Writer<'_>, whole: f32, low: f32, x: Operand) -> Operand {
    let rest = w.sub(x, low);
    let whole = w.number(x, whole);
    w.sub(whole, rest)
}

/// The inverse sine.
pub(super) fn asin(w: &mut Writer<'_>, x: Operand) -> Operand {
    let Folded { apart, angle } = fold_sine(w, x);
    let opposite = from_angle(w, FRAC_PI_2, FRAC_PI_2_LOW, angle);
    let y = w.select(apart, opposite, angle);
    w.copysign(y, x)
}

/// The inverse cosine: an angle far from a right angle is near zero or near pi.
pub(super) fn acos(w: &mut Writer<'_>, x: Operand) -> Operand {
    let Folded { apart, angle } = fold_sine(w, x);
    let signed = w.copysign(angle, x);
    let middle = from_angle(w, FRAC_PI_2, FRAC_PI_2_LOW, signed);
    let left = from_angle(w, PI, PI_LOW, angle);
    let negative = w.compare("fcmp olt", x, 0.0);
    let end = w.select(negative, left, angle);
    w.select(apart, end, middle)
}

/// The inverse tangent: a right angle less that of 1 / x.
pub(super) fn atan(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let steep = w.compare("fcmp ogt", magnitude, 1.0);
    let one = w.number(x, 1.0);
    let inverse = w.div(one, magnitude);
    let t = w.select(steep, inverse, magnitude);
    let y = quarter(w, t, steep);
    w.copysign(y, x)
}

/// The angle of a slope t up to 1, or of 1 / t if it is `steep`.
fn quarter(w: &mut Writer<'_>, t: Operand, steep: Operand) -> Operand {
    let square = w.mul(t, t);
    let angle = odd(w, t, square, &ATAN);
    let opposite = from_angle(w, FRAC_PI_2, FRAC_PI_2_LOW, angle);
    w.select(steep, opposite, angle)
}

/// The angle of the point (x, y): that of (|x|, |y|), mirrored by the signs of x and y, including those of zeros.
pub(super) fn atan2(w: &mut Writer<'_>, y: Operand, x: Operand) -> Operand {
    let (height, width) = (w.abs(y), w.abs(x));
    let steep = w.compare("fcmp ogt", height, width);
    let long = w.select(steep, height, width);
    let short = w.select(steep, width, height);
    let slope = w.div(short, long);
    // Also of infinity over infinity; but zero over zero gives 0.
    let diagonal = w.compare("fcmp oeq", short, long);
    let slope = w.select(diagonal, 1.0, slope);
    let reach = w.add(height, width);
    let origin = w.compare("fcmp oeq", reach, 0.0);
    let slope = w.select(origin, 0.0, slope);
    let angle = quarter(w, slope, steep);
    let bits = w.bits(x);
    let left = w.compare("icmp slt", bits, 0);
    let mirrored = from_angle(w, PI, PI_LOW, angle);
    let angle = w.select(left, mirrored, angle);
    w.copysign(angle, y)
}
