//! asin, acos, atan and atan2: identities bring the argument near zero, where the odd series converges.
//!
//! Coefficients: minimax fits by `scripts/minimax.py`, with relative errors below 2^-28, of f64 below 2^-55.

use super::super::operand::{Element, Operand, Term};
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
/// The polynomial of asin for f64.
const ASIN_DOUBLE: [f64; 13] = [
    0.049_604_180_794_320_66,
    -0.050_480_750_346_114_62,
    0.044_373_734_296_563_806,
    -6.444_980_958_102_208e-3,
    0.013_712_517_080_619_675,
    0.010_827_600_288_711_318,
    0.014_057_104_993_362_567,
    0.017_344_661_144_182_035,
    0.022_372_637_274_918_398,
    0.030_381_926_380_607_768,
    0.044_642_857_544_271_36,
    0.074_999_999_995_515_51,
    0.166_666_666_666_684_17,
];
/// The polynomial of atan for f64.
const ATAN_DOUBLE: [f64; 20] = [
    1.322_497_152_310_425e-5,
    -1.521_597_831_640_982_6e-4,
    8.313_166_413_949_703e-4,
    -2.884_903_095_073_505e-3,
    7.196_472_111_243_74e-3,
    -0.013_900_514_428_910_535,
    0.021_984_802_991_128_24,
    -0.029_903_815_996_998_28,
    0.036_641_883_188_962_07,
    -0.042_191_775_521_688_27,
    0.047_223_216_672_817_1,
    -0.052_535_183_880_553_546,
    0.058_805_277_773_758_276,
    -0.066_664_040_513_988_9,
    0.076_922_798_385_672_77,
    -0.090_909_070_029_342_07,
    0.111_111_110_070_233_67,
    -0.142_857_142_825_750_35,
    0.199_999_999_999_514_6,
    -0.333_333_333_333_330_7,
];
/// pi/2 in a float type, and what it lacks.
const HALF_PI: [f64; 2] = [std::f32::consts::FRAC_PI_2 as f64, -4.371_139e-8_f32 as f64];
const HALF_PI_DOUBLE: [f64; 2] = [std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17];

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
    let angle = odd(w, s, square, (&ASIN, &ASIN_DOUBLE));
    let twice = w.add(angle, angle);
    Folded { apart, angle: w.select(apart, twice, angle) }
}

/// `s + s^3 p(s^2)`.
fn odd(w: &mut Writer<'_>, s: Operand, square: Operand, (single, double): (&[f32], &[f64])) -> Operand {
    let p = w.horner_of_type(square, single, double);
    let cube = w.mul(square, s);
    w.mul_add(p, cube, s)
}

/// This many right angles, one or two, less x.
fn from_angle(w: &mut Writer<'_>, right_angles: f64, x: Operand) -> Operand {
    let half_pi = if x.ty.element == Element::F64 { HALF_PI_DOUBLE } else { HALF_PI };
    let [high, low] = half_pi.map(|part| right_angles * part);
    let rest = w.sub(x, Term::Float(low));
    w.sub(Operand::float(high, x.ty), rest)
}

/// The inverse sine.
pub(super) fn asin(w: &mut Writer<'_>, x: Operand) -> Operand {
    let Folded { apart, angle } = fold_sine(w, x);
    let opposite = from_angle(w, 1.0, angle);
    let y = w.select(apart, opposite, angle);
    w.copysign(y, x)
}

/// The inverse cosine: an angle far from a right angle is near zero or near pi.
pub(super) fn acos(w: &mut Writer<'_>, x: Operand) -> Operand {
    let Folded { apart, angle } = fold_sine(w, x);
    let signed = w.copysign(angle, x);
    let middle = from_angle(w, 1.0, signed);
    let left = from_angle(w, 2.0, angle);
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
    let angle = odd(w, t, square, (&ATAN, &ATAN_DOUBLE));
    let opposite = from_angle(w, 1.0, angle);
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
    let mirrored = from_angle(w, 2.0, angle);
    let angle = w.select(left, mirrored, angle);
    w.copysign(angle, y)
}
