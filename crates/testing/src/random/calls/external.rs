//! Random calls of ops that a library computes: sorts, scatters, products of matrices.
//!
//! Indices are in range: indices of a sorted order, or ramps.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Caller, operands};
use super::scalar;
use crate::random::program::{Given, Size, Tensor};

/// A tensor, an axis of it, and the indices that sort it.
pub(super) fn argsort(caller: &mut Caller<'_>) -> Option<(Tensor, usize, Tensor)> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let mut arguments = operands([tensor]);
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    arguments.push((Some("descending"), Given::flag(caller.draws.percent(50))));
    if caller.draws.percent(40) {
        arguments.push((Some("stable"), Given::flag(caller.draws.percent(50))));
    }
    Some((tensor, axis, caller.add_language_op(LanguageOp::Argsort, arguments, 1)?))
}

pub(super) fn topk(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let k = caller.draws.between(0, caller.sizes_of(tensor)[axis]) as i64;
    let k = if caller.draws.percent(30) { caller.own_size(tensor, axis) } else { Size::Number(k) };
    let mut arguments = operands([tensor]);
    arguments.push((Some("k"), Given::Size(k)));
    if axis + 1 < caller.rank(tensor) || caller.draws.percent(70) {
        arguments.push((Some("dim"), caller.dim(tensor, axis)));
    }
    arguments.push((Some("largest"), Given::flag(caller.draws.percent(60))));
    if caller.draws.percent(40) {
        arguments.push((Some("sorted"), Given::flag(caller.draws.percent(50))));
    }
    caller.add_language_op(LanguageOp::Topk, arguments, 2).map(drop)
}

/// Elements scattered in the order of another line, or near its start, so that some indices occur more than once.
pub(super) fn scatter(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis, mut index) = argsort(caller)?;
    if caller.draws.percent(50) {
        let mut arguments = operands([index]);
        arguments.push((None, Given::int(caller.draws.below(3) as i64)));
        index = caller.add("minimum", arguments, 1)?;
    }
    let mut tensor = caller.alike(tensor);
    if caller.draws.percent(12) {
        tensor = caller.complex_of(tensor)?;
    }
    let holds_numbers = caller.draft.dtype(tensor).is_float() || caller.draft.dtype(tensor).is_complex();
    let src = match holds_numbers && caller.draws.percent(30) {
        true => Given::Number(scalar::number(caller)),
        false => Given::Tensor(caller.alike(tensor)),
    };
    let mut arguments = operands([tensor, index]);
    arguments.push((None, src));
    arguments.push((Some("dim"), caller.dim(tensor, axis)));
    caller.add_language_op(LanguageOp::Scatter, arguments, 1).map(drop)
}

/// Tensors of the same dtype with an axis, counted from the end, as large as the tensor's last one.
fn partners(caller: &Caller<'_>, tensor: Tensor, from_end: usize) -> Vec<Tensor> {
    let depth = caller.sizes_of(tensor).last().copied();
    let fits = |other: &Tensor| {
        let sizes = caller.sizes_of(*other);
        caller.draft.dtype(*other) == caller.draft.dtype(tensor)
            && sizes.len().checked_sub(from_end).is_some_and(|axis| Some(sizes[axis]) == depth)
    };
    caller.draft.tensors().into_iter().filter(fits).collect()
}

pub(super) fn matmul(caller: &mut Caller<'_>) -> Option<()> {
    let a = caller.matrix(1, 4)?;
    let mut others = partners(caller, a, 2);
    others.extend(partners(caller, a, 1).into_iter().filter(|&other| caller.rank(other) == 1));
    let b = match others.is_empty() || (caller.rank(a) > 1 && caller.draws.percent(40)) {
        true if caller.rank(a) > 1 => transposed(caller, a)?,
        true => a,
        false => caller.draws.one_of(&others),
    };
    caller.add_language_op(LanguageOp::Matmul, operands([a, b]), 1).map(drop)
}

/// The last two axes exchanged.
fn transposed(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    let mut order: Vec<i64> = (0..caller.rank(tensor) as i64).collect();
    let last = order.len() - 1;
    order.swap(last - 1, last);
    let mut arguments = operands([tensor]);
    arguments.push((Some("dims"), Given::Numbers(order)));
    caller.add_language_op(LanguageOp::Permute, arguments, 1)
}

pub(super) fn linear(caller: &mut Caller<'_>) -> Option<()> {
    let arg = caller.matrix(1, 4)?;
    let mut weights = partners(caller, arg, 1);
    weights.retain(|&weight| caller.rank(weight) == 2);
    let weight = match weights.is_empty() {
        false => caller.draws.one_of(&weights),
        true => {
            let columns = caller.new_size();
            let depth = caller.own_size(arg, caller.rank(arg) - 1);
            let drawn = caller.uniform(vec![columns, depth])?;
            caller.cast_to(drawn, caller.draft.dtype(arg))?
        }
    };
    let mut arguments = operands([arg, weight]);
    let (dtype, columns) = (caller.draft.dtype(arg), caller.sizes_of(weight)[0]);
    let suits = |bias: &Tensor| caller.draft.dtype(*bias) == dtype && caller.sizes_of(*bias) == [columns];
    let biases: Vec<Tensor> = caller.draft.tensors().into_iter().filter(suits).collect();
    if !biases.is_empty() && caller.draws.percent(80) {
        arguments.push((Some("bias"), Given::Tensor(caller.draws.one_of(&biases))));
    }
    caller.add_language_op(LanguageOp::Linear, arguments, 1).map(drop)
}

/// A matrix and its transpose, one of them repeated for each group if the groups divide the other.
pub(super) fn grouped_mm(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.floats(2, 2)?;
    let transpose = transposed(caller, tensor)?;
    let [rows, depth] = caller.sizes_of(tensor)[..] else { return None };
    let (groups, kind) = (caller.draws.between(1, 3), caller.draws.below(3));
    let divided = if kind == 0 { depth } else { rows };
    let step = caller.draws.between(1, (divided / groups).max(1));
    if step * groups > divided {
        return None;
    }
    let sizes = [caller.own_size(tensor, 0), caller.own_size(tensor, 1)];
    let (a, b) = match kind {
        0 => (tensor, transpose),
        1 => (tensor, repeated(caller, transpose, groups, [sizes[1], sizes[0]])?),
        _ => (repeated(caller, tensor, groups, sizes)?, transpose),
    };
    let offsets = vec![
        (Some("length"), Given::Size(Size::Number(groups as i64))),
        (Some("start"), Given::int(step as i64)),
        (Some("step"), Given::int(step as i64)),
        (Some("dtype"), Given::DType(caller.draws.one_of(&[DType::I32, DType::I64]))),
    ];
    let ends = caller.add_language_op(LanguageOp::Iota, offsets, 1)?;
    let mut arguments = operands([a, b, ends]);
    if caller.draws.percent(30) {
        arguments.push((Some("dtype"), Given::DType(caller.draft.dtype(tensor))));
        arguments.push((Some("output_block_scale_size"), Given::int(0)));
        arguments.push((Some("output_gamma"), Given::flag(false)));
    }
    caller.add_language_op(LanguageOp::GroupedMm, arguments, 1).map(drop)
}

fn repeated(caller: &mut Caller<'_>, matrix: Tensor, count: usize, sizes: [Size; 2]) -> Option<Tensor> {
    let mut arguments = operands([matrix]);
    let shape = vec![Size::Number(count as i64), sizes[0], sizes[1]];
    arguments.push((Some("shape"), Given::Sizes(shape)));
    arguments.push((Some("broadcast_dims"), Given::Numbers(vec![1, 2])));
    caller.add_language_op(LanguageOp::BroadcastInDim, arguments, 1)
}
