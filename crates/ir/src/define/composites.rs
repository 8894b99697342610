//! Tensor composites: softmax, log_softmax, layer_norm, rms_norm, written out of folds and primitives.
//!
//! They compute in f32 (f64 for f64) and round once at the end, to the dtype of the operand.

use super::arguments::Bound;
use super::definer::Definer;
use super::error::DefineError;
use crate::graph::{Axes, Val};
use crate::ops::{Monoid, Prim};
use crate::{DType, Scalar};

impl Definer {
    /// `exp(x - max)` over its sum along an axis; its logarithm if `log`.
    pub(super) fn softmax(&mut self, bound: &Bound, arg: Val, log: bool) -> Result<Val, DefineError> {
        let dtype = self.float_dtype(bound, arg)?;
        let axis = bound.axis("dim", self.graph.shape(arg).len())?;
        let axes = Axes::from_slice(&[axis as u8]);
        let x = self.cast(arg, dtype.compute())?;
        let greatest = self.fold(Monoid::Max, x, axes.clone(), true)?;
        let shifted = self.map(Prim::Sub, &[x, greatest])?;
        let powers = self.map(Prim::Exp, &[shifted])?;
        let sum = self.fold(Monoid::Sum, powers, axes, true)?;
        let result = if log {
            let logarithm = self.map(Prim::Log, &[sum])?;
            self.map(Prim::Sub, &[shifted, logarithm])?
        } else {
            self.map(Prim::Div, &[powers, sum])?
        };
        self.cast(result, dtype)
    }

    pub(super) fn layer_norm(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let dtype = self.float_dtype(bound, arg)?;
        let axes = self.normalized_axes(bound, arg)?;
        let x = self.cast(arg, dtype.compute())?;
        let count = self.divisor(x, &axes, 0)?;
        let moments = self.welford(x, axes, true)?;
        let variance = self.map(Prim::Div, &[moments.m2, count])?;
        let scale = self.inverse_root(bound, variance)?;
        let centred = self.map(Prim::Sub, &[x, moments.mean])?;
        let mut result = self.map(Prim::Mul, &[centred, scale])?;
        for (param, prim) in [("weight", Prim::Mul), ("bias", Prim::Add)] {
            result = self.with_parameter(bound, param, prim, result)?;
        }
        self.cast(result, dtype)
    }

    pub(super) fn rms_norm(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let dtype = self.float_dtype(bound, arg)?;
        let axes = self.normalized_axes(bound, arg)?;
        let x = self.cast(arg, dtype.compute())?;
        let count = self.divisor(x, &axes, 0)?;
        let squares = self.map(Prim::Mul, &[x, x])?;
        let sum = self.fold(Monoid::Sum, squares, axes, true)?;
        let mean = self.map(Prim::Div, &[sum, count])?;
        let scale = self.inverse_root(bound, mean)?;
        let scaled = self.map(Prim::Mul, &[x, scale])?;
        let result = self.with_parameter(bound, "weight", Prim::Mul, scaled)?;
        self.cast(result, dtype)
    }

    fn float_dtype(&self, bound: &Bound, arg: Val) -> Result<DType, DefineError> {
        let dtype = self.graph.dtype(arg);
        let refuse = || self.refuse("a tensor of floats", format!("one of {dtype}")).argument("arg");
        if dtype.is_float() { Ok(dtype) } else { Err(refuse().at(bound.span(0))) }
    }

    /// The trailing axes that `normalized_shape` names; that the sizes agree becomes a fact.
    fn normalized_axes(&mut self, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
        let shape = self.shape(arg);
        let wanted = self.sizes(bound, "normalized_shape")?;
        if wanted.is_empty() || wanted.len() > shape.len() {
            let expected = format!("a list of 1 to {} sizes", shape.len());
            return Err(bound.refuse("normalized_shape", &expected));
        }
        let first = shape.len() - wanted.len();
        for (size, wanted) in shape[first..].iter().zip(&wanted) {
            let Some(wanted) = wanted else { continue };
            if self.facts.prove_ne(size, wanted) || self.facts.assume_equal(size, wanted).is_err() {
                let trailing: Vec<String> = shape[first..].iter().map(|size| size.to_string()).collect();
                let expected = format!("the trailing sizes [{}]", trailing.join(", "));
                return Err(bound.refuse("normalized_shape", &expected));
            }
        }
        Ok((first as u8..shape.len() as u8).collect())
    }

    /// `rsqrt(x + eps)`.
    fn inverse_root(&mut self, bound: &Bound, x: Val) -> Result<Val, DefineError> {
        let dtype = self.graph.dtype(x);
        let eps = match bound.object("eps").as_value() {
            Some(value) if self.graph.shape(value.val).is_empty() => self.cast(value.val, dtype)?,
            Some(_) => return Err(bound.refuse("eps", "a number or a scalar")),
            None => {
                let number = self.number(bound, "eps");
                self.constant(number.unwrap_or_else(|| Scalar::zero(dtype)).cast(dtype))?
            }
        };
        let shifted = self.map(Prim::Add, &[x, eps])?;
        self.map(Prim::Rsqrt, &[shifted])
    }

    fn number(&self, bound: &Bound, param: &str) -> Option<Scalar> {
        match bound.object(param) {
            super::Object::Number(scalar) => Some(*scalar),
            _ => None,
        }
    }

    fn with_parameter(&mut self, bound: &Bound, param: &str, prim: Prim, x: Val) -> Result<Val, DefineError> {
        let Some(tensor) = bound.optional_tensor(param) else { return Ok(x) };
        if self.is_scalar(tensor) || self.graph.shape(tensor.val).len() > self.graph.shape(x).len() {
            return Err(bound.refuse(param, "a tensor of the normalized shape"));
        }
        let tensor = self.cast(tensor.val, self.graph.dtype(x))?;
        self.map(prim, &[x, tensor])
    }
}
