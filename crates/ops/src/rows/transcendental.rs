//! Rows: functions of real numbers. Integers and bools are taken as f32; results are f32 or f64.
//!
//! Error bounds cover both back ends (our polynomials and the C library on CPUs, CUDA's documented maxima) and the last bit
//! of the meanings themselves.

use crate::angle::angles;
use crate::power;
use crate::row::CpuSpelling::{Call, Expansion, Intrinsic};
use crate::row::{
    Algebra, CSpelling, CpuSpelling, CpuSpellings, FloatMeaning, IntType, Kernel, Polynomial, Primitive,
    float, int,
};
use crate::slopes;
use crate::spread::Spread;
use crate::typing::Typing;

/// The columns common to most functions of reals.
pub(crate) const REAL: Primitive =
    Primitive { params: &["x"], ulp: 2.0, spread: Spread::Corners, ..Primitive::BLANK };

const fn polynomial(kind: Polynomial) -> CpuSpellings {
    CpuSpellings::float(CpuSpelling::Polynomial(kind))
}

pub(crate) const EXP: Primitive = Primitive {
    name: "exp",
    float: Some(float!(Unary: libm::exp)),
    spread: Spread::Slope(slopes::exp),
    cuda: CSpelling::float("expf({0})", "exp({0})"),
    cpu: polynomial(Polynomial::Exp),
    doc: "e to the power x.",
    ..REAL
};

pub(crate) const EXP2: Primitive = Primitive {
    name: "exp2",
    float: Some(float!(Unary: libm::exp2)),
    spread: Spread::Slope(slopes::exp2),
    cuda: CSpelling::float("exp2f({0})", "exp2({0})"),
    cpu: polynomial(Polynomial::Exp2),
    doc: "2 to the power x.",
    ..REAL
};

pub(crate) const EXPM1: Primitive = Primitive {
    name: "expm1",
    float: Some(float!(Unary: libm::expm1)),
    spread: Spread::Slope(slopes::expm1),
    cuda: CSpelling::float("expm1f({0})", "expm1({0})"),
    cpu: polynomial(Polynomial::Expm1),
    doc: "exp(x) - 1, exact also near 0.",
    ..REAL
};

pub(crate) const LOG: Primitive = Primitive {
    name: "log",
    float: Some(float!(Unary: libm::log)),
    spread: Spread::Slope(slopes::log),
    cuda: CSpelling::float("logf({0})", "log({0})"),
    cpu: polynomial(Polynomial::Log),
    doc: "Natural logarithm: of 0, minus infinity; below 0, NaN.",
    ..REAL
};

pub(crate) const LOG2: Primitive = Primitive {
    name: "log2",
    float: Some(float!(Unary: libm::log2)),
    spread: Spread::Slope(slopes::log2),
    cuda: CSpelling::float("log2f({0})", "log2({0})"),
    cpu: polynomial(Polynomial::Log2),
    doc: "Binary logarithm: of 0, minus infinity; below 0, NaN.",
    ..REAL
};

pub(crate) const LOG10: Primitive = Primitive {
    name: "log10",
    float: Some(float!(Unary: libm::log10)),
    spread: Spread::Slope(slopes::log10),
    cuda: CSpelling::float("log10f({0})", "log10({0})"),
    cpu: polynomial(Polynomial::Log10),
    doc: "Decimal logarithm: of 0, minus infinity; below 0, NaN.",
    ..REAL
};

pub(crate) const LOG1P: Primitive = Primitive {
    name: "log1p",
    float: Some(float!(Unary: libm::log1p)),
    spread: Spread::Slope(slopes::log1p),
    cuda: CSpelling::float("log1pf({0})", "log1p({0})"),
    cpu: polynomial(Polynomial::Log1p),
    doc: "log(1 + x), exact also near 0.",
    ..REAL
};

pub(crate) const SQRT: Primitive = Primitive {
    name: "sqrt",
    float: Some(float!(Unary: f64::sqrt)),
    cuda: CSpelling::float("sqrtf({0})", "sqrt({0})"),
    cpu: CpuSpellings::float(Intrinsic("llvm.sqrt")),
    ulp: 0.5,
    spread: Spread::Root,
    doc: "Square root; below 0, NaN.",
    ..REAL
};

pub(crate) const RSQRT: Primitive = Primitive {
    name: "rsqrt",
    float: Some(float!(Unary: |x| 1.0 / x.sqrt())),
    cuda: CSpelling::float("rsqrtf({0})", "rsqrt({0})"),
    cpu: CpuSpellings::float(Expansion("1 / sqrt(x)")),
    spread: Spread::Root,
    doc: "One over the square root: of 0, infinity of its sign; below 0, NaN.",
    ..REAL
};

pub(crate) const SIN: Primitive = Primitive {
    name: "sin",
    float: Some(float!(Unary: libm::sin)),
    cuda: CSpelling::float("sinf({0})", "sin({0})"),
    cpu: polynomial(Polynomial::Sin),
    spread: Spread::Lipschitz(1.0),
    doc: "Sine of x radians; of an infinity, NaN.",
    ..REAL
};

pub(crate) const COS: Primitive = Primitive {
    name: "cos",
    float: Some(float!(Unary: libm::cos)),
    cuda: CSpelling::float("cosf({0})", "cos({0})"),
    cpu: polynomial(Polynomial::Cos),
    spread: Spread::Lipschitz(1.0),
    doc: "Cosine of x radians; of an infinity, NaN.",
    ..REAL
};

pub(crate) const TAN: Primitive = Primitive {
    name: "tan",
    float: Some(float!(Unary: libm::tan)),
    cuda: CSpelling::float("tanf({0})", "tan({0})"),
    cpu: polynomial(Polynomial::Tan),
    ulp: 4.0,
    spread: Spread::Slope(slopes::tan),
    doc: "Tangent of x radians; of an infinity, NaN.",
    ..REAL
};

pub(crate) const ASIN: Primitive = Primitive {
    name: "asin",
    float: Some(float!(Unary: libm::asin)),
    spread: Spread::Slope(slopes::asin),
    cuda: CSpelling::float("asinf({0})", "asin({0})"),
    cpu: polynomial(Polynomial::Asin),
    doc: "Inverse sine; outside -1 to 1, NaN.",
    ..REAL
};

pub(crate) const ACOS: Primitive = Primitive {
    name: "acos",
    float: Some(float!(Unary: libm::acos)),
    spread: Spread::Slope(slopes::asin),
    cuda: CSpelling::float("acosf({0})", "acos({0})"),
    cpu: polynomial(Polynomial::Acos),
    doc: "Inverse cosine; outside -1 to 1, NaN.",
    ..REAL
};

pub(crate) const ATAN: Primitive = Primitive {
    name: "atan",
    float: Some(float!(Unary: libm::atan)),
    spread: Spread::Slope(slopes::atan),
    cuda: CSpelling::float("atanf({0})", "atan({0})"),
    cpu: polynomial(Polynomial::Atan),
    doc: "Inverse tangent.",
    ..REAL
};

pub(crate) const ATAN2: Primitive = Primitive {
    name: "atan2",
    params: &["y", "x"],
    float: Some(FloatMeaning::Binary(Kernel { one: libm::atan2, each: angles })),
    cuda: CSpelling::float("atan2f({0}, {1})", "atan2({0}, {1})"),
    cpu: polynomial(Polynomial::Atan2),
    ulp: 3.0,
    spread: Spread::Angle,
    doc: "The angle of the point (x, y), from -pi to pi.",
    ..REAL
};

pub(crate) const TANH: Primitive = Primitive {
    name: "tanh",
    float: Some(float!(Unary: libm::tanh)),
    spread: Spread::Slope(slopes::tanh),
    cuda: CSpelling::float("tanhf({0})", "tanh({0})"),
    cpu: polynomial(Polynomial::Tanh),
    doc: "Hyperbolic tangent.",
    ..REAL
};

pub(crate) const ERF: Primitive = Primitive {
    name: "erf",
    float: Some(float!(Unary: libm::erf)),
    spread: Spread::Slope(slopes::erf),
    cuda: CSpelling::float("erff({0})", "erf({0})"),
    cpu: polynomial(Polynomial::Erf),
    doc: "The error function.",
    ..REAL
};

pub(crate) const ERFC: Primitive = Primitive {
    name: "erfc",
    float: Some(float!(Unary: libm::erfc)),
    spread: Spread::Slope(slopes::erfc),
    cuda: CSpelling::float("erfcf({0})", "erfc({0})"),
    cpu: polynomial(Polynomial::Erfc),
    ulp: 5.0,
    doc: "1 - erf(x), exact also for large x.",
    ..REAL
};

pub(crate) const POW: Primitive = Primitive {
    name: "pow",
    params: &["base", "exponent"],
    typing: Typing::Arithmetic,
    algebra: Algebra::right_identity(1.0),
    float: Some(FloatMeaning::Binary(Kernel { one: power::one, each: power::powers })),
    int: Some(int!(Binary: integer_power)),
    cuda: CSpelling::float("powf({0}, {1})", "pow({0}, {1})").and_int("integer_power({0}, {1})").with_helper(
        "template <class T> __device__ inline T integer_power(T base, T exponent) {\n  \
             if (exponent < T(0)) return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;\n  \
             unsigned long long power = 1, square = base;\n  \
             for (; exponent != 0; exponent >>= 1, square *= square) if (exponent & 1) power *= square;\n  \
             return T(power);\n}\n",
    ),
    cpu: polynomial(Polynomial::Pow)
        .and_int(Call { narrow: "integer_power_i32", wide: "integer_power_i64" })
        .and_unsigned(Call { narrow: "integer_power_i32", wide: "integer_power_u64" }),
    ulp: 4.0,
    spread: Spread::Power,
    doc: "Power. Anything to the 0 is 1, negative bases take only whole exponents, else NaN. Integers wrap; \
          to a negative exponent they truncate to 0, but for 1 and -1.",
    ..REAL
};

/// By squaring: the meaning of `pow` on integers, wrapped, with the truncated reciprocal for negative exponents.
pub fn integer_power(base: i64, exponent: i64, ty: IntType) -> i64 {
    if ty.is_signed() && exponent < 0 {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let (mut power, mut square, mut rest) = (1_i64, base, exponent as u64);
    while rest != 0 {
        if rest & 1 == 1 {
            power = power.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        rest >>= 1;
    }
    ty.wrap(power)
}
