//! log, log2, log10 and log1p: `x = 2^e (1 + f)` with 1 + f from sqrt(1/2) to sqrt(2), then a polynomial in f.
//!
//! Coefficients: Cephes logf (Moshier, 1989), with an error below 2^-26. log1p of f64 has the polynomial of `log_double`.

use super::super::operand::{Element, Operand};
use super::super::writer::Writer;
use super::frexp::{Format, format, frexp, frexp_any};
use super::log_double;
use super::{LN_2_HIGH, LN_2_LOW};

/// `(log(1 + f) - f + f^2 / 2) / f^3`.
const LOG: [f32; 9] = [
    7.037_683_6e-2,
    -1.151_461e-1,
    1.167_699_87e-1,
    -1.242_014_1e-1,
    1.424_932_3e-1,
    -1.666_805_8e-1,
    2.000_071_5e-1,
    -2.499_999_4e-1,
    3.333_333e-1,
];
/// 1 / ln 2 - 1.
const LOG2_E_LESS_ONE: f32 = 0.442_695_04;
/// log10(e) in three bits and log10(2) in eight, and their remainders.
const LOG10_E_HIGH: f32 = 0.4375;
const LOG10_E_LOW: f32 = -3.205_518e-3;
const LOG10_2_HIGH: f32 = 0.300_781_25;
const LOG10_2_LOW: f32 = 2.487_456_6e-4;

/// `log(1 + f) - f`.
fn reduced_log(w: &mut Writer<'_>, f: Operand) -> Operand {
    let p = w.horner(f, &LOG);
    let square = w.mul(f, f);
    let cube = w.mul(square, f);
    let p = w.mul(p, cube);
    w.mul_add(square, -0.5, p)
}

/// The results for inputs that are not finite positive numbers.
pub(super) fn special(w: &mut Writer<'_>, x: Operand, y: Operand) -> Operand {
    let infinite = w.compare("fcmp oeq", x, f32::INFINITY);
    let y = w.select(infinite, x, y);
    let zero = w.compare("fcmp oeq", x, 0.0);
    let y = w.select(zero, f32::NEG_INFINITY, y);
    let undefined = w.compare("fcmp ult", x, 0.0);
    w.select(undefined, f32::NAN, y)
}

/// `log(1 + f) + e ln 2`.
fn natural(w: &mut Writer<'_>, f: Operand, e: Operand) -> Operand {
    let rest = reduced_log(w, f);
    let rest = w.mul_add(e, LN_2_LOW, rest);
    let y = w.add(f, rest);
    w.mul_add(e, LN_2_HIGH, y)
}

/// The natural logarithm of a positive normal number. Other inputs give unspecified results.
pub(super) fn natural_of_normal(w: &mut Writer<'_>, x: Operand) -> Operand {
    let parts = frexp(w, x);
    let f = w.sub(parts.significand, 1.0);
    let e = w.convert("sitofp", parts.exponent, Element::F32);
    natural(w, f, e)
}

/// The natural logarithm.
pub(super) fn log(w: &mut Writer<'_>, x: Operand) -> Operand {
    let (f, e) = frexp_any(w, x);
    let y = natural(w, f, e);
    special(w, x, y)
}

/// The logarithm to base 2, exact for powers of two.
pub(super) fn log2(w: &mut Writer<'_>, x: Operand) -> Operand {
    let (f, e) = frexp_any(w, x);
    let rest = reduced_log(w, f);
    // f + rest, times 1 / ln 2, from the smallest term to the largest.
    let y = w.mul(rest, LOG2_E_LESS_ONE);
    let y = w.mul_add(f, LOG2_E_LESS_ONE, y);
    let y = w.add(y, rest);
    let y = w.add(y, f);
    let y = w.add(y, e);
    special(w, x, y)
}

/// The logarithm to base 10.
pub(super) fn log10(w: &mut Writer<'_>, x: Operand) -> Operand {
    let (f, e) = frexp_any(w, x);
    let rest = reduced_log(w, f);
    let y = w.mul(rest, LOG10_E_LOW);
    let y = w.mul_add(e, LOG10_2_LOW, y);
    let y = w.mul_add(f, LOG10_E_LOW, y);
    let y = w.mul_add(rest, LOG10_E_HIGH, y);
    let y = w.mul_add(f, LOG10_E_HIGH, y);
    let y = w.mul_add(e, LOG10_2_HIGH, y);
    special(w, x, y)
}

/// log(1 + x): the bits of x that the sum 1 + x loses are added to f.
pub(super) fn log1p(w: &mut Writer<'_>, x: Operand) -> Operand {
    let sum = w.add(x, 1.0);
    let parts = frexp(w, sum);
    let lost = lost_in_sum(w, x, sum);
    let &Format { fraction, bias, .. } = format(x);
    let unscale = w.binary("sub", Operand::integer(bias, parts.exponent.ty), parts.exponent);
    // Above 2^127, of f64 2^1023, it would be negative; the sum loses nothing significant there.
    let unscale = w.overloaded("llvm.smax", unscale, &[Operand::integer(0, unscale.ty)]);
    let unscale = w.binary("shl", unscale, fraction);
    let unscale = w.float_of(unscale);
    let f = w.sub(parts.significand, 1.0);
    let f = w.mul_add(lost, unscale, f);
    let e = w.convert("sitofp", parts.exponent, x.ty.element);
    let is_double = x.ty.element == Element::F64;
    let y = if is_double { log_double::natural(w, f, e) } else { natural(w, f, e) };
    let y = special(w, sum, y);
    // Keeps the sign of zero and the bits of subnormals.
    let magnitude = w.abs(x);
    let tiny = w.compare("fcmp olt", magnitude, if is_double { 1e-17 } else { 1e-8 });
    w.select(tiny, x, y)
}

/// `(1 + x) - sum`, exactly.
fn lost_in_sum(w: &mut Writer<'_>, x: Operand, sum: Operand) -> Operand {
    let x_taken = w.sub(sum, x);
    let one = w.number(x, 1.0);
    let of_one = w.sub(one, x_taken);
    let one_taken = w.sub(sum, 1.0);
    let of_x = w.sub(x, one_taken);
    let large = w.compare("fcmp oge", x, 1.0);
    w.select(large, of_one, of_x)
}
