//! Complex values: each is an input, or `complex(re, im)` of two real values, its parts.

use index::Expr;
use ir::graph::{TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};

use super::OpBuilder;
use crate::define::error::DefineError;

/// The real and the imaginary part of a complex value.
pub(in crate::define) type Parts = [Val; 2];

impl OpBuilder {
    /// The parts of a complex value. A scalar part holds for all elements.
    pub fn parts(&mut self, val: Val) -> Result<Parts, DefineError> {
        debug_assert!(self.graph.dtype(val).is_complex(), "parts of a real value");
        match (self.graph.op(val), self.graph.operands(val)) {
            (TensorOp::Map(ScalarOp::Complex), &[re, im]) => Ok([re, im]),
            _ => Ok([
                self.add(TensorOp::Map(ScalarOp::Real), &[val])?,
                self.add(TensorOp::Map(ScalarOp::Imag), &[val])?,
            ]),
        }
    }

    /// The parts of a complex value, both in its shape.
    pub fn whole_parts(&mut self, val: Val) -> Result<Parts, DefineError> {
        let [re, im] = self.parts(val)?;
        Ok([self.spread_over(re, val)?, self.spread_over(im, val)?])
    }

    /// A part, or a value computed from one part, expanded to the shape of `whole`.
    pub fn spread_over(&mut self, part: Val, whole: Val) -> Result<Val, DefineError> {
        let (has, shape) = (self.shape(part), self.shape(whole));
        match has.is_empty() {
            _ if has == shape => Ok(part),
            true => self.repeat(part, shape),
            false if shape.iter().all(Expr::is_one) => Ok(part),
            false => self.add(TensorOp::Expand(shape), &[part]),
        }
    }

    /// The complex value of these parts.
    pub fn pair(&mut self, [re, im]: Parts) -> Result<Val, DefineError> {
        self.add(TensorOp::Map(ScalarOp::Complex), &[re, im])
    }

    /// A complex constant.
    pub fn complex_constant(&mut self, scalar: Scalar) -> Result<Val, DefineError> {
        let parts = [self.constant(scalar.real())?, self.constant(scalar.imag())?];
        self.pair(parts)
    }

    /// A value converted from or to a complex dtype: a real number gets the imaginary part zero, and a complex one loses its
    /// imaginary part. A bool says whether either part is not zero.
    pub fn cast_complex(&mut self, val: Val, dtype: DType) -> Result<Val, DefineError> {
        let part = dtype.real();
        if !self.graph.dtype(val).is_complex() {
            let re = self.cast(val, part)?;
            let im = self.constant(Scalar::zero(part))?;
            return self.pair([re, im]);
        }
        let [re, im] = self.parts(val)?;
        let [re, im] = [self.cast(re, part)?, self.cast(im, part)?];
        match dtype {
            DType::Bool => self.add(TensorOp::Map(ScalarOp::LogicalOr), &[re, im]),
            _ if dtype.is_complex() => self.pair([re, im]),
            _ => self.spread_over(re, val),
        }
    }
}
