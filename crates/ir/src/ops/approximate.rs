//! Rows: cheaper forms of other rows, good enough for what is rounded to a half type. They mean the same; their bounds
//! are wider. The compiler puts them where they do not show; no definition names them.

use super::Prim;
use super::arithmetic::RECIPROCAL;
use super::row::{Approximation, CpuSpelling, CpuSpellings, Primitive};
use super::transcendental::EXP;

pub(super) const EXP_HALF: Primitive = Primitive {
    name: "exp_half",
    cpu: CpuSpellings::float(CpuSpelling::Approximate(Approximation::Exp)),
    ulp: 256.0,
    doc: "e to the power x, to 16 bits.",
    ..EXP
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
            Some(CpuSpelling::Approximate(Approximation::Exp)) => Prim::Exp,
            Some(CpuSpelling::Approximate(Approximation::Reciprocal)) => Prim::Reciprocal,
            _ => self,
        }
    }
}
