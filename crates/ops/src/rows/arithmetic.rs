//! Rows: the arithmetic of numbers. Integers wrap, and no integer operation traps.
//!
//! C++ leaves the overflow of signed integers undefined, so CUDA code casts to unsigned ones of 64 bits and back, which
//! compilers narrow again.

use crate::row::CpuSpelling::{Expansion, Guarded, Instruction, Intrinsic, Move, Remainder};
use crate::row::{Algebra, BoolMeaning, CSpelling, CpuSpellings, Guard, IntMeaning, Primitive, float, int};
use crate::spread::Spread;
use crate::typing::Typing;

const X: &[&str] = &["x"];
const LHS_RHS: &[&str] = &["lhs", "rhs"];

pub(crate) const ADD: Primitive = Primitive {
    name: "add",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra::monoid(0.0),
    float: Some(float!(Binary: |a, b| a + b)),
    int: Some(int!(Binary: |a, b, ty| ty.wrap(a.wrapping_add(b)))),
    boolean: Some(BoolMeaning::Binary(|a, b| a | b)),
    cuda: CSpelling::float("({0} + {1})", "({0} + {1})")
        .and_int("wrapping_sum({0}, {1})")
        .with_helper(
            "template <class T> __device__ inline T wrapping_sum(T a, T b) {\n  \
             return T((unsigned long long)a + (unsigned long long)b);\n}\n",
        )
        .and_bool("({0} || {1})"),
    cpu: CpuSpellings::float(Instruction("fadd")).and_int(Instruction("add")).and_bool(Instruction("or")),
    ulp: 0.5,
    spread: Spread::Lipschitz(1.0),
    doc: "Sum. Integers wrap; of two bools, whether either holds.",
};

pub(crate) const SUB: Primitive = Primitive {
    name: "sub",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra::right_identity(0.0),
    float: Some(float!(Binary: |a, b| a - b)),
    int: Some(int!(Binary: |a, b, ty| ty.wrap(a.wrapping_sub(b)))),
    boolean: None,
    cuda: CSpelling::float("({0} - {1})", "({0} - {1})")
        .and_int("wrapping_difference({0}, {1})")
        .with_helper(
            "template <class T> __device__ inline T wrapping_difference(T a, T b) {\n  \
             return T((unsigned long long)a - (unsigned long long)b);\n}\n",
        ),
    cpu: CpuSpellings::float(Instruction("fsub")).and_int(Instruction("sub")),
    ulp: 0.5,
    spread: Spread::Lipschitz(1.0),
    doc: "Difference. Integers wrap; not of two bools.",
};

pub(crate) const MUL: Primitive = Primitive {
    name: "mul",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra::monoid(1.0),
    float: Some(float!(Binary: |a, b| a * b)),
    int: Some(int!(Binary: |a, b, ty| ty.wrap(a.wrapping_mul(b)))),
    boolean: Some(BoolMeaning::Binary(|a, b| a & b)),
    cuda: CSpelling::float("({0} * {1})", "({0} * {1})")
        .and_int("wrapping_product({0}, {1})")
        .with_helper(
            "template <class T> __device__ inline T wrapping_product(T a, T b) {\n  \
             return T((unsigned long long)a * (unsigned long long)b);\n}\n",
        )
        .and_bool("({0} && {1})"),
    cpu: CpuSpellings::float(Instruction("fmul")).and_int(Instruction("mul")).and_bool(Instruction("and")),
    ulp: 0.5,
    spread: Spread::Product,
    doc: "Product. Integers wrap; of two bools, whether both hold.",
};

pub(crate) const DIV: Primitive = Primitive {
    name: "div",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra::right_identity(1.0),
    float: Some(float!(Binary: |a, b| a / b)),
    int: Some(int!(Binary: |a, b, ty| match (b, ty.is_signed()) {
        (0, _) => 0,
        (_, true) => ty.wrap(a.wrapping_div(b)),
        (_, false) => (a as u64 / b as u64) as i64,
    })),
    boolean: None,
    cuda: CSpelling::float("({0} / {1})", "({0} / {1})").and_int("quotient({0}, {1})").with_helper(
        "template <class T> __device__ inline T quotient(T a, T b) {\n  \
             return b == 0 ? T(0) : T(0) > T(-1) && b == T(-1) ? T(0ull - a) : a / b;\n}\n",
    ),
    cpu: CpuSpellings::float(Instruction("fdiv"))
        .and_int(Guarded("sdiv", Guard::Quotient))
        .and_unsigned(Guarded("udiv", Guard::UnsignedQuotient)),
    ulp: 0.5,
    spread: Spread::Quotient,
    doc: "Quotient: exact of floats, truncated towards zero of integers. An integer over 0 is 0, and the smallest integer over -1 is itself.",
};

pub(crate) const FMOD: Primitive = Primitive {
    name: "fmod",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra::NONE,
    float: Some(float!(Binary: libm::fmod)),
    int: Some(int!(Binary: |a, b, ty| match (b, ty.is_signed()) {
        (0, _) => a,
        (_, true) => a.wrapping_rem(b),
        (_, false) => (a as u64 % b as u64) as i64,
    })),
    boolean: None,
    cuda: CSpelling::float("fmodf({0}, {1})", "fmod({0}, {1})")
        .and_int("truncated_remainder({0}, {1})")
        .with_helper(
            "template <class T> __device__ inline T truncated_remainder(T a, T b) {\n  \
             return b == 0 ? a : T(0) > T(-1) && b == T(-1) ? T(0) : a % b;\n}\n",
        ),
    cpu: CpuSpellings::float(Remainder { narrow: "fmodf", wide: "fmod" })
        .and_int(Guarded("srem", Guard::Remainder))
        .and_unsigned(Guarded("urem", Guard::UnsignedRemainder)),
    ulp: 0.0,
    spread: Spread::Remainder,
    doc: "Remainder of the truncated quotient, with the sign of the dividend. An integer modulo 0 is itself; a float modulo 0 is NaN.",
};

pub(crate) const NEG: Primitive = Primitive {
    name: "neg",
    params: X,
    typing: Typing::Arithmetic,
    algebra: Algebra::NONE,
    float: Some(float!(Unary: |x| -x)),
    int: Some(IntMeaning::Unary(|x, ty| ty.wrap(x.wrapping_neg()))),
    boolean: None,
    cuda: CSpelling::float("(-{0})", "(-{0})").and_int("wrapping_negation({0})").with_helper(
        "template <class T> __device__ inline T wrapping_negation(T a) {\n  \
             return T(0ull - (unsigned long long)a);\n}\n",
    ),
    cpu: CpuSpellings::float(Instruction("fneg")).and_int(Expansion("0 - x")),
    ulp: 0.0,
    spread: Spread::Lipschitz(1.0),
    doc: "Negation. The smallest integer is its own.",
};

pub(crate) const ABS: Primitive = Primitive {
    name: "abs",
    params: X,
    typing: Typing::Plain,
    algebra: Algebra::IDEMPOTENT,
    float: Some(float!(Unary: f64::abs)),
    int: Some(IntMeaning::Unary(|x, ty| if ty.is_signed() { ty.wrap(x.wrapping_abs()) } else { x })),
    boolean: None,
    cuda: CSpelling::float("fabsf({0})", "fabs({0})").and_int("wrapping_magnitude({0})").with_helper(
        "template <class T> __device__ inline T wrapping_magnitude(T a) {\n  \
             return a < T(0) ? T(0ull - (unsigned long long)a) : a;\n}\n",
    ),
    cpu: CpuSpellings::float(Intrinsic("llvm.fabs")).and_int(Intrinsic("llvm.abs")).and_unsigned(Move),
    ulp: 0.0,
    spread: Spread::Lipschitz(1.0),
    doc: "Absolute value. That of the smallest integer is itself.",
};

pub(crate) const RECIPROCAL: Primitive = Primitive {
    name: "reciprocal",
    params: X,
    typing: Typing::Float,
    algebra: Algebra::NONE,
    float: Some(float!(Unary: f64::recip)),
    int: None,
    boolean: None,
    cuda: CSpelling::float("(1.0f / {0})", "(1.0 / {0})"),
    cpu: CpuSpellings::float(Expansion("1 / x")),
    ulp: 0.5,
    spread: Spread::Quotient,
    doc: "One over x.",
};

pub(crate) const MINIMUM: Primitive = Primitive {
    name: "minimum",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra { identity: Some(f64::INFINITY), ..Algebra::LATTICE },
    float: Some(float!(Binary: |a, b| {
        propagating(a, b, if b < a { b } else { a }, b.is_sign_negative())
    })),
    int: Some(int!(Binary: |a, b, ty| if ty.ordered(b) < ty.ordered(a) { b } else { a })),
    boolean: Some(BoolMeaning::Binary(|a, b| a & b)),
    cuda: CSpelling::float("propagating_minimum({0}, {1})", "propagating_minimum({0}, {1})")
        .and_int("({1} < {0} ? {1} : {0})")
        .and_bool("({0} && {1})")
        .with_helper(
            "template <class T> static __device__ inline T propagating_minimum(T a, T b) {\n  \
             T y = a != a ? a : b != b ? b : a < b ? a : b < a ? b : signbit(a) ? a : b;\n  \
             if constexpr (sizeof(T) == 4) PTX(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));\n  \
             return y;\n}\n",
        ),
    cpu: CpuSpellings::float(Intrinsic("llvm.minimum"))
        .and_int(Intrinsic("llvm.smin"))
        .and_unsigned(Intrinsic("llvm.umin"))
        .and_bool(Instruction("and")),
    ulp: 0.0,
    spread: Spread::Largest,
    doc: "The lesser. NaN if either is; -0 is less than 0.",
};

pub(crate) const MAXIMUM: Primitive = Primitive {
    name: "maximum",
    params: LHS_RHS,
    typing: Typing::Arithmetic,
    algebra: Algebra { identity: Some(f64::NEG_INFINITY), ..Algebra::LATTICE },
    float: Some(float!(Binary: |a, b| {
        propagating(a, b, if b > a { b } else { a }, b.is_sign_positive())
    })),
    int: Some(int!(Binary: |a, b, ty| if ty.ordered(b) > ty.ordered(a) { b } else { a })),
    boolean: Some(BoolMeaning::Binary(|a, b| a | b)),
    cuda: CSpelling::float("propagating_maximum({0}, {1})", "propagating_maximum({0}, {1})")
        .and_int("({1} > {0} ? {1} : {0})")
        .and_bool("({0} || {1})")
        .with_helper(
            "template <class T> static __device__ inline T propagating_maximum(T a, T b) {\n  \
             T y = a != a ? a : b != b ? b : a > b ? a : b > a ? b : signbit(a) ? b : a;\n  \
             if constexpr (sizeof(T) == 4) PTX(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));\n  \
             return y;\n}\n",
        ),
    cpu: CpuSpellings::float(Intrinsic("llvm.maximum"))
        .and_int(Intrinsic("llvm.smax"))
        .and_unsigned(Intrinsic("llvm.umax"))
        .and_bool(Instruction("or")),
    ulp: 0.0,
    spread: Spread::Largest,
    doc: "The greater. NaN if either is; 0 is greater than -0.",
};

/// NaN wins; for equal zeros the second if `second_zero`; else `chosen`.
fn propagating(a: f64, b: f64, chosen: f64, second_zero: bool) -> f64 {
    match (a.is_nan() || b.is_nan(), a == b && second_zero) {
        (true, _) => f64::NAN,
        (_, true) => b,
        _ => chosen,
    }
}
