//! tanh: a polynomial in x below 5/8, else `1 - 2 / (exp(2 x) + 1)`. Coefficients: Cephes tanhf (Moshier, 1989).

use super::super::operand::Operand;
use super::super::writer::Writer;
use super::exp::exp_within;

/// `(tanh(x) - x) / x^3` as a polynomial in x^2.
const SMALL: [f32; 5] = [-5.704_988_7e-3, 2.063_909e-2, -5.373_971_6e-2, 1.333_144_3e-1, -3.333_328e-1];

/// The hyperbolic tangent.
pub(super) fn tanh(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let square = w.mul(x, x);
    let p = w.horner(square, &SMALL);
    let p = w.mul(p, square);
    let small = w.mul_add(p, magnitude, magnitude);
    // From 10 on the result rounds to 1.
    let bounded = w.at_most(magnitude, 10.0);
    let twice = w.add(bounded, bounded);
    let e = exp_within(w, twice);
    let e = w.add(e, 1.0);
    let two = w.number(x, 2.0);
    let rest = w.div(two, e);
    let one = w.number(x, 1.0);
    let large = w.sub(one, rest);
    let is_small = w.compare("fcmp olt", magnitude, 0.625);
    let y = w.select(is_small, small, large);
    w.copysign(y, x)
}
