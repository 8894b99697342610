//! Rows: special functions of reals, neighbours of floats, the greatest common divisor.

use super::transcendental;
use crate::DType;
use crate::inverse_erf::{inverse_erf, inverse_erf_each, inverse_erfc, inverse_erfc_each};
use crate::row::CpuSpelling::{self, Call, Polynomial as Inline};
use crate::row::{
    Algebra, CSpelling, CpuSpellings, FloatMeaning, IntType, Kernel, Polynomial, Primitive, float, int,
};
use crate::slopes;
use crate::spread::Spread;
use crate::typing::Typing;

/// The columns common to functions of reals.
const REAL: Primitive = Primitive { ulp: 6.0, ..transcendental::REAL };

pub(crate) const LGAMMA: Primitive = Primitive {
    name: "lgamma",
    float: Some(float!(Unary: libm::lgamma)),
    // Near its zeros below -2 digits cancel, which f32 cannot afford.
    cuda: CSpelling::float("(float)lgamma((double){0})", "lgamma({0})"),
    cpu: CpuSpellings::float(Inline(Polynomial::Lgamma)),
    ulp: 16.0,
    spread: Spread::Poles,
    doc: "The logarithm of the magnitude of gamma: infinity at 0, -1, -2… In f64 the bound is that of 1 near zeros below -2.",
    ..REAL
};

pub(crate) const ERFINV: Primitive = Primitive {
    name: "erfinv",
    float: Some(FloatMeaning::Unary(Kernel { one: inverse_erf, each: inverse_erf_each })),
    ulp: 10.0, // in doubles the quotients are off by up to 5.2, here and in the evaluator
    spread: Spread::Slope(slopes::erfinv),
    cuda: CSpelling::float("erfinvf({0})", "erfinv({0})"),
    cpu: CpuSpellings::float(Inline(Polynomial::Erfinv)),
    doc: "The inverse of erf: of -1 and 1, infinities; beyond, NaN.",
    ..REAL
};

pub(crate) const ERFCINV: Primitive = Primitive {
    name: "erfcinv",
    float: Some(FloatMeaning::Unary(Kernel { one: inverse_erfc, each: inverse_erfc_each })),
    ulp: ERFINV.ulp,
    spread: Spread::Slope(slopes::erfcinv),
    cuda: CSpelling::float("erfcinvf({0})", "erfcinv({0})"),
    cpu: CpuSpellings::float(Inline(Polynomial::Erfcinv)),
    doc: "The inverse of erfc: of 0 and 2, infinities; beyond, NaN.",
    ..REAL
};

pub(crate) const NEXTAFTER: Primitive = Primitive {
    name: "nextafter",
    params: &["lhs", "rhs"],
    typing: Typing::Precise,
    float: Some(FloatMeaning::BinaryIn(|a, b, dtype| match dtype {
        DType::F64 => libm::nextafter(a, b),
        _ => libm::nextafterf(a as f32, b as f32).into(),
    })),
    cuda: CSpelling::float("nextafterf({0}, {1})", "nextafter({0}, {1})"),
    cpu: CpuSpellings::float(CpuSpelling::NextAfter),
    ulp: 0.0,
    spread: Spread::Exact,
    doc: "The number of the dtype that follows lhs on the way to rhs; rhs itself where they are equal.",
    ..REAL
};

pub(crate) const GCD: Primitive = Primitive {
    name: "gcd",
    params: &["lhs", "rhs"],
    typing: Typing::Bitwise,
    algebra: Algebra { associative: true, ..Algebra::COMMUTATIVE },
    int: Some(int!(Binary: greatest_common_divisor)),
    cuda: CSpelling::NONE.and_int("greatest_common_divisor({0}, {1})").with_helper(
        "template <class T> __device__ inline T greatest_common_divisor(T x, T y) {\n  \
         unsigned long long a = x, b = y;\n  \
         if (x < T(0)) a = 0 - a;\n  \
         if (y < T(0)) b = 0 - b;\n  \
         while (b != 0) { const unsigned long long remainder = a % b; a = b; b = remainder; }\n  \
         return T(a);\n}\n",
    ),
    cpu: CpuSpellings::int(Call { narrow: "gcd_i32", wide: "gcd_i64" })
        .and_unsigned(Call { narrow: "gcd_i32", wide: "gcd_u64" }),
    ulp: 0.0,
    spread: Spread::Exact,
    doc: "The greatest common divisor, not negative; with 0 the other's magnitude, of which the smallest integer's is itself.",
    ..REAL
};

/// By Euclid's algorithm: the meaning of `gcd` on integers.
pub fn greatest_common_divisor(a: i64, b: i64, ty: IntType) -> i64 {
    let magnitude = |x: i64| if ty.is_signed() { x.unsigned_abs() } else { x as u64 };
    let (mut a, mut b) = (magnitude(a), magnitude(b));
    while b != 0 {
        (a, b) = (b, a % b);
    }
    ty.wrap(a as i64)
}
