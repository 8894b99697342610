//! Normalizations over the trailing dimensions: layer_norm and rms_norm, and their gradients.

use ir::graph::{Axes, Val};
use ops::{DType, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::normalize::{Normalized, Statistics};

impl DefinitionBuilder {
    pub(super) fn layer_norm(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.trailing(bound, true)?;
        let statistics = self.statistics(bound, &normalized)?;
        let standardized = self.standardized(normalized.x, statistics)?;
        let result = self.affine(bound, &normalized, standardized)?;
        Ok(vec![self.cast(result, dtype)?])
    }

    pub(super) fn rms_norm(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.trailing(bound, false)?;
        let statistics = self.statistics(bound, &normalized)?;
        let scaled = self.standardized(normalized.x, statistics)?;
        let weight = self.parameter(bound, "weight", &normalized)?;
        let result = match weight {
            Some(weight) => self.map(ScalarOp::Mul, &[scaled, weight])?,
            None => scaled,
        };
        Ok(vec![self.cast(result, dtype)?])
    }

    /// The gradients of operand, weight and bias.
    pub(super) fn layer_norm_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        self.trailing_backward(bound, true)
    }

    /// The gradients of operand and weight.
    pub(super) fn rms_norm_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let mut gradients = self.trailing_backward(bound, false)?;
        gradients.truncate(2);
        Ok(gradients)
    }

    fn trailing_backward(&mut self, bound: &Bound, centred: bool) -> Result<Vec<Val>, DefineError> {
        let (normalized, dtype) = self.trailing(bound, centred)?;
        let (grad, _) = self.float_tensor(bound, "grad")?;
        let dy = self.cast(grad, dtype.compute())?;
        let mean = if centred { Some(self.saved(bound, "mean", &normalized)?) } else { None };
        let statistics = Statistics { mean, scale: self.saved(bound, "invstd", &normalized)? };
        let weight = self.parameter(bound, "weight", &normalized)?;
        let gradients = self.gradients(&normalized, statistics, (dy, weight), false)?;
        self.rounded(bound, gradients, dtype)
    }

    /// The operand and the axes of `normalized_shape`; that the sizes agree becomes a fact.
    fn trailing(&mut self, bound: &Bound, centred: bool) -> Result<(Normalized, DType), DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let shape = self.shape(arg);
        let wanted = self.sizes(bound, "normalized_shape")?;
        if wanted.is_empty() || wanted.len() > shape.len() {
            let expected = format!("a list of 1 to {} sizes", shape.len());
            return Err(bound.reject("normalized_shape", &expected));
        }
        let first = shape.len() - wanted.len();
        for (size, wanted) in shape[first..].iter().zip(&wanted) {
            let Some(wanted) = wanted else { continue };
            if self.facts.prove_ne(size, wanted) || self.facts.assume_equal(size, wanted).is_err() {
                let trailing: Vec<String> = shape[first..].iter().map(|size| size.to_string()).collect();
                let expected = format!("the trailing sizes [{}]", trailing.join(", "));
                return Err(bound.reject("normalized_shape", &expected));
            }
        }
        let over: Axes = (first as u8..shape.len() as u8).collect();
        let x = self.cast(arg, dtype.compute())?;
        Ok((Normalized { x, along: over.clone(), over, centred }, dtype))
    }
}
