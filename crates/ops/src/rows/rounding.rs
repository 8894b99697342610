//! Rows: rounding to whole numbers. Integers are already whole; NaN and infinities are returned unchanged.

use crate::row::{Algebra, CSpelling, CpuSpelling, CpuSpellings, FloatMeaning, IntMeaning, Primitive, float};
use crate::spread::Spread;
use crate::typing::Typing;

/// The columns that are common to all rows: all but name, meaning on floats, spellings and doc.
const fn rounding(
    name: &'static str,
    meaning: FloatMeaning,
    cuda: CSpelling,
    intrinsic: &'static str,
    doc: &'static str,
) -> Primitive {
    Primitive {
        name,
        params: &["x"],
        typing: Typing::Plain,
        algebra: Algebra::IDEMPOTENT,
        float: Some(meaning),
        int: Some(IntMeaning::Unary(|x, _| x)),
        boolean: None,
        cuda: cuda.and_int("{0}"),
        cpu: CpuSpellings::float(CpuSpelling::Intrinsic(intrinsic)).and_int(CpuSpelling::Move),
        ulp: 0.0,
        spread: Spread::Corners,
        doc,
    }
}

pub(crate) const FLOOR: Primitive = rounding(
    "floor",
    float!(Unary: f64::floor),
    CSpelling::float("floorf({0})", "floor({0})"),
    "llvm.floor",
    "The largest whole number not above x.",
);

pub(crate) const CEIL: Primitive = rounding(
    "ceil",
    float!(Unary: f64::ceil),
    CSpelling::float("ceilf({0})", "ceil({0})"),
    "llvm.ceil",
    "The smallest whole number not below x.",
);

pub(crate) const ROUND: Primitive = rounding(
    "round",
    float!(Unary: f64::round_ties_even),
    CSpelling::float("nearbyintf({0})", "nearbyint({0})"),
    "llvm.roundeven",
    "The nearest whole number; halfway, the even one.",
);

pub(crate) const TRUNC: Primitive = rounding(
    "trunc",
    float!(Unary: f64::trunc),
    CSpelling::float("truncf({0})", "trunc({0})"),
    "llvm.trunc",
    "The whole part of x.",
);
