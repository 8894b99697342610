//! erfc: `t p(t) exp(-x^2)` with `t = 2 / (2 + |x|)` in double precision, where x^2 is exact; within one unit in the last
//! place, subnormal results included.
//!
//! The form is that of Numerical Recipes (Press and others, 1992); the polynomial is a minimax fit of `erfcx(x) / t` over all
//! x from 0, with a relative error below 2^-29.

use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::double;

const SCALED: [f64; 13] = [
    -0.036_946_941_280_262_99,
    0.218_673_535_337_992_5,
    -0.522_204_129_092_978_3,
    0.603_627_191_676_402_6,
    -0.293_052_299_223_977_46,
    0.031_530_977_735_351_046,
    -0.067_951_079_722_115_92,
    -0.005_199_331_079_336_482,
    0.084_258_438_244_766_23,
    0.176_236_892_975_399_2,
    0.246_837_252_039_375_84,
    0.282_094_699_166_318_85,
    0.282_094_792_092_783_76,
];

/// 1 less the error function.
pub(super) fn erfc(w: &mut Writer<'_>, x: Operand) -> Operand {
    let magnitude = w.abs(x);
    // From 11 on the result is zero.
    let magnitude = w.at_most(magnitude, 11.0);
    let wide = w.convert("fpext", magnitude, Element::F64);
    let sum = w.add(wide, 2.0);
    let two = Operand::float(2.0, sum.ty);
    let t = w.div(two, sum);
    let p = w.horner(t, &SCALED);
    let p = w.mul(p, t);
    let square = w.mul(wide, wide);
    let exponent = w.mul(square, Term::Float(-std::f64::consts::LOG2_E));
    let power = double::exp2(w, exponent);
    let above = w.mul(p, power);
    let below = w.sub(two, above);
    let negative = w.compare("fcmp olt", x, 0.0);
    let y = w.select(negative, below, above);
    w.convert("fptrunc", y, Element::F32)
}
