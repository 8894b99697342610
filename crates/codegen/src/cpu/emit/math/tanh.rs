//! tanh: a polynomial in x below 5/8, of f64 a quotient of two, else `1 - 2 / (exp(2 x) + 1)`. Coefficients: Cephes, tanhf and
//! tanh (Moshier, 1989).

use super::super::operand::{Element, Operand};
use super::super::writer::Writer;
use super::exp::exp_in;
use super::power_of_two::Range;

/// `(tanh(x) - x) / x^3` as a polynomial in x^2.
const SMALL: [f32; 5] = [-5.704_988_7e-3, 2.063_909e-2, -5.373_971_6e-2, 1.333_144_3e-1, -3.333_328e-1];

/// The same in f64 is the quotient of these.
const ABOVE: [f64; 3] = [-9.643_991_794_250_522e-1, -9.928_772_310_019_185e1, -1.614_687_684_417_084_5e3];
const BELOW: [f64; 4] = [1.0, 1.128_116_784_916_329_3e2, 2.235_488_390_601_004_5e3, 4.844_063_053_251_255e3];

/// `(tanh(x) - x) / x^3` for small x, of its square.
fn small_ratio(w: &mut Writer<'_>, square: Operand) -> Operand {
    if square.ty.element != Element::F64 {
        return w.horner(square, &SMALL);
    }
    let (above, below) = (w.horner(square, &ABOVE), w.horner(square, &BELOW));
    w.div(above, below)
}

/// The hyperbolic tangent.
pub(super) fn tanh(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let square = w.mul(x, x);
    let p = small_ratio(w, square);
    let p = w.mul(p, square);
    let small = w.mul_add(p, magnitude, magnitude);
    // From 10 on the result rounds to 1, in f64 from 20.
    let bounded = w.at_most(magnitude, 20.0);
    let twice = w.add(bounded, bounded);
    let e = exp_in(w, twice, Range::Normal);
    let e = w.add(e, 1.0);
    let two = w.number(x, 2.0);
    let rest = w.div(two, e);
    let one = w.number(x, 1.0);
    let large = w.sub(one, rest);
    let is_small = w.compare("fcmp olt", magnitude, 0.625);
    let y = w.select(is_small, small, large);
    w.copysign(y, x)
}
