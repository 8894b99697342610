//! Families of ops: for each op of the language a function over the builder that takes bound arguments and adds the nodes;
//! `scalar` has one for all elementwise ops. Arguments are real, except for folds and scans by a lambda; `complex` applies
//! other ops to parts.
//!
//! `scalar` (calls of elementwise ops) · `movement` (casts, broadcasts, reshapes, pads, joins, tensors without operands) ·
//! `slices` · `folds` · `scans` (and folds by a lambda) · `lambda` · `gathers` · `external` (sorts, scatter, products of
//! matrices) · `random` · `attention` · `composites` (softmax, normalizations and the like).

mod attention;
mod composites;
mod external;
pub(super) mod folds;
mod gathers;
mod lambda;
pub(super) mod movement;
mod random;
pub(super) mod scalar;
pub(super) mod scans;
mod slices;

use ir::graph::Val;
use ops::{LanguageOp, Monoid, ScalarOp};

use random::Distribution;

use super::arguments::Bound;
use super::builder::OpBuilder;
use super::error::DefineError;

/// The results of an op on real arguments.
pub(super) fn language_op(
    ops: &mut OpBuilder,
    tensor_op: LanguageOp,
    bound: &Bound,
) -> Result<Vec<Val>, DefineError> {
    if let Some(vals) = composites::composite(ops, tensor_op, bound) {
        let vals = vals?;
        ops.add_pattern(tensor_op.name(), bound.objects(), &vals);
        return Ok(vals);
    }
    let vals = match tensor_op {
        LanguageOp::Full => vec![movement::full(ops, bound)?],
        LanguageOp::Cat => vec![movement::cat(ops, bound)?],
        LanguageOp::Iota => vec![movement::iota(ops, bound)?],
        LanguageOp::EmbeddingFwd => vec![gathers::embedding(ops, bound)?],
        LanguageOp::Scatter => vec![external::scatter(ops, bound)?],
        LanguageOp::Matmul => vec![external::matmul(ops, bound)?],
        LanguageOp::Linear => vec![external::linear(ops, bound)?],
        LanguageOp::GroupedMm => vec![external::grouped_mm(ops, bound)?],
        LanguageOp::SdpfaFwd => attention::forward(ops, bound)?,
        LanguageOp::SdpfaBwd => attention::backward(ops, bound)?,
        LanguageOp::Uniform => vec![random::draw(ops, Distribution::Uniform, bound)?],
        LanguageOp::Normal => vec![random::draw(ops, Distribution::Normal, bound)?],
        LanguageOp::Fold => scans::general_fold(ops, bound)?,
        LanguageOp::Scan => scans::general_scan(ops, bound)?,
        _ => {
            let arg = ops.tensor(bound)?;
            op_of_tensor(ops, tensor_op, bound, arg)?
        }
    };
    if is_pattern(tensor_op) {
        ops.add_pattern(tensor_op.name(), bound.objects(), &vals);
    }
    Ok(vals)
}

fn op_of_tensor(
    ops: &mut OpBuilder,
    tensor_op: LanguageOp,
    bound: &Bound,
    arg: Val,
) -> Result<Vec<Val>, DefineError> {
    let one = match tensor_op {
        LanguageOp::Broadcast => movement::broadcast(ops, bound, arg),
        LanguageOp::BroadcastInDim => movement::broadcast_in_dim(ops, bound, arg),
        LanguageOp::Expand => movement::expand(ops, bound, arg),
        LanguageOp::Squeeze => movement::squeeze(ops, bound, arg),
        LanguageOp::Reshape => movement::reshape(ops, bound, arg),
        LanguageOp::Permute => movement::permute(ops, bound, arg),
        LanguageOp::Slice => slices::slice(ops, bound, arg),
        LanguageOp::Pad => movement::pad(ops, bound, arg),
        LanguageOp::Gather => gathers::torch_gather(ops, bound, arg),
        LanguageOp::TakeAlongAxis => gathers::take_along_axis(ops, bound, arg),
        LanguageOp::IndexSelect => gathers::index_select(ops, bound, arg),
        LanguageOp::Select => gathers::select(ops, bound, arg),
        LanguageOp::Triu => gathers::triu(ops, bound, arg),
        LanguageOp::Any => folds::quantifier(ops, Monoid::Max, bound, arg),
        LanguageOp::All => folds::quantifier(ops, Monoid::Min, bound, arg),
        LanguageOp::Argmax => folds::extreme_index(ops, Monoid::Argmax, bound, arg),
        LanguageOp::Argmin => folds::extreme_index(ops, Monoid::Argmin, bound, arg),
        LanguageOp::Cumsum => scans::scan(ops, Monoid::Sum, ScalarOp::Add, bound, arg),
        LanguageOp::Cumprod => scans::scan(ops, Monoid::Prod, ScalarOp::Mul, bound, arg),
        LanguageOp::Cummax => scans::scan(ops, Monoid::Max, ScalarOp::Maximum, bound, arg),
        LanguageOp::Cummin => scans::scan(ops, Monoid::Min, ScalarOp::Minimum, bound, arg),
        LanguageOp::Sum => folds::reduction(ops, Monoid::Sum, bound, arg),
        LanguageOp::Prod => folds::reduction(ops, Monoid::Prod, bound, arg),
        LanguageOp::Max => folds::reduction(ops, Monoid::Max, bound, arg),
        LanguageOp::Min => folds::reduction(ops, Monoid::Min, bound, arg),
        LanguageOp::Argsort => external::argsort(ops, bound, arg),
        LanguageOp::Topk => return external::topk(ops, bound, arg),
        LanguageOp::RandLike => random::draw_like(ops, Distribution::Uniform, bound, arg),
        LanguageOp::RandnLike => random::draw_like(ops, Distribution::Normal, bound, arg),
        LanguageOp::Var => folds::var_mean(ops, bound, arg).map(|(var, _)| var),
        LanguageOp::VarMean => return folds::var_mean(ops, bound, arg).map(|(var, mean)| vec![var, mean]),
        LanguageOp::Welford => {
            let axes = folds::moment_axes(ops, bound, arg)?;
            let moments = folds::welford(ops, arg, axes, false)?;
            return Ok(vec![moments.mean, moments.m2, moments.count]);
        }
        _ => unreachable!("{} is called in a way of its own", tensor_op.name()),
    };
    one.map(|val| vec![val])
}

/// Whether an op is recorded as a pattern that the user wrote, as composites are.
fn is_pattern(op: LanguageOp) -> bool {
    use LanguageOp::{Linear, Matmul, SdpfaBwd, SdpfaFwd, Var, VarMean};
    matches!(op, Linear | Matmul | SdpfaFwd | SdpfaBwd | Var | VarMean)
}
