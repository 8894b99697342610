//! Constants, sizes and conversions.

use std::sync::Arc;

use index::Expr;
use ir::definition::{NamedValue, Object};
use ir::graph::{ComputedSize, Shape, SymbolSource, TensorOp, Val};
use ops::{DType, Scalar};

use super::OpBuilder;
use crate::define::error::DefineError;

impl OpBuilder {
    /// A constant.
    pub fn constant(&mut self, scalar: Scalar) -> Result<Val, DefineError> {
        match scalar.dtype().is_complex() {
            true => self.complex_constant(scalar),
            false => self.add(TensorOp::Constant(scalar), &[]),
        }
    }

    /// The size of an axis as a scalar value.
    pub fn size_val(&mut self, size: Expr) -> Result<Val, DefineError> {
        match size.as_const() {
            Some(n) => self.constant(Scalar::from_i64(DType::I64, n)),
            None => self.add(TensorOp::Size(size), &[]),
        }
    }

    /// A value converted; itself if it has the dtype already.
    pub fn cast(&mut self, val: Val, dtype: DType) -> Result<Val, DefineError> {
        let from = self.graph.dtype(val);
        match self.graph.as_constant(val) {
            _ if from == dtype => Ok(val),
            _ if from.is_complex() || dtype.is_complex() => self.cast_complex(val, dtype),
            Some(scalar) => self.constant(scalar.cast(dtype)),
            None => self.add(TensorOp::Cast(dtype), &[val]),
        }
    }

    /// The size that a number or a scalar represents; `None` if sizes and scalar inputs do not determine it.
    pub fn as_size(&mut self, object: &Object) -> Option<Expr> {
        match object {
            Object::Value(value) => self.graph.as_size(value.val).or_else(|| self.computed_size(*value)),
            _ => object.as_int().map(Expr::constant),
        }
    }

    /// The symbol of a scalar that each call computes, because the algebra of sizes cannot express it.
    fn computed_size(&mut self, value: NamedValue) -> Option<Expr> {
        if !self.is_scalar(value) {
            return None;
        }
        let source = SymbolSource::Computed(Arc::new(ComputedSize::of(&self.graph, value.val)?));
        let symbol = self.graph.symbol_of(&source);
        let size = Expr::sym(symbol.unwrap_or_else(|| self.graph.add_symbol(source)));
        self.record.add_constraint(size.clone(), self.op, self.span);
        Some(size)
    }

    /// The shape of a value, cloned so that nodes can be added meanwhile.
    pub fn shape(&self, val: Val) -> Shape {
        self.graph.shape(val).clone()
    }

    /// The number of elements along some axes.
    pub fn count(&self, val: Val, axes: &[u8]) -> Expr {
        axes.iter().map(|&axis| self.graph.shape(val)[axis as usize].clone()).product()
    }
}
