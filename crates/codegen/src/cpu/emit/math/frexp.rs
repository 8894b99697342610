//! A positive number decomposed, for logarithms: `x = 2^e (1 + f)` with 1 + f from sqrt(1/2) to sqrt(2).

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;

/// The constants of a float type.
pub(super) struct Format {
    /// Bits below the exponent, and its bias.
    pub fraction: i64,
    pub bias: i64,
    /// The bits of sqrt(1/2): numbers from there on belong to the next power of two.
    sqrt_half: i64,
    /// The smallest normal number.
    min: f64,
}

const SINGLE: Format =
    Format { fraction: 23, bias: 127, sqrt_half: 0x3f35_04f3, min: f32::MIN_POSITIVE as f64 };
const DOUBLE: Format =
    Format { fraction: 52, bias: 1023, sqrt_half: 0x3fe6_a09e_667f_3bcd, min: f64::MIN_POSITIVE };

pub(super) fn format(x: Operand) -> &'static Format {
    if x.ty.element == Element::F64 { &DOUBLE } else { &SINGLE }
}

/// A decomposed positive number.
pub(super) struct Parts {
    /// The exponent e, as an integer.
    pub exponent: Operand,
    /// 1 + f.
    pub significand: Operand,
}

/// Decomposes a positive normal number. Other inputs give a finite result.
pub(super) fn frexp(w: &mut Writer<'_>, x: Operand) -> Parts {
    let &Format { fraction, sqrt_half, .. } = format(x);
    let bits = w.bits(x);
    let from_sqrt = w.binary("sub", bits, sqrt_half);
    let exponent = w.binary("ashr", from_sqrt, fraction);
    let shift = w.binary("shl", exponent, fraction);
    let significand = w.binary("sub", bits, shift);
    Parts { exponent, significand: w.float_of(significand) }
}

/// Decomposes a positive number, subnormals too: f, and e as a float.
pub(super) fn frexp_any(w: &mut Writer<'_>, x: Operand) -> (Operand, Operand) {
    let &Format { fraction, min, .. } = format(x);
    let subnormal = w.compare("fcmp olt", x, Term::Float(min));
    let scaled = w.mul(x, Term::Float((1_i64 << fraction) as f64));
    let normal = w.select(subnormal, scaled, x);
    let parts = frexp(w, normal);
    let down = w.binary("sub", parts.exponent, fraction);
    let exponent = w.select(subnormal, down, parts.exponent);
    let f = w.sub(parts.significand, 1.0);
    (f, w.convert("sitofp", exponent, x.ty.element))
}
