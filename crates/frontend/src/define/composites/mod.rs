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
use ops::{DType, FormOp, Prim, Scalar};

use super::arguments::Bound;
use super::definer::Definer;
use super::error::DefineError;

impl Definer {
    /// The results of a composite; nothing if the form is none.
    pub(super) fn composite(&mut self, form: FormOp, bound: &Bound) -> Option<Result<Vec<Val>, DefineError>> {
        Some(match form {
            FormOp::Softmax => self.softmax(bound, false),
            FormOp::LogSoftmax => self.softmax(bound, true),
            FormOp::SoftmaxBackward => self.softmax_backward(bound, false),
            FormOp::LogSoftmaxBackward => self.softmax_backward(bound, true),
            FormOp::LayerNorm => self.layer_norm(bound),
            FormOp::LayerNormBackward => self.layer_norm_backward(bound),
            FormOp::RmsNorm => self.rms_norm(bound),
            FormOp::RmsNormBackward => self.rms_norm_backward(bound),
            FormOp::BatchNorm => self.batch_norm(bound),
            FormOp::BatchNormBackward => self.batch_norm_backward(bound),
            FormOp::InstanceNorm => self.instance_norm(bound),
            FormOp::InstanceNormBackward => self.instance_norm_backward(bound),
            FormOp::GroupNorm => self.group_norm(bound),
            FormOp::GroupNormBackward => self.group_norm_backward(bound),
            FormOp::Dropout => self.dropout(bound),
            FormOp::DropoutBackward => self.dropout_backward(bound),
            FormOp::Mean => self.mean(bound),
            FormOp::StandardDeviation => self.standard_deviation(bound),
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
                let error = self.refuse("a tensor of floats", format!("one of {dtype}")).argument(param);
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
            _ => Err(bound.refuse(param, "a number or a scalar")),
        }
    }

    /// `rsqrt(x + eps)`.
    fn inverse_root(&mut self, bound: &Bound, x: Val) -> Result<Val, DefineError> {
        let eps = self.coefficient(bound, "eps", self.graph.dtype(x))?;
        let shifted = self.map(Prim::Add, &[x, eps])?;
        self.map(Prim::Rsqrt, &[shifted])
    }
}
