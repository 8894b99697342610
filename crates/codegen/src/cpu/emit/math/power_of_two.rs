//! The last step of exponentials, the product with 2^n for an integer n, and what leads to it: bounds of the operand, and its
//! reduction to n and a remainder.
//!
//! Cody and Waite, Software manual for the elementary functions, 1980: `r = x - n ln 2` with ln 2 in two parts, of
//! which the first has few bits, so that its product with n is exact.

use ops::ExpRange;

use super::super::avx512;
use super::super::operand::{Element, Operand, Term};
use super::super::writer::Writer;
use super::{LN_2_HIGH, LN_2_LOW};

/// Which n there are, and which results must be right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// Any n; all results, subnormal and infinite ones too.
    Any,
    /// No n above 0; all results.
    Nonpositive,
    /// Any n; results are added to 1/2 or more, so that smaller ones than 2^-100 may be zero.
    Addend,
    /// No n above 0; results below 2^-100 may be zero.
    Term,
    /// Results are normal numbers, and operands have no bounds to be kept to.
    Normal,
}

impl From<ExpRange> for Range {
    fn from(range: ExpRange) -> Range {
        match range {
            ExpRange::Any => Range::Any,
            ExpRange::Nonpositive => Range::Nonpositive,
            ExpRange::Addend => Range::Addend,
        }
    }
}

impl Range {
    /// If one normal power of two is a sufficient factor for all n: how much n is raised by in it, so that the power is zero,
    /// and not subnormal, for the smallest n. Results are lowered by as much.
    fn raised(self, format: &Format) -> Option<i64> {
        match self {
            Range::Any => None,
            Range::Nonpositive => Some(format.fraction + 1),
            Range::Addend => Some(-8),
            Range::Term | Range::Normal => Some(0),
        }
    }

    /// What is added to n in the last bits of [`Whole::biased`].
    fn bias(self, format: &Format) -> i64 {
        self.raised(format).map_or(2 * format.bias, |raised| format.bias + raised)
    }
}

/// The constants of a float type for the reduction.
pub(super) struct Format {
    /// Bits below the exponent, and its bias.
    pub(super) fraction: i64,
    pub(super) bias: i64,
    /// Added and subtracted, it rounds to an integer n, which is then in the last bits.
    shifter: f64,
    log2_e: f64,
    /// ln 2 in few bits, whose products with small integers are exact, and the remainder.
    ln_2: [f64; 2],
    /// Where exp and exp2 are zero and infinite, and expm1 is -1 and infinite.
    pub(super) exp: [f32; 2],
    pub(super) exp2: [f32; 2],
    pub(super) expm1: [f32; 2],
    /// Below this, expm1 returns its operand.
    pub(super) tiny: f32,
    /// A number times 2^n, for n below this, is zero: at most sqrt(2) times a power of two is half of the smallest subnormal.
    zero: f64,
}

const SINGLE: Format = Format {
    fraction: 23,
    bias: 127,
    shifter: 12_582_912.0,
    log2_e: std::f32::consts::LOG2_E as f64,
    ln_2: [LN_2_HIGH as f64, LN_2_LOW as f64],
    exp: [-105.0, 89.0],
    exp2: [-151.0, 129.0],
    expm1: [-18.0, 89.0],
    tiny: 1e-8,
    zero: -150.5,
};
const DOUBLE: Format = Format {
    fraction: 52,
    bias: 1023,
    shifter: 6_755_399_441_055_744.0,
    log2_e: std::f64::consts::LOG2_E,
    ln_2: [super::LN_2_HIGH_DOUBLE, super::LN_2_LOW_DOUBLE],
    exp: [-746.0, 710.0],
    exp2: [-1076.0, 1025.0],
    expm1: [-38.0, 710.0],
    tiny: 1e-17,
    zero: -1075.5,
};

pub(super) fn format(x: Operand) -> &'static Format {
    if x.ty.element == Element::F64 { &DOUBLE } else { &SINGLE }
}

/// An integer n as a float, and bits of which the last ones are n and the bias of its range.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    pub(super) float: Operand,
    pub(super) biased: Operand,
}

/// The integer nearest to `x * factor`, or to x.
fn nearest(w: &mut Writer<'_>, x: Operand, factor: Option<f64>, range: Range) -> Whole {
    let format = format(x);
    let shifter = Term::Float(format.shifter + range.bias(format) as f64);
    let shifted = match factor {
        Some(factor) => w.mul_add(x, Term::Float(factor), shifter),
        None => w.add(x, shifter),
    };
    Whole { biased: w.bits(shifted), float: w.sub(shifted, shifter) }
}

/// n and r with `x = n ln 2 + r`.
pub(super) fn reduce(w: &mut Writer<'_>, x: Operand, range: Range) -> (Whole, Operand) {
    let Format { log2_e, ln_2: [high, low], .. } = *format(x);
    let n = nearest(w, x, Some(log2_e), range);
    let r = w.mul_add(n.float, Term::Float(-high), x);
    (n, w.mul_add(n.float, Term::Float(-low), r))
}

/// The same of f32, with an error of r that grows with n where multiply-adds are fused.
pub(super) fn reduce_short(w: &mut Writer<'_>, x: Operand, range: Range) -> (Whole, Operand) {
    if !w.isa.fma {
        return reduce(w, x, range);
    }
    let n = nearest(w, x, Some(format(x).log2_e), range);
    (n, w.mul_add(n.float, Term::Float(-f64::from(std::f32::consts::LN_2)), x))
}

/// n and r with `x = n + r`.
pub(super) fn reduce_to_whole(w: &mut Writer<'_>, x: Operand, range: Range) -> (Whole, Operand) {
    let n = nearest(w, x, None, range);
    (n, w.sub(x, n.float))
}

/// A power before its last product.
#[derive(Clone, Copy)]
pub(in super::super) struct Raised {
    power: Operand,
    /// A power of two, if there is that product.
    factor: Option<f64>,
}

impl From<Operand> for Raised {
    fn from(power: Operand) -> Raised {
        Raised { power, factor: None }
    }
}

impl Raised {
    /// The power.
    pub(in super::super) fn lowered(self, w: &mut Writer<'_>) -> Operand {
        self.factor.map_or(self.power, |factor| w.mul(self.power, Term::Float(factor)))
    }

    /// The power plus another number, which is at least 1/2.
    pub(in super::super) fn plus(self, w: &mut Writer<'_>, addend: Operand) -> Operand {
        match self.factor {
            Some(factor) => w.mul_add(self.power, Term::Float(factor), addend),
            None => w.add(self.power, addend),
        }
    }
}

/// `(1 + slope r) 2^n` for n from -252 to 254, of f64 from -2044 to 2046, or of the range.
pub(super) fn scaled(w: &mut Writer<'_>, slope: Operand, r: Operand, n: Whole, range: Range) -> Raised {
    let format = format(r);
    if avx512::applies(w, r.ty) {
        let y = w.mul_add(slope, r, 1.0);
        return Raised::from(avx512::scale(w, y, n.float, format.zero));
    }
    let whole = w.binary("shl", n.biased, format.fraction);
    let Some(raised) = range.raised(format) else {
        return Raised::from(scaled_twice(w, slope, r, n, whole));
    };
    let power = w.float_of(whole);
    let power = times_power(w, slope, r, power);
    let factor = (raised != 0).then(|| 2_f64.powi(-raised as i32));
    Raised { power, factor }
}

/// The product, half of n at a time, so that only the last one rounds, overflows or is subnormal; each half has one of the two
/// biases. Processors take hundreds of cycles for products that underflow, which masked scores have many of: a factor is
/// zero for n so small that no result is subnormal.
fn scaled_twice(w: &mut Writer<'_>, slope: Operand, r: Operand, n: Whole, whole: Operand) -> Operand {
    let &Format { fraction, zero, .. } = format(r);
    let half = w.binary("lshr", n.biased, 1);
    let half = w.binary("shl", half, fraction);
    let rest = w.binary("sub", whole, half);
    let (first, second) = (w.float_of(half), w.float_of(rest));
    let underflows = w.compare("fcmp olt", n.float, Term::Float(zero));
    let first = w.select(underflows, 0.0, first);
    let y = times_power(w, slope, r, first);
    w.mul(y, second)
}

/// `(1 + slope r) power`: r is multiplied while the slope is computed.
fn times_power(w: &mut Writer<'_>, slope: Operand, r: Operand, power: Operand) -> Operand {
    let r = w.mul(r, power);
    w.mul_add(slope, r, power)
}

/// `x`, clamped to where results are zero or infinite, so that n stays in the range of [`scaled`]: `unit` is the difference of
/// two x whose n differ by 1. The instruction for scaling takes any n, and NaN times 2^infinity is infinity there: f32, whose
/// polynomials are positive everywhere, needs no upper bound then. The lower bound is for large negative inputs, whose
/// remainder would make the polynomial overflow.
pub(super) fn bounded(
    w: &mut Writer<'_>,
    x: Operand,
    [min, most]: [f32; 2],
    unit: f64,
    range: Range,
) -> Operand {
    if range == Range::Normal {
        return x;
    }
    let scales = avx512::applies(w, x.ty);
    let is_unbounded = matches!(range, Range::Nonpositive | Range::Term);
    let x = if is_unbounded || (scales && x.ty.element == Element::F32) { x } else { w.at_most(x, most) };
    let format = format(x);
    match range.raised(format) {
        // Where the power is zero.
        Some(raised) if !scales => w.at_least(x, (-((format.bias + raised) as f64) * unit) as f32),
        _ => w.at_least(x, min),
    }
}
