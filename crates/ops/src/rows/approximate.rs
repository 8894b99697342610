//! Rows: cheaper forms of other rows, sufficient for values that are rounded to a half type or added to larger ones. Their
//! meaning is the same, their bounds are wider. The compiler inserts them where results stay within bounds; no definition
//! names them.

use super::arithmetic::RECIPROCAL;
use super::transcendental::{EXP, EXP2};
use crate::ScalarOp;
use crate::row::ExpRange::{self, Addend, Any, Nonpositive};
use crate::row::{Approximation, CSpelling, CpuSpelling, CpuSpellings, Primitive, float};
use crate::spread::Spread;
use crate::typing::Typing;

/// A row as precise as `ulp` says, with its own code.
const fn cheaper(
    row: Primitive,
    name: &'static str,
    way: Approximation,
    ulp: f64,
    doc: &'static str,
) -> Primitive {
    Primitive { name, cpu: CpuSpellings::float(CpuSpelling::Approximate(way)), ulp, doc, ..row }
}

/// An exponential for a range of operands or results.
const fn in_range(row: Primitive, name: &'static str, way: Approximation) -> Primitive {
    Primitive { name, cpu: CpuSpellings::float(CpuSpelling::Approximate(way)), ..row }
}

/// The GPU's own 2 to the power x, to 21 bits: as a square, because the instruction returns no subnormal numbers.
const CUDA_EXP2: CSpelling = CSpelling::float("exp2_approximate({0})", "exp2({0})").with_helper(
    "static __device__ inline float exp2_approximate(float x) {
  float y = exp2f(x * 0.5f);
  PTX(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x * 0.5f));
  return y * y;
}
",
);

/// The GPU's own reciprocal of a normal number above zero, to 21 bits: as a square, because it may itself be subnormal.
const CUDA_RECIPROCAL: CSpelling = CSpelling::float("reciprocal_positive({0})", "(1.0 / {0})").with_helper(
    "static __device__ inline float reciprocal_positive(float x) {
  float y = 1.0f / x;
  PTX(\"{ .reg .f32 r; rsqrt.approx.ftz.f32 r, %1; mul.rn.f32 %0, r, r; }\" : \"=f\"(y) : \"f\"(x));
  return y;
}
",
);

/// The GPU's own reciprocal of any number, to 23 bits.
const CUDA_RECIPROCAL_SIGNED: CSpelling = CSpelling::float("reciprocal_approximate({0})", "(1.0 / {0})")
    .with_helper(
        "static __device__ inline float reciprocal_approximate(float x) {
  float y = 1.0f / x;
  PTX(\"rcp.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));
  return y;
}
",
    );

pub(crate) const EXP2_HALF: Primitive = Primitive {
    cuda: CUDA_EXP2,
    ..cheaper(EXP2, "exp2_half", Approximation::Exp2Half(Any), 96.0, "2 to the power x, to 18 bits.")
};

pub(crate) const EXP2_HALF_NONPOSITIVE: Primitive =
    in_range(EXP2_HALF, "exp2_half_nonpositive", Approximation::Exp2Half(Nonpositive));

pub(crate) const EXP2_HALF_ADDEND: Primitive =
    in_range(EXP2_HALF, "exp2_half_addend", Approximation::Exp2Half(Addend));

pub(crate) const EXP2_BF16: Primitive = Primitive {
    cuda: CUDA_EXP2,
    ..cheaper(EXP2, "exp2_bf16", Approximation::Exp2Bf16(Any), 2048.0, "2 to the power x, to 13 bits.")
};

pub(crate) const EXP2_BF16_NONPOSITIVE: Primitive =
    in_range(EXP2_BF16, "exp2_bf16_nonpositive", Approximation::Exp2Bf16(Nonpositive));

pub(crate) const EXP2_BF16_ADDEND: Primitive =
    in_range(EXP2_BF16, "exp2_bf16_addend", Approximation::Exp2Bf16(Addend));

pub(crate) const EXP_NONPOSITIVE: Primitive =
    in_range(EXP, "exp_nonpositive", Approximation::Exp(Nonpositive));

pub(crate) const EXP_ADDEND: Primitive = in_range(EXP, "exp_addend", Approximation::Exp(Addend));

pub(crate) const EXP_TERM: Primitive = cheaper(
    EXP,
    "exp_term",
    Approximation::ExpTerm,
    8.0,
    "e to the power x, as a term of a sum that has greater ones.",
);

pub(crate) const RECIPROCAL_HALF: Primitive = Primitive {
    cuda: CUDA_RECIPROCAL,
    doc: "One over x, which is a normal number above zero or no number, to 14 bits.",
    name: "reciprocal_half",
    ..RECIPROCAL_SIGNED
};

pub(crate) const RECIPROCAL_SIGNED: Primitive = Primitive {
    cuda: CUDA_RECIPROCAL_SIGNED,
    ..cheaper(RECIPROCAL, "reciprocal_signed", Approximation::Reciprocal, 1024.0, "One over x, to 14 bits.")
};

/// Code may round the product, by at most half a unit in its last place; the spread accounts for that.
pub(crate) const MUL_ADD: Primitive = Primitive {
    name: "mul_add",
    params: &["a", "b", "c"],
    typing: Typing::Precise,
    float: Some(float!(Ternary: f64::mul_add)),
    cuda: CSpelling::float("fmaf({0}, {1}, {2})", "fma({0}, {1}, {2})"),
    cpu: CpuSpellings::float(CpuSpelling::Approximate(Approximation::MulAdd)),
    ulp: 1.0,
    spread: Spread::ProductSum,
    doc: "a * b + c, rounded once, or first the product and then the sum.",
    ..Primitive::BLANK
};

impl ScalarOp {
    /// The approximation that code for CPUs has in its place.
    fn approximation(self) -> Option<Approximation> {
        match self.row().cpu.float {
            Some(CpuSpelling::Approximate(approximation)) => Some(approximation),
            _ => None,
        }
    }

    /// Whether this is 2 to the power x, precise enough for a half type.
    pub fn is_short_exp2(self) -> bool {
        matches!(self.approximation(), Some(Approximation::Exp2Half(_) | Approximation::Exp2Bf16(_)))
    }

    /// Whether this is e to the power x, of some range.
    pub fn is_exp(self) -> bool {
        let approximation = self.approximation();
        self == ScalarOp::Exp || matches!(approximation, Some(Approximation::Exp(_) | Approximation::ExpTerm))
    }

    /// Whether the result for a first operand is the row's: exponentials have ranges.
    pub fn specifies(self, x: f64) -> bool {
        let (range, smallest) = match self.approximation() {
            Some(Approximation::Exp(range)) => (range, -100.0 * std::f64::consts::LN_2),
            Some(Approximation::Exp2Half(range) | Approximation::Exp2Bf16(range)) => (range, -100.0),
            Some(Approximation::ExpTerm) => return x.is_nan() || (-69.0..=0.0).contains(&x),
            _ => return true,
        };
        match range {
            Any => true,
            Nonpositive => x.is_nan() || x <= 0.0,
            Addend => x.is_nan() || x >= smallest,
        }
    }

    /// An exponential for operands and results of this range, if there is such a form.
    #[must_use]
    pub fn in_range(self, range: ExpRange) -> ScalarOp {
        match (self, range) {
            (ScalarOp::Exp, Nonpositive) => ScalarOp::ExpNonpositive,
            (ScalarOp::Exp, Addend) => ScalarOp::ExpAddend,
            (ScalarOp::Exp2Half, Nonpositive) => ScalarOp::Exp2HalfNonpositive,
            (ScalarOp::Exp2Half, Addend) => ScalarOp::Exp2HalfAddend,
            (ScalarOp::Exp2Bf16, Nonpositive) => ScalarOp::Exp2Bf16Nonpositive,
            (ScalarOp::Exp2Bf16, Addend) => ScalarOp::Exp2Bf16Addend,
            _ => self,
        }
    }

    /// The equivalent ops of the definition language: the op itself, the op that it is a cheaper form of, or two ops, the
    /// second of which takes the first's result and the remaining operands.
    pub fn in_language(self) -> &'static [ScalarOp] {
        match self {
            _ if self.is_short_exp2() => &[ScalarOp::Exp2],
            ScalarOp::ExpNonpositive | ScalarOp::ExpAddend | ScalarOp::ExpTerm => &[ScalarOp::Exp],
            ScalarOp::ReciprocalHalf | ScalarOp::ReciprocalSigned => &[ScalarOp::Reciprocal],
            ScalarOp::MulAdd => &[ScalarOp::Mul, ScalarOp::Add],
            _ => &Self::ALL[self as usize..=self as usize],
        }
    }
}
