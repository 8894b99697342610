//! erfinv and erfcinv of f64: the quotients of [`ops::inverse_erf`], the far one only for vectors that need it.

use ops::inverse_erf::{FAR, MIDDLE, MIDDLE_END, NEAR, Quotient};

use super::super::operand::{Operand, Term};
use super::super::writer::Writer;
use super::log_double;

/// The inverse of the error function: infinite at -1 and 1, NaN beyond.
pub(super) fn erfinv(w: &mut Writer<'_>, y: Operand) -> Operand {
    let magnitude = w.abs(y);
    let one = w.number(y, 1.0);
    let left = w.sub(one, magnitude);
    quantile(w, y, left)
}

/// The inverse of its complement: infinite at 0 and 2, NaN beyond.
pub(super) fn erfcinv(w: &mut Writer<'_>, y: Operand) -> Operand {
    let (one, two) = (w.number(y, 1.0), w.number(y, 2.0));
    let erf = w.sub(one, y);
    let from_two = w.sub(two, y);
    let positive = w.compare("fcmp olt", y, 1.0);
    let left = w.select(positive, y, from_two);
    quantile(w, erf, left)
}

/// Numerator and denominator of a result.
type Fraction = [Operand; 2];

/// The x with erf(x) = y and the sign of y, and with erfc(|x|) = left.
fn quantile(w: &mut Writer<'_>, y: Operand, left: Operand) -> Operand {
    let middle = middle(w, y);
    let tail = tail(w, y, left);
    let magnitude = w.abs(y);
    let in_middle = w.compare("fcmp ole", magnitude, Term::Float(MIDDLE_END));
    let [above, below] = [0, 1].map(|part| w.select(in_middle, middle[part], tail[part]));
    let x = w.div(above, below);
    let end = w.compare("fcmp oeq", left, 0.0);
    let infinity = w.number(y, f32::INFINITY);
    let infinity = w.copysign(infinity, y);
    w.select(end, infinity, x)
}

fn middle(w: &mut Writer<'_>, y: Operand) -> Fraction {
    let half = w.mul(y, 0.5);
    let square = w.mul(half, half);
    let offset = Operand::float(0.180_625, y.ty);
    let argument = w.sub(offset, square);
    let [above, below] = at(w, argument, &MIDDLE);
    [w.mul(half, above), below]
}

fn tail(w: &mut Writer<'_>, y: Operand, left: Operand) -> Fraction {
    // Half of a subnormal number lacks a bit: ln 2 is taken from the logarithm instead.
    let logarithm = log_double::log(w, left);
    let ln_2 = Operand::float(std::f64::consts::LN_2, y.ty);
    let depth = w.sub(ln_2, logarithm);
    let root = w.overloaded("llvm.sqrt", depth, &[]);
    let beside = w.sub(root, Term::Float(1.6));
    let [above, below] = at(w, beside, &NEAR);
    let far = w.compare("fcmp ogt", root, 5.0);
    let any = w.any(far);
    let mut with_far = |polynomial: &[f64; 8], near: Operand| {
        let beyond = |w: &mut Writer<'_>| {
            let beside = w.sub(root, 5.0);
            let of_far = w.horner(beside, polynomial);
            w.select(far, of_far, near)
        };
        w.either(any, beyond, |_| near)
    };
    let (above, below) = (with_far(&FAR.above, above), with_far(&FAR.below, below));
    [w.copysign(above, y), below]
}

fn at(w: &mut Writer<'_>, x: Operand, quotient: &Quotient) -> Fraction {
    [&quotient.above, &quotient.below].map(|polynomial| w.horner(x, polynomial))
}
