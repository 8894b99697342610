//! Polynomials for elementary functions in f32 and f64, inline in the IR: vectors in, vectors out.
//!
//! Written once for every instruction set, with fused multiply-adds where they are instructions. Each file names its
//! method and error.

mod double;
mod erf;
mod erf_double;
mod erfc;
mod erfinv;
mod erfinv_double;
mod exp;
mod frexp;
mod inverse_trigonometric;
mod lgamma;
mod log;
mod log_double;
mod next_after;
mod pow;
mod pow_double;
mod power_of_two;
mod remainder;
mod tanh;
mod trigonometric;
mod trigonometric_double;

pub(super) use exp::exponential;
pub(super) use next_after::next_after;
pub(super) use pow::is_product;
pub(super) use remainder::remainder;

use ops::Polynomial;

use super::operand::{Element, Operand, Term};
use super::writer::Writer;

/// ln 2 in nine bits, whose products with small integers are exact, and the remainder.
const LN_2_HIGH: f32 = 355.0 / 512.0;
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// The same in f64: 32 bits of it, and the remainder.
const LN_2_HIGH_DOUBLE: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW_DOUBLE: f64 = 1.908_214_929_270_587_7e-10;

/// The function, of f32 or f64 values.
pub(super) fn polynomial(w: &mut Writer<'_>, function: Polynomial, args: &[Operand]) -> Operand {
    let x = args[0];
    if x.ty.element == Element::F64
        && let Some(y) = of_doubles(w, function, args)
    {
        return y;
    }
    match function {
        Polynomial::Exp => exp::exp(w, x),
        Polynomial::Exp2 => exp::exp2(w, x),
        Polynomial::Expm1 => exp::expm1(w, x),
        Polynomial::Log => log::log(w, x),
        Polynomial::Log2 => log::log2(w, x),
        Polynomial::Log10 => log::log10(w, x),
        Polynomial::Log1p => log::log1p(w, x),
        Polynomial::Tanh => tanh::tanh(w, x),
        Polynomial::Erf => erf::erf(w, x),
        Polynomial::Erfc => erfc::erfc(w, x),
        Polynomial::Erfinv => erfinv::erfinv(w, x),
        Polynomial::Erfcinv => erfinv::erfcinv(w, x),
        Polynomial::Lgamma => lgamma::lgamma(w, x),
        Polynomial::Pow => pow::pow(w, x, args[1]),
        Polynomial::Sin => trigonometric::sin(w, x),
        Polynomial::Cos => trigonometric::cos(w, x),
        Polynomial::Tan => trigonometric::tan(w, x),
        Polynomial::Asin => inverse_trigonometric::asin(w, x),
        Polynomial::Acos => inverse_trigonometric::acos(w, x),
        Polynomial::Atan => inverse_trigonometric::atan(w, x),
        Polynomial::Atan2 => inverse_trigonometric::atan2(w, x, args[1]),
    }
}

/// The function of f64 values that has a file of its own.
fn of_doubles(w: &mut Writer<'_>, function: Polynomial, args: &[Operand]) -> Option<Operand> {
    let x = args[0];
    Some(match function {
        Polynomial::Log => log_double::log(w, x),
        Polynomial::Log2 => log_double::log2(w, x),
        Polynomial::Log10 => log_double::log10(w, x),
        Polynomial::Erf => erf_double::erf(w, x),
        Polynomial::Erfc => erf_double::erfc(w, x),
        Polynomial::Erfinv => erfinv_double::erfinv(w, x),
        Polynomial::Erfcinv => erfinv_double::erfcinv(w, x),
        Polynomial::Sin => trigonometric_double::sin(w, x),
        Polynomial::Cos => trigonometric_double::cos(w, x),
        Polynomial::Tan => trigonometric_double::tan(w, x),
        _ => return None,
    })
}

/// The arithmetic the polynomials are written in.
impl Writer<'_> {
    pub(super) fn add(&mut self, a: Operand, b: impl Into<Term>) -> Operand {
        self.binary("fadd", a, b)
    }

    pub(super) fn sub(&mut self, a: Operand, b: impl Into<Term>) -> Operand {
        self.binary("fsub", a, b)
    }

    pub(super) fn mul(&mut self, a: Operand, b: impl Into<Term>) -> Operand {
        self.binary("fmul", a, b)
    }

    fn div(&mut self, a: Operand, b: impl Into<Term>) -> Operand {
        self.binary("fdiv", a, b)
    }

    /// `a * b + c`, rounded once where the machine can.
    fn mul_add(&mut self, a: Operand, b: impl Into<Term>, c: impl Into<Term>) -> Operand {
        let (b, c) = (b.into().beside(a.ty), c.into().beside(a.ty));
        if self.isa.fma {
            return self.overloaded("llvm.fma", a, &[b, c]);
        }
        let product = self.mul(a, b);
        self.add(product, c)
    }

    /// The polynomial with these coefficients, the highest power first.
    fn horner<C: Copy + Into<f64>>(&mut self, x: Operand, coefficients: &[C]) -> Operand {
        let mut sum = Operand::float(coefficients[0].into(), x.ty);
        for &coefficient in &coefficients[1..] {
            sum = self.mul_add(sum, x, Term::Float(coefficient.into()));
        }
        sum
    }

    /// The polynomial for the type.
    fn horner_of_type(&mut self, x: Operand, single: &[f32], double: &[f64]) -> Operand {
        if x.ty.element == Element::F64 { self.horner(x, double) } else { self.horner(x, single) }
    }

    /// Inline code unless the condition holds for an element; then the function of the C library for each element.
    fn unless_any(
        &mut self,
        condition: Operand,
        function: &'static str,
        args: &[Operand],
        inline: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let any = self.any(condition);
        self.either(any, |w| w.call_lanes(function, args), inline)
    }

    fn number(&mut self, like: Operand, value: f32) -> Operand {
        Operand::float(f64::from(value), like.ty)
    }

    fn abs(&mut self, x: Operand) -> Operand {
        self.overloaded("llvm.fabs", x, &[])
    }

    fn copysign(&mut self, magnitude: Operand, sign: Operand) -> Operand {
        self.overloaded("llvm.copysign", magnitude, &[sign])
    }

    /// `x`, but at most `bound`; NaN stays.
    fn at_most(&mut self, x: Operand, bound: f32) -> Operand {
        let beyond = self.compare("fcmp ogt", x, bound);
        self.select(beyond, Term::from(bound), x)
    }

    /// `x`, but at least `bound`; NaN stays.
    fn at_least(&mut self, x: Operand, bound: f32) -> Operand {
        let beyond = self.compare("fcmp olt", x, bound);
        self.select(beyond, Term::from(bound), x)
    }

    fn bits(&mut self, x: Operand) -> Operand {
        self.convert("bitcast", x, if x.ty.element == Element::F64 { Element::I64 } else { Element::I32 })
    }

    fn float_of(&mut self, x: Operand) -> Operand {
        self.convert("bitcast", x, if x.ty.element == Element::I64 { Element::F64 } else { Element::F32 })
    }
}
