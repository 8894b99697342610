//! Tensor composites: softmax, normalizations, dropout, with their gradients, composed of folds and primitives.
//!
//! They compute in f32 (f64 for f64) and round once at the end, to the dtype of the operand. `softmax` · `normalize` (the
//! common part of all normalizations) · `layers` (over trailing dimensions) · `channels` (batch, instance and group) ·
//! `dropout` · `averages`.

mod averages;
mod channels;
pub(super) mod dropout;
mod layers;
mod normalize;
mod softmax;

use ir::graph::Val;
use ops::LanguageOp;

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// The results of a composite; `None` if the op is no composite.
pub(super) fn composite(
    ops: &mut OpBuilder,
    op: LanguageOp,
    bound: &Bound,
) -> Option<Result<Vec<Val>, DefineError>> {
    Some(match op {
        LanguageOp::Softmax => softmax::forward(ops, bound, false),
        LanguageOp::LogSoftmax => softmax::forward(ops, bound, true),
        LanguageOp::SoftmaxBackward => softmax::backward(ops, bound, false),
        LanguageOp::LogSoftmaxBackward => softmax::backward(ops, bound, true),
        LanguageOp::LayerNorm => layers::layer_norm(ops, bound),
        LanguageOp::LayerNormBackward => layers::layer_norm_backward(ops, bound),
        LanguageOp::RmsNorm => layers::rms_norm(ops, bound),
        LanguageOp::RmsNormBackward => layers::rms_norm_backward(ops, bound),
        LanguageOp::BatchNorm => channels::batch_norm(ops, bound),
        LanguageOp::BatchNormBackward => channels::batch_norm_backward(ops, bound),
        LanguageOp::InstanceNorm => channels::instance_norm(ops, bound),
        LanguageOp::InstanceNormBackward => channels::instance_norm_backward(ops, bound),
        LanguageOp::GroupNorm => channels::group_norm(ops, bound),
        LanguageOp::GroupNormBackward => channels::group_norm_backward(ops, bound),
        LanguageOp::Dropout => dropout::forward(ops, bound),
        LanguageOp::DropoutBackward => dropout::backward(ops, bound),
        LanguageOp::Mean => averages::mean(ops, bound),
        LanguageOp::StandardDeviation => averages::standard_deviation(ops, bound),
        _ => return None,
    })
}
