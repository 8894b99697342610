//! erf: a polynomial in x below 0.93, otherwise `1 - exp(p(|x|))`. Method and coefficients: Juffa, public domain, 2019.

use super::super::operand::Operand;
use super::super::writer::Writer;
use super::exp::exp_in;
use super::power_of_two::Range;

/// `(erf(x) - x) / x` as a polynomial in x^2.
const SMALL: [f32; 6] =
    [-5.967_617e-4, 4.991_194_2e-3, -2.676_813_5e-2, 1.128_199_2e-1, -3.761_253_4e-1, 1.283_791_7e-1];
/// `log(1 - erf(x)) / x + 1` for larger x.
const LARGE: [f32; 7] = [
    -1.728_534_7e-5,
    3.831_972_6e-4,
    -3.883_963_8e-3,
    2.425_462_2e-2,
    -1.067_778_8e-1,
    -6.348_467e-1,
    -1.287_175_1e-1,
];

/// The error function.
pub(super) fn erf(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    let square = w.mul(x, x);
    let p = w.horner(square, &SMALL);
    let small = w.mul_add(p, magnitude, magnitude);
    // From 4 on the result rounds to 1.
    let bounded = w.at_most(magnitude, 4.0);
    let p = w.horner(bounded, &LARGE);
    let negated = w.unary("fneg", bounded);
    let exponent = w.mul_add(p, bounded, negated);
    let e = exp_in(w, exponent, Range::Normal);
    let one = w.number(x, 1.0);
    let large = w.sub(one, e);
    let is_large = w.compare("fcmp ogt", magnitude, 0.927_734_4);
    let y = w.select(is_large, large, small);
    w.copysign(y, x)
}
