//! Tensor composites: softmax, normalizations, dropout, with their gradients, written out of folds and primitives.
//!
//! They compute in f32 (f64 for f64) and round once at the end, to the dtype of the operand. `softmax` · `normalize`
//! (what all normalizations share) · `layers` (over trailing dimensions) · `channels` (batch, instance and group) ·
//! `dropout` · `averages`.

mod averages;
mod channels;
mod dropout;
mod layers;
mod normalize;
mod softmax;

use ir::definition::Object;
use ir::graph::Val;
use ops::{DType, LanguageOp, Scalar, ScalarOp};

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

impl DefinitionBuilder {
    /// The results of a composite; nothing if the op is none.
    pub(super) fn composite(
        &mut self,
        op: LanguageOp,
        bound: &Bound,
    ) -> Option<Result<Vec<Val>, DefineError>> {
        Some(match op {
            LanguageOp::Softmax => self.softmax(bound, false),
            LanguageOp::LogSoftmax => self.softmax(bound, true),
            LanguageOp::SoftmaxBackward => self.softmax_backward(bound, false),
            LanguageOp::LogSoftmaxBackward => self.softmax_backward(bound, true),
            LanguageOp::LayerNorm => self.layer_norm(bound),
            LanguageOp::LayerNormBackward => self.layer_norm_backward(bound),
            LanguageOp::RmsNorm => self.rms_norm(bound),
            LanguageOp::RmsNormBackward => self.rms_norm_backward(bound),
            LanguageOp::BatchNorm => self.batch_norm(bound),
            LanguageOp::BatchNormBackward => self.batch_norm_backward(bound),
            LanguageOp::InstanceNorm => self.instance_norm(bound),
            LanguageOp::InstanceNormBackward => self.instance_norm_backward(bound),
            LanguageOp::GroupNorm => self.group_norm(bound),
            LanguageOp::GroupNormBackward => self.group_norm_backward(bound),
            LanguageOp::Dropout => self.dropout(bound),
            LanguageOp::DropoutBackward => self.dropout_backward(bound),
            LanguageOp::Mean => self.mean(bound),
            LanguageOp::StandardDeviation => self.standard_deviation(bound),
            _ => return None,
        })
    }

    /// A tensor of floats: the argument, and its dtype.
    fn float_tensor(&self, bound: &Bound, param: &str) -> Result<(Val, DType), DefineError> {
        let value = bound.tensor(param)?;
        let dtype = self.graph.dtype(value.val);
        match dtype.is_float() && !self.is_scalar(value) {
            true => Ok((value.val, dtype)),
            false => {
                let error = self.reject("a tensor of floats", format!("one of {dtype}")).argument(param);
                Err(error.at(bound.span_of(param)))
            }
        }
    }

    /// A number or a scalar in a dtype.
    fn coefficient(&mut self, bound: &Bound, param: &str, dtype: DType) -> Result<Val, DefineError> {
        match bound.object(param) {
            Object::Number(number) => self.constant(number.cast(dtype)),
            Object::Value(value) if self.graph.shape(value.val).is_empty() => self.cast(value.val, dtype),
            Object::None => self.constant(Scalar::zero(dtype)),
            _ => Err(bound.reject(param, "a number or a scalar")),
        }
    }

    /// `rsqrt(x + eps)`.
    fn inverse_root(&mut self, bound: &Bound, x: Val) -> Result<Val, DefineError> {
        let eps = self.coefficient(bound, "eps", self.graph.dtype(x))?;
        let shifted = self.map(ScalarOp::Add, &[x, eps])?;
        self.map(ScalarOp::Rsqrt, &[shifted])
    }
}
