//! Random gathers, with nearly all indices in range: the others end the program in an error that all executors must report.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Caller, operands};
use super::folds;
use crate::random::program::{Given, Size, Tensor};

/// Percentage of indices that are not brought into range.
const WILD: usize = 4;

/// `take_along_axis` or `gather`: an index of the tensor's rank.
pub(super) fn along(caller: &mut Caller<'_>, op: LanguageOp) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let index = match whole_like(caller, tensor, axis) {
        Some(whole) if caller.draws.percent(60) => whole,
        _ => counted_like(caller, op, tensor, axis)?,
    };
    let index = in_range(caller, Given::Tensor(index), tensor, axis)?;
    take(caller, op, tensor, index, axis)
}

fn take(caller: &mut Caller<'_>, op: LanguageOp, tensor: Tensor, index: Tensor, axis: usize) -> Option<()> {
    let mut arguments = operands([tensor]);
    arguments.push((Some("index"), Given::Tensor(index)));
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    caller.add_language_op(op, arguments, 1).map(drop)
}

/// A tensor of integers with the sizes of another except along one axis.
fn whole_like(caller: &mut Caller<'_>, tensor: Tensor, axis: usize) -> Option<Tensor> {
    let sizes = caller.sizes_of(tensor);
    let alike = |other: &Tensor| {
        let theirs = caller.sizes_of(*other);
        caller.draft.dtype(*other).is_wide_int()
            && theirs.len() == sizes.len()
            && (0..sizes.len()).all(|k| k == axis || theirs[k] == sizes[k])
    };
    let found: Vec<Tensor> = caller.draft.tensors().into_iter().filter(alike).collect();
    (!found.is_empty()).then(|| caller.draws.one_of(&found))
}

/// Indices counted along one axis, expanded along others; for `gather` perhaps shorter along those.
fn counted_like(caller: &mut Caller<'_>, op: LanguageOp, tensor: Tensor, axis: usize) -> Option<Tensor> {
    let sizes = caller.sizes_of(tensor);
    let length = caller.new_size();
    let counted = counted(caller, length)?;
    let flags = (0..sizes.len()).map(|k| k != axis).collect();
    let arguments = vec![(None, Given::Tensor(counted)), (None, Given::Bools(flags))];
    let single = caller.add_language_op(LanguageOp::Broadcast, arguments, 1)?;
    let mut wanted: Vec<Size> = Vec::new();
    for (k, &size) in sizes.iter().enumerate() {
        wanted.push(match caller.draws.below(4) {
            _ if k == axis => Size::Number(-1),
            0 => Size::Number(1),
            1 if op == LanguageOp::Gather => Size::Number(caller.draws.between(0, size) as i64),
            _ => caller.own_size(tensor, k),
        });
    }
    let arguments = vec![(None, Given::Tensor(single)), (Some("shape"), Given::Sizes(wanted))];
    caller.add_language_op(LanguageOp::Expand, arguments, 1)
}

/// `k * k + start`, for k below a length.
fn counted(caller: &mut Caller<'_>, length: Size) -> Option<Tensor> {
    let dtype = caller.draws.one_of(&[DType::I64, DType::I32]);
    let arguments = vec![(Some("length"), Given::Size(length)), (Some("dtype"), Given::DType(dtype))];
    let counted = caller.add_language_op(LanguageOp::Iota, arguments, 1)?;
    let squares = caller.add("mul", operands([counted, counted]), 1)?;
    let mut arguments = operands([squares]);
    arguments.push((None, Given::int(caller.draws.between(0, 12) as i64 - 6)));
    caller.add("add", arguments, 1)
}

/// The remainder by the size of an axis; sometimes the numbers unchanged.
fn in_range(caller: &mut Caller<'_>, index: Given, tensor: Tensor, axis: usize) -> Option<Tensor> {
    if let (Given::Tensor(index), true) = (&index, caller.draws.percent(WILD)) {
        return Some(*index);
    }
    let size = Given::Size(caller.own_size(tensor, axis));
    caller.add("remainder", vec![(None, index), (None, size)], 1)
}

pub(super) fn index_select(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let length = caller.new_size();
    let mut counted = counted(caller, length)?;
    if caller.draws.percent(15) {
        counted = folds::folded(caller, LanguageOp::Max, counted, vec![0], false)?;
    }
    let index = in_range(caller, Given::Tensor(counted), tensor, axis)?;
    take(caller, LanguageOp::IndexSelect, tensor, index, axis)
}

pub(super) fn embedding(caller: &mut Caller<'_>) -> Option<()> {
    let mut tables: Vec<Tensor> = caller.draft.tensors();
    tables.retain(|&table| caller.rank(table) == 2);
    let table = if tables.is_empty() { caller.floats(2, 2)? } else { caller.draws.one_of(&tables) };
    let whole =
        |tensor: &Tensor| caller.draft.dtype(*tensor).is_wide_int() && !caller.draft.is_scalar(*tensor);
    let indices: Vec<Tensor> = caller.draft.tensors().into_iter().filter(whole).collect();
    let index = match caller.draws.percent(70) && !indices.is_empty() {
        true => caller.draws.one_of(&indices),
        false => {
            let length = caller.new_size();
            counted(caller, length)?
        }
    };
    let index = in_range(caller, Given::Tensor(index), table, 0)?;
    let mut arguments = vec![(Some("input"), Given::Tensor(index)), (Some("weight"), Given::Tensor(table))];
    // An argument that affects only gradients.
    if caller.draws.percent(30) {
        arguments.push((Some("padding_idx"), Given::int(0)));
        arguments.push((Some("norm_type"), Given::real(2.0)));
        arguments.push((Some("scale_grad_by_freq"), Given::flag(caller.draws.percent(50))));
        arguments.push((Some("sparse"), Given::flag(caller.draws.percent(50))));
    }
    caller.add_language_op(LanguageOp::EmbeddingFwd, arguments, 1).map(drop)
}

/// At a number, or at a scalar computed from sizes.
pub(super) fn select(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let size = caller.sizes_of(tensor)[axis] as i64;
    let index = match size {
        1.. if caller.draws.percent(50) => {
            Given::int(caller.draws.between(0, 2 * size as usize - 1) as i64 - size)
        }
        _ => {
            let (other, other_axis) = caller.tensor_and_axis()?;
            let scalar = Given::Size(Size::Of(other, other_axis));
            Given::Tensor(in_range(caller, scalar, tensor, axis)?)
        }
    };
    let mut arguments = operands([tensor]);
    arguments.push((Some("index"), index));
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    caller.add_language_op(LanguageOp::Select, arguments, 1).map(drop)
}

pub(super) fn triu(caller: &mut Caller<'_>) -> Option<()> {
    let mut arguments = operands([caller.tensor()]);
    if caller.draws.percent(85) {
        arguments.push((Some("diagonal"), Given::int(caller.draws.between(0, 8) as i64 - 4)));
    }
    caller.add_language_op(LanguageOp::Triu, arguments, 1).map(drop)
}
