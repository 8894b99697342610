//! pow: `2^(y log2 |x|)` in double precision, within one unit in the last place, and the sign of x where y is odd; of f64
//! in two doubles (`pow_double`). Small whole exponents that are constants are products. The partial cases are those of the
//! C library: anything to the 0 and 1 to anything is 1, even if the other is NaN; negative numbers take whole exponents
//! only.

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::{double, pow_double};

/// Exponents that become products of that many factors, or their reciprocals.
const PRODUCTS: [f64; 3] = [2.0, 3.0, 4.0];

/// All f32 from here on are even integers.
const EVEN: f32 = 33_554_432.0;
/// All doubles from here on are integers.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// Whether x to the power y is a product.
pub(in super::super) fn is_product(x: Operand, y: Operand) -> bool {
    factors(x, y).is_some()
}

/// The exponent, if it is a constant and the power a product or its reciprocal. The square of a double may overflow where
/// its reciprocal is no zero.
fn factors(x: Operand, y: Operand) -> Option<f64> {
    let is_double = x.ty.element == Element::F64;
    y.as_float().filter(|y| PRODUCTS.contains(&if is_double { *y } else { y.abs() }))
}

/// x to the power y.
pub(super) fn pow(w: &mut Writer<'_>, x: Operand, y: Operand) -> Operand {
    let is_double = x.ty.element == Element::F64;
    if let Some(factors) = factors(x, y) {
        return product(w, x, factors);
    }
    let magnitude = w.abs(x);
    let magnitude =
        if is_double { pow_double::of_magnitude(w, magnitude, y) } else { of_magnitude(w, magnitude, y) };
    let signed = with_sign(w, x, y, magnitude);
    let unordered = w.compare("fcmp uno", x, y);
    let result = w.select(unordered, f32::NAN, signed);
    let (base_is_one, zeroth) = (w.compare("fcmp oeq", x, 1.0), w.compare("fcmp oeq", y, 0.0));
    let one = w.binary("or", base_is_one, zeroth);
    w.select(one, 1.0, result)
}

/// |x| to the power y of f32.
fn of_magnitude(w: &mut Writer<'_>, magnitude: Operand, y: Operand) -> Operand {
    let exponent = w.convert("fpext", y, Element::F64);
    let logarithm = log2_of_magnitude(w, magnitude);
    let product = w.mul(logarithm, exponent);
    // The logarithm of 1 is zero, even times infinity.
    let is_one = w.compare("fcmp oeq", logarithm, 0.0);
    let product = w.select(is_one, Term::Float(0.0), product);
    let magnitude = double::exp2(w, product);
    w.convert("fptrunc", magnitude, Element::F32)
}

/// x to the power of `factors`, 2 to 4, of f32 or their negatives, in double precision: there, for a finite f32, only a
/// quotient by zero is infinite.
fn product(w: &mut Writer<'_>, x: Operand, factors: f64) -> Operand {
    let wide = as_double(w, x);
    let square = w.mul(wide, wide);
    let power = match factors.abs() {
        2.0 => square,
        3.0 => w.mul(square, wide),
        _ => w.mul(square, square),
    };
    let one = Operand::float(1.0, power.ty);
    let power = if factors < 0.0 { w.binary("fdiv", one, power) } else { power };
    if x.ty.element == Element::F64 { power } else { w.convert("fptrunc", power, Element::F32) }
}

fn as_double(w: &mut Writer<'_>, x: Operand) -> Operand {
    if x.ty.element == Element::F64 { x } else { w.convert("fpext", x, Element::F64) }
}

/// The logarithm of |x|, including zero and infinity.
fn log2_of_magnitude(w: &mut Writer<'_>, magnitude: Operand) -> Operand {
    let wide = w.convert("fpext", magnitude, Element::F64);
    let logarithm = double::log2(w, wide);
    let infinite = w.compare("fcmp oeq", magnitude, f32::INFINITY);
    let logarithm = w.select(infinite, Term::Float(f64::INFINITY), logarithm);
    let zero = w.compare("fcmp oeq", magnitude, 0.0);
    w.select(zero, Term::Float(f64::NEG_INFINITY), logarithm)
}

/// The sign of x for odd powers; NaN for a fractional power of a negative number.
fn with_sign(w: &mut Writer<'_>, x: Operand, y: Operand, magnitude: Operand) -> Operand {
    let Parity { whole, odd } =
        if y.ty.element == Element::F64 { parity_of_double(w, y) } else { parity(w, y) };
    let negated = w.unary("fneg", magnitude);
    let bits = w.bits(x);
    let below = w.compare("icmp slt", bits, 0);
    let flips = w.binary("and", below, odd);
    let signed = w.select(flips, negated, magnitude);
    let negative = w.compare("fcmp olt", x, 0.0);
    let finite = w.compare("fcmp ogt", x, f32::NEG_INFINITY);
    let partial = w.binary("and", negative, finite);
    let of_whole = w.select(whole, signed, f32::NAN);
    w.select(partial, of_whole, signed)
}

/// What is known of an exponent.
struct Parity {
    whole: Operand,
    odd: Operand,
}

fn parity(w: &mut Writer<'_>, y: Operand) -> Parity {
    let bounded = w.at_most(y, EVEN);
    let bounded = w.at_least(bounded, -EVEN);
    let wide = w.convert("fpext", bounded, Element::F64);
    let n = double::nearest(w, wide);
    let whole = w.compare("fcmp oeq", n.float, wide);
    let last = w.binary("and", n.bits, 1);
    let odd = w.compare("icmp ne", last, 0);
    Parity { whole, odd: w.binary("and", odd, whole) }
}

/// Half of an odd number is no integer. Those of 53 bits are beyond `nearest`.
fn parity_of_double(w: &mut Writer<'_>, y: Operand) -> Parity {
    let magnitude = w.abs(y);
    let whole = is_whole(w, magnitude);
    let half = w.mul(magnitude, 0.5);
    let even = is_whole(w, half);
    let differ = w.binary("xor", whole, even);
    Parity { whole, odd: w.binary("and", differ, whole) }
}

/// Whether a double that is not negative is an integer; infinity is.
fn is_whole(w: &mut Writer<'_>, x: Operand) -> Operand {
    let shifted = w.add(x, Term::Float(WHOLE));
    let rounded = w.sub(shifted, Term::Float(WHOLE));
    let equal = w.compare("fcmp oeq", rounded, x);
    let large = w.compare("fcmp oge", x, Term::Float(WHOLE));
    w.binary("or", equal, large)
}
