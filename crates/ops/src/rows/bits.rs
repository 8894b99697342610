//! Rows: operations on the bits of integers, and the same on bools.
//!
//! A shift amount outside `0..width`, negative ones included, shifts everything out.

use crate::row::CpuSpelling::{Expansion, Guarded, Instruction};
use crate::row::{Algebra, BoolMeaning, CSpelling, CpuSpellings, Guard, IntMeaning, IntType, Primitive, int};
use crate::typing::Typing;

const BITWISE: Primitive = Primitive {
    params: &["lhs", "rhs"],
    typing: Typing::Bitwise,
    algebra: Algebra::LATTICE,
    ..Primitive::BLANK
};

pub(crate) const BITWISE_AND: Primitive = Primitive {
    name: "bitwise_and",
    algebra: Algebra { identity: Some(-1.0), ..Algebra::LATTICE },
    int: Some(int!(Binary: |a, b, _| a & b)),
    boolean: Some(BoolMeaning::Binary(|a, b| a & b)),
    cuda: CSpelling::NONE.and_int("({0} & {1})").and_bool("({0} && {1})"),
    cpu: CpuSpellings::int(Instruction("and")).and_bool(Instruction("and")),
    doc: "The bits set in both.",
    ..BITWISE
};

pub(crate) const BITWISE_OR: Primitive = Primitive {
    name: "bitwise_or",
    algebra: Algebra { identity: Some(0.0), ..Algebra::LATTICE },
    int: Some(int!(Binary: |a, b, _| a | b)),
    boolean: Some(BoolMeaning::Binary(|a, b| a | b)),
    cuda: CSpelling::NONE.and_int("({0} | {1})").and_bool("({0} || {1})"),
    cpu: CpuSpellings::int(Instruction("or")).and_bool(Instruction("or")),
    doc: "The bits set in either.",
    ..BITWISE
};

pub(crate) const BITWISE_XOR: Primitive = Primitive {
    name: "bitwise_xor",
    algebra: Algebra::monoid(0.0),
    int: Some(int!(Binary: |a, b, _| a ^ b)),
    boolean: Some(BoolMeaning::Binary(|a, b| a ^ b)),
    cuda: CSpelling::NONE.and_int("({0} ^ {1})").and_bool("({0} != {1})"),
    cpu: CpuSpellings::int(Instruction("xor")).and_bool(Instruction("xor")),
    doc: "The bits set in exactly one.",
    ..BITWISE
};

pub(crate) const BITWISE_NOT: Primitive = Primitive {
    name: "bitwise_not",
    params: &["x"],
    algebra: Algebra::NONE,
    int: Some(IntMeaning::Unary(|x, _| !x)),
    boolean: Some(BoolMeaning::Unary(|x| !x)),
    cuda: CSpelling::NONE.and_int("(~{0})").and_bool("(!{0})"),
    cpu: CpuSpellings::int(Expansion("bitwise_xor(x, -1)")).and_bool(Expansion("ne(x, 1)")),
    doc: "The bits not set.",
    ..BITWISE
};

pub(crate) const LEFT_SHIFT: Primitive = Primitive {
    name: "bitwise_left_shift",
    algebra: Algebra::right_identity(0.0),
    int: Some(int!(Binary: |a, b, ty| {
        let shifted = ty.wrap(a.wrapping_shl(b as u32));
        if is_amount(b, ty) { shifted } else { 0 }
    })),
    cuda: CSpelling::NONE.and_int("shift_left({0}, {1})").with_helper(
        "template <class T> __device__ inline T shift_left(T x, T amount) {\n  \
         return (unsigned long long)amount < sizeof(T) * 8 ? T((unsigned long long)x << amount) : T(0);\n}\n",
    ),
    cpu: CpuSpellings::int(Guarded("shl", Guard::ShiftToZero)),
    doc: "Bits moved up, zeros from below. By an amount outside 0 to the width: 0.",
    ..BITWISE
};

pub(crate) const RIGHT_SHIFT: Primitive = Primitive {
    name: "bitwise_right_shift",
    algebra: Algebra::right_identity(0.0),
    int: Some(int!(Binary: |a, b, ty| match ty.is_signed() {
        true => a >> if is_amount(b, ty) { b } else { i64::from(ty.bits()) - 1 },
        false => logical_right_shift(a, b, ty),
    })),
    cuda: CSpelling::NONE.and_int("shift_right({0}, {1})").with_helper(
        "template <class T> __device__ inline T shift_right(T x, T amount) {\n  \
         if ((unsigned long long)amount < sizeof(T) * 8) return x >> amount;\n  \
         return x < T(0) ? T(-1) : T(0);\n}\n",
    ),
    cpu: CpuSpellings::int(Guarded("ashr", Guard::ShiftToSign))
        .and_unsigned(Guarded("lshr", Guard::ShiftToZero)),
    doc: "Bits moved down, copies of the sign from above, zeros in u64. By an amount outside 0 to the width: 0 or -1.",
    ..BITWISE
};

pub(crate) const LOGICAL_RIGHT_SHIFT: Primitive = Primitive {
    name: "logical_right_shift",
    typing: Typing::Precise,
    algebra: Algebra::right_identity(0.0),
    int: Some(int!(Binary: logical_right_shift)),
    cuda: CSpelling::NONE.and_int("logical_shift_right({0}, {1})").with_helper(
        "__device__ inline int logical_shift_right(int x, int amount) {\n  \
         return (unsigned)amount < 32 ? int((unsigned)x >> amount) : 0;\n}\n\
         __device__ inline long long logical_shift_right(long long x, long long amount) {\n  \
         return (unsigned long long)amount < 64 ? (long long)((unsigned long long)x >> amount) : 0;\n}\n\
         __device__ inline unsigned long long logical_shift_right(unsigned long long x, unsigned long long amount) {\n  \
         return amount < 64 ? x >> amount : 0;\n}\n",
    ),
    cpu: CpuSpellings::int(Guarded("lshr", Guard::ShiftToZero)),
    doc: "Bits moved down, zeros from above. By an amount outside 0 to the width: 0.",
    ..BITWISE
};

#[inline(always)]
fn logical_right_shift(a: i64, b: i64, ty: IntType) -> i64 {
    let zeros_above = if ty.bits() == 32 { u64::from(a as u32) } else { a as u64 };
    let shifted = ty.wrap(zeros_above.wrapping_shr(b as u32) as i64);
    if is_amount(b, ty) { shifted } else { 0 }
}

/// Whether a shift amount is within the width; an unsigned one beyond 2^63 looks negative.
#[inline(always)]
fn is_amount(b: i64, ty: IntType) -> bool {
    (b as u64) < u64::from(ty.bits())
}
