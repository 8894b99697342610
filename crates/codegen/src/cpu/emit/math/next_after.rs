//! The float next to another: floats of one sign are ordered as their bits are.

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;

/// The number of the type that follows x on the way to y; y itself where they are equal, NaN where either is.
pub(in super::super) fn next_after(w: &mut Writer<'_>, x: Operand, y: Operand) -> Operand {
    let rising = w.compare("fcmp olt", x, y);
    let positive = w.compare("fcmp ogt", x, 0.0);
    let shrinks = w.binary("xor", rising, positive);
    let bits = w.bits(x);
    let (less, more) = (w.binary("sub", bits, 1), w.binary("add", bits, 1));
    let bits = w.select(shrinks, less, more);
    let next = w.float_of(bits);
    let min = if x.ty.element == Element::F64 { 5e-324 } else { f64::from(f32::from_bits(1)) };
    let min = Operand::float(min, x.ty);
    let beside_zero = w.copysign(min, y);
    let zero = w.compare("fcmp oeq", x, 0.0);
    let next = w.select(zero, beside_zero, next);
    let equal = w.compare("fcmp oeq", x, y);
    let next = w.select(equal, y, next);
    let undefined = w.compare("fcmp uno", x, y);
    w.select(undefined, Term::Float(f64::NAN), next)
}
