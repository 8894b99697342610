//! One random op with its arguments, after calls that keep its operands in a moderate range, so that error bounds stay
//! finite.
//!
//! If the drawn arguments do not fit there is no call, and another is drawn. `caller` has the common parts of drawing;
//! families of ops are functions over it, one file for each.

mod attention;
mod caller;
mod external;
mod folds;
mod gathers;
mod movement;
mod normalizations;
mod random;
mod scalar;
mod scans;

use ops::LanguageOp;
use ops::call::OpRef;

use super::Draws;
use super::program::{Draft, Step};
use caller::Caller;

pub(super) use caller::Context;

/// The drawn calls, and the program with them.
pub(super) struct Called {
    /// The last one is the call of the op; earlier ones prepare its operands.
    pub steps: Vec<Step>,
    pub draft: Draft,
}

/// A call of this op, or of any; `None` if the drawn arguments do not fit.
pub(super) fn call(context: Context<'_>, op: Option<OpRef>, draws: &mut Draws) -> Option<Called> {
    let mut caller =
        Caller { draft: context.draft.clone(), next: context.next, context, draws, steps: Vec::new() };
    match op {
        Some(OpRef::Language(op)) => language_op(&mut caller, op)?,
        Some(op) => scalar::scalar_op(&mut caller, op)?,
        None => any(&mut caller)?,
    }
    Some(Called { steps: caller.steps, draft: caller.draft })
}

/// Percentages of calls and their ops; the other calls are scalar ops and folds together with their operands.
const USUAL: &[(usize, &[LanguageOp])] = {
    use LanguageOp::*;
    &[
        (5, &[TakeAlongAxis, TakeAlongAxis, Gather, Gather, IndexSelect, EmbeddingFwd, Select, Triu]),
        (3, &[Uniform, Uniform, Normal, RandLike, RandnLike, Dropout, DropoutBackward]),
        (6, &[Argsort, Topk, Scatter, Matmul, Matmul, Linear, GroupedMm, SdpfaFwd, SdpfaBwd]),
        (5, &[Cast]),
        (8, &[BroadcastInDim]),
        (4, &[Broadcast, Expand, Squeeze]),
        (5, &[Reshape]),
        (5, &[Permute]),
        (4, &[Slice]),
        (3, &[Pad]),
        (3, &[Cat]),
        (5, &[Sum, Sum, Sum, Max, Min, Prod, Any, All, Var, VarMean, Welford, Argmax, Argmin]),
        (2, &[Fold]),
        (3, &[Scan, Scan, Cumsum, Cumprod, Cummax, Cummin]),
        (4, &[Softmax, LogSoftmax, LayerNorm, RmsNorm, BatchNorm, InstanceNorm, GroupNorm, Mean]),
        (2, &[Full, Iota]),
        (1, &[StrideOrder]),
    ]
};

fn any(caller: &mut Caller<'_>) -> Option<()> {
    let mut place = caller.draws.below(100);
    for (share, ops) in USUAL {
        match place.checked_sub(*share) {
            Some(rest) => place = rest,
            None => {
                let op = caller.draws.one_of(ops);
                return language_op(caller, op);
            }
        }
    }
    if place < 6 { folds::deviation(caller) } else { scalar::any_scalar_op(caller) }
}

/// A call of this op; an op without a case would not compile.
fn language_op(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    use LanguageOp::*;
    match op {
        Cast => scalar::cast(caller),
        Broadcast => movement::broadcast(caller),
        BroadcastInDim => movement::broadcast_in_dim(caller),
        Expand => movement::expand(caller),
        Squeeze => movement::squeeze(caller),
        Reshape => movement::reshape(caller),
        Permute => movement::permute(caller),
        StrideOrder => movement::stride_order(caller),
        Slice => movement::slice(caller),
        Pad => movement::pad(caller),
        Cat => movement::cat(caller),
        Gather | TakeAlongAxis => gathers::along(caller, op),
        IndexSelect => gathers::index_select(caller),
        Select => gathers::select(caller),
        EmbeddingFwd => gathers::embedding(caller),
        Triu => gathers::triu(caller),
        Sum | Prod | Max | Min | Var | VarMean | Welford | Any | All | Mean | StandardDeviation => {
            folds::fold(caller, op)
        }
        Argmax | Argmin => folds::place(caller, op),
        Fold => scans::general_fold(caller),
        Cumsum | Cumprod | Cummax | Cummin => scans::scan(caller, op),
        Scan => scans::general_scan(caller),
        Full => movement::full(caller),
        Iota => movement::iota(caller),
        Argsort => external::argsort(caller).map(drop),
        Topk => external::topk(caller),
        Scatter => external::scatter(caller),
        Matmul => external::matmul(caller),
        Linear => external::linear(caller),
        GroupedMm => external::grouped_mm(caller),
        SdpfaFwd => attention::forward(caller),
        SdpfaBwd => attention::backward(caller),
        Uniform | Normal => random::draw(caller, op),
        RandLike | RandnLike => random::draw_like(caller, op),
        Size => movement::full_of_size(caller),
        Shape => movement::full_of_shape(caller),
        Softmax | LogSoftmax => normalizations::softmax(caller, op).map(drop),
        SoftmaxBackward => normalizations::softmax_backward(caller, op, Softmax),
        LogSoftmaxBackward => normalizations::softmax_backward(caller, op, LogSoftmax),
        LayerNorm | RmsNorm => normalizations::layer_norm(caller, op),
        LayerNormBackward | RmsNormBackward => normalizations::layer_norm_backward(caller, op),
        BatchNorm | InstanceNorm => normalizations::channel_norm(caller, op).map(drop),
        BatchNormBackward => normalizations::channel_norm_backward(caller, op, BatchNorm),
        InstanceNormBackward => normalizations::channel_norm_backward(caller, op, InstanceNorm),
        GroupNorm => normalizations::group_norm(caller),
        GroupNormBackward => normalizations::group_norm_backward(caller),
        Dropout => random::dropout(caller).map(drop),
        DropoutBackward => random::dropout_backward(caller),
    }
}
