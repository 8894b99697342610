//! Rows: cheaper forms of other rows, good enough for what is rounded to a half type. They mean the same; their bounds
//! are wider. The compiler puts them where they do not show; no definition names them.

use super::Prim;
use super::arithmetic::RECIPROCAL;
use super::row::{Approximation, CpuSpelling, CpuSpellings, Primitive};
use super::transcendental::EXP2;

pub(super) const EXP2_HALF: Primitive = Primitive {
    name: "exp2_half",
    cpu: CpuSpellings::float(CpuSpelling::Approximate(Approximation::Exp2)),
    ulp: 96.0,
    doc: "2 to the power x, to 18 bits.",
    ..EXP2
};

pub(super) const EXP2_BF16: Primitive = Primitive {
    name: "exp2_bf16",
    cpu: CpuSpellings::float(CpuSpelling::Approximate(Approximation::Exp2Bf16)),
    ulp: 2048.0,
    doc: "2 to the power x, to 13 bits.",
    ..EXP2
};

pub(super) const RECIPROCAL_HALF: Primitive = Primitive {
    name: "reciprocal_half",
    cpu: CpuSpellings::float(CpuSpelling::Approximate(Approximation::Reciprocal)),
    ulp: 1024.0,
    doc: "One over x, to 14 bits.",
    ..RECIPROCAL
};

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
