//! Random folds, alone and together with their operands.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Caller, operands};
use crate::random::program::{Given, Tensor};

pub(super) fn fold(caller: &mut Caller<'_>, language_op: LanguageOp) -> Option<()> {
    use LanguageOp::{Max, Min, Prod, StandardDeviation, Sum, Var, VarMean, Welford};
    let tensor = caller.number_tensor()?;
    let mut arguments = operands([tensor]);
    let needs_axes = matches!(language_op, Var | VarMean | Welford);
    if needs_axes || caller.draws.percent(85) {
        let axes = some_axes(caller, tensor);
        arguments.push((Some("dims"), Given::Numbers(axes)));
    }
    if language_op != Welford && caller.draws.percent(50) {
        arguments.push((Some("keepdim"), Given::flag(true)));
    }
    if matches!(language_op, Sum | Prod | Max | Min) && caller.draws.percent(25) {
        arguments.push((Some("dtype"), Given::DType(folded_dtype(caller, tensor))));
    }
    if matches!(language_op, Var | VarMean | StandardDeviation) && caller.draws.percent(50) {
        arguments.push((Some("correction"), Given::int(caller.draws.below(3) as i64)));
    }
    let results = match language_op {
        VarMean => 2,
        Welford => 3,
        _ => 1,
    };
    caller.add_language_op(language_op, arguments, results).map(drop)
}

/// The requested dtype of a fold.
fn folded_dtype(caller: &mut Caller<'_>, tensor: Tensor) -> DType {
    use DType::{BF16, C64, C128, F32, F64, I8, I64};
    match caller.draft.dtype(tensor).is_complex() {
        true => caller.draws.one_of(&[C64, C128]),
        false => caller.draws.one_of(&[F32, F32, F64, BF16, I64, I8]),
    }
}

/// Axes to fold over, at least one if there is any; sometimes counted from the end, or in another order.
pub(super) fn some_axes(caller: &mut Caller<'_>, tensor: Tensor) -> Vec<i64> {
    let rank = caller.rank(tensor) as i64;
    let all: Vec<i64> = (0..rank).collect();
    let mut axes = caller.draws.some_of(&all);
    if axes.is_empty() {
        axes.extend(caller.axis(tensor).map(|axis| axis as i64));
    }
    if caller.draws.percent(15) {
        caller.draws.shuffle(&mut axes);
        axes.iter_mut().for_each(|axis| *axis -= rank);
    }
    axes
}

/// The index of an extreme, along an axis or of all.
pub(super) fn place(caller: &mut Caller<'_>, language_op: LanguageOp) -> Option<()> {
    let tensor = caller.tensor();
    let mut arguments = operands([tensor]);
    if let Some(axis) = caller.axis(tensor)
        && caller.draws.percent(80)
    {
        arguments.push((Some("dim"), caller.dim(tensor, axis)));
    }
    if caller.draws.percent(50) {
        arguments.push((Some("keepdim"), Given::flag(true)));
    }
    caller.add_language_op(language_op, arguments, 1).map(drop)
}

/// A tensor combined with a fold of it.
pub(super) fn deviation(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let language_op =
        caller.draws.one_of(&[LanguageOp::Sum, LanguageOp::Max, LanguageOp::Min, LanguageOp::Var]);
    let mut axes = vec![axis as i64];
    if axis > 0 && caller.draws.percent(30) {
        axes.push(0);
    }
    let folded = folded(caller, language_op, tensor, axes, true)?;
    let op = caller.draws.one_of(&["sub", "mul", "add", "maximum", "le"]);
    caller.add(op, operands([tensor, folded]), 1).map(drop)
}

/// A fold over these axes.
pub(super) fn folded(
    caller: &mut Caller<'_>,
    language_op: LanguageOp,
    of: Tensor,
    axes: Vec<i64>,
    keep: bool,
) -> Option<Tensor> {
    let mut arguments = operands([of]);
    arguments.push((Some("dims"), Given::Numbers(axes)));
    arguments.push((Some("keepdim"), Given::flag(keep)));
    caller.add_language_op(language_op, arguments, 1)
}
