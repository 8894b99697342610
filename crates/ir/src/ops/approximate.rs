//! Rows: cheaper forms of other rows, good enough for what is rounded to a half type. They mean the same; their bounds
//! are wider. The compiler puts them where they do not show; no definition names them.

use super::Prim;
use super::arithmetic::RECIPROCAL;
use super::row::{Approximation, CpuSpelling, CpuSpellings, Primitive};
use super::transcendental::EXP2;

/// A row as precise as `ulp` says, which code computes in a way of its own.
const fn cheaper(
    row: Primitive,
    name: &'static str,
    way: Approximation,
    ulp: f64,
    doc: &'static str,
) -> Primitive {
    Primitive { name, cpu: CpuSpellings::float(CpuSpelling::Approximate(way)), ulp, doc, ..row }
}

pub(super) const EXP2_HALF: Primitive =
    cheaper(EXP2, "exp2_half", Approximation::Exp2, 96.0, "2 to the power x, to 18 bits.");

pub(super) const EXP2_BF16: Primitive =
    cheaper(EXP2, "exp2_bf16", Approximation::Exp2Bf16, 2048.0, "2 to the power x, to 13 bits.");

pub(super) const RECIPROCAL_HALF: Primitive =
    cheaper(RECIPROCAL, "reciprocal_half", Approximation::Reciprocal, 1024.0, "One over x, to 14 bits.");

impl Prim {
    /// The op that it is a cheaper form of, or itself.
    pub fn precise(self) -> Prim {
        match self.row().cpu.float {
            Some(CpuSpelling::Approximate(Approximation::Exp2 | Approximation::Exp2Bf16)) => Prim::Exp2,
            Some(CpuSpelling::Approximate(Approximation::Reciprocal)) => Prim::Reciprocal,
            _ => self,
        }
    }
}
