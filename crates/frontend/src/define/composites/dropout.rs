//! Dropout: elements kept at random and scaled by one over the chance to be kept; and its gradient.

use ir::graph::Val;
use ops::{DType, Scalar, ScalarOp};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;

impl DefinitionBuilder {
    /// The result, and the mask of what was kept.
    pub(super) fn dropout(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (arg, dtype) = self.float_tensor(bound, "arg")?;
        let p = self.probability(bound, "p", dtype.compute())?;
        let drawn = self.uniform_like(arg)?;
        let [mask, scale] = self.kept(drawn, p)?;
        let result = self.masked(arg, mask, scale)?;
        Ok(vec![self.cast(result, dtype)?, mask])
    }

    /// The gradient where the mask holds, times the scale.
    pub(super) fn dropout_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let (grad, dtype) = self.float_tensor(bound, "grad")?;
        let mask = bound.tensor("mask")?.val;
        if self.graph.dtype(mask) != ops::DType::Bool {
            return Err(bound.reject("mask", "a tensor of bools"));
        }
        let scale = self.coefficient(bound, "scale", dtype.compute())?;
        let result = self.masked(grad, mask, scale)?;
        Ok(vec![self.cast(result, dtype)?])
    }

    /// A chance, in a dtype.
    pub(in crate::define) fn probability(
        &mut self,
        bound: &Bound,
        param: &str,
        dtype: DType,
    ) -> Result<Val, DefineError> {
        let p = self.coefficient(bound, param, dtype)?;
        if self.graph.as_constant(p).is_some_and(|p| !(0.0..=1.0).contains(&p.as_f64())) {
            return Err(bound.reject(param, "a probability, from 0 to 1"));
        }
        Ok(p)
    }

    /// What uniform numbers keep where each element is dropped by the chance `p`: a mask, and one over the chance to be
    /// kept, which keeps the mean.
    pub(in crate::define) fn kept(&mut self, drawn: Val, p: Val) -> Result<[Val; 2], DefineError> {
        let compute = self.graph.dtype(p);
        let one = self.constant(Scalar::one(compute))?;
        let kept = self.map(ScalarOp::Sub, &[one, p])?;
        let mask = self.map(ScalarOp::Le, &[drawn, kept])?;
        // Where nothing is kept the scale is 1, so that the result is 0.
        let scale = self.expression("1 / where(gt(kept, 0), kept, 1)", &["kept"], &[kept], compute)?;
        Ok([mask, scale])
    }

    /// `x mask scale`, in the compute dtype.
    pub(in crate::define) fn masked(&mut self, x: Val, mask: Val, scale: Val) -> Result<Val, DefineError> {
        let x = self.cast(x, self.graph.dtype(x).compute())?;
        let kept = self.map(ScalarOp::Mul, &[x, mask])?;
        self.map(ScalarOp::Mul, &[kept, scale])
    }
}
