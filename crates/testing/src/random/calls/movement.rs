//! Random ops that move elements, and tensors without operands.

use ferrofuse::DType;
use ops::LanguageOp;

use super::caller::{Caller, operands};
use super::scalar;
use crate::random::program::{Given, Size, Tensor};

pub(super) fn broadcast_in_dim(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let mut places: Vec<i64> = Vec::new();
    let mut sizes: Vec<Size> = Vec::new();
    let mut new = caller.draws.between(1, 2);
    for axis in 0..caller.rank(tensor) {
        while new > 0 && caller.draws.percent(40) {
            sizes.push(caller.new_size());
            new -= 1;
        }
        places.push(sizes.len() as i64);
        let size = match caller.draft.shape(tensor)[axis].is_one() && caller.draws.percent(50) {
            true => caller.new_size(),
            false => caller.own_size(tensor, axis),
        };
        sizes.push(size);
    }
    for _ in 0..new {
        sizes.push(caller.new_size());
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("shape"), Given::Sizes(sizes)));
    arguments.push((Some("broadcast_dims"), Given::Numbers(places)));
    caller.add_language_op(LanguageOp::BroadcastInDim, arguments, 1).map(drop)
}

pub(super) fn broadcast(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    with_one(caller, tensor).map(drop)
}

/// The tensor with one more axis.
fn with_one(caller: &mut Caller<'_>, tensor: Tensor) -> Option<Tensor> {
    let mut flags = vec![false; caller.rank(tensor)];
    flags.insert(caller.draws.below(flags.len() + 1), true);
    let mut arguments = operands([tensor]);
    arguments.push((None, Given::Bools(flags)));
    caller.add_language_op(LanguageOp::Broadcast, arguments, 1)
}

/// A tensor with its axes of size 1, at least one.
fn with_ones(caller: &mut Caller<'_>) -> Option<(Tensor, Vec<usize>)> {
    let ones = |caller: &Caller<'_>, tensor: Tensor| -> Vec<usize> {
        let shape = caller.draft.shape(tensor);
        (0..shape.len()).filter(|&axis| shape[axis].is_one()).collect()
    };
    let mut tensor = caller.tensor();
    if ones(caller, tensor).is_empty() {
        tensor = with_one(caller, tensor)?;
    }
    Some((tensor, ones(caller, tensor)))
}

pub(super) fn squeeze(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, ones) = with_ones(caller)?;
    let axes = caller.draws.some_of(&ones).into_iter().map(|axis| axis as i64).collect();
    let mut arguments = operands([tensor]);
    arguments.push((Some("dims"), Given::Numbers(axes)));
    if caller.draws.percent(25) {
        arguments.push((Some("squeeze_expanded"), Given::flag(caller.draws.percent(50))));
    }
    caller.add_language_op(LanguageOp::Squeeze, arguments, 1).map(drop)
}

pub(super) fn expand(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, ones) = with_ones(caller)?;
    let mut sizes = vec![Size::Number(-1); caller.rank(tensor)];
    for axis in ones {
        sizes[axis] = caller.new_size();
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("shape"), Given::Sizes(sizes)));
    caller.add_language_op(LanguageOp::Expand, arguments, 1).map(drop)
}

/// Joins neighbouring axes, splits one, or cuts all elements into rows of any length.
pub(super) fn reshape(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let mut sizes: Vec<Size> = (0..caller.rank(tensor)).map(|axis| caller.own_size(tensor, axis)).collect();
    let numbers = caller.sizes_of(tensor);
    if numbers.len() > 1 && !numbers.contains(&0) && caller.draws.percent(10) {
        let total: usize = numbers.iter().product();
        let divisors: Vec<usize> = (1..=total).filter(|n| total.is_multiple_of(*n)).collect();
        let rows = caller.draws.one_of(&divisors);
        sizes = vec![Size::Number(rows as i64), Size::Number((total / rows) as i64)];
    } else if sizes.len() > 1 && caller.draws.percent(60) {
        let first = caller.draws.below(sizes.len() - 1);
        let whole = match (sizes[first], sizes[first + 1]) {
            (Size::Number(a), Size::Number(b)) if caller.draws.percent(50) => Size::Number(a * b),
            _ => Size::Number(-1),
        };
        sizes.splice(first..first + 2, [whole]);
    } else if !sizes.is_empty() {
        let axis = caller.draws.below(sizes.len());
        let divisors: Vec<usize> =
            (1..=numbers[axis].max(1)).filter(|n| numbers[axis].is_multiple_of(*n)).collect();
        let factor = caller.draws.one_of(&divisors);
        let rest = match sizes[axis] {
            Size::Number(n) => Size::Number(n / factor as i64),
            _ => Size::Number(-1),
        };
        let parts = [Size::Number(factor as i64), rest];
        let swap = caller.draws.percent(50);
        sizes.splice(axis..=axis, if swap { [parts[1], parts[0]] } else { parts });
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("new_shape"), Given::Sizes(sizes)));
    caller.add_language_op(LanguageOp::Reshape, arguments, 1).map(drop)
}

pub(super) fn stride_order(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let rank = caller.rank(tensor);
    let mut order: Vec<i64> = (0..rank as i64).collect();
    caller.draws.shuffle(&mut order);
    if caller.draws.percent(20) {
        order.iter_mut().for_each(|place| *place -= rank as i64);
    }
    if caller.draws.percent(10) {
        order.clear();
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("stride_order"), Given::Numbers(order)));
    caller.add_language_op(LanguageOp::StrideOrder, arguments, 1).map(drop)
}

pub(super) fn permute(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let rank = caller.rank(tensor) as i64;
    let mut order: Vec<i64> = (0..rank).collect();
    caller.draws.shuffle(&mut order);
    if caller.draws.percent(20) {
        order.iter_mut().for_each(|place| *place -= rank);
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("dims"), Given::Numbers(order)));
    caller.add_language_op(LanguageOp::Permute, arguments, 1).map(drop)
}

/// Ends may be beyond the tensor, unless the call says that they are not.
pub(super) fn slice(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let is_exact = caller.draws.percent(25);
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for (axis, size) in caller.sizes_of(tensor).into_iter().enumerate() {
        let start = if caller.draws.percent(50) { 0 } else { caller.draws.between(0, size) };
        let end = caller.draws.between(start, size);
        starts.push(Size::Number(start as i64));
        ends.push(match caller.draws.below(10) {
            0..5 => caller.own_size(tensor, axis),
            5 if !is_exact => Size::Number((size + end) as i64),
            _ => Size::Number(end as i64),
        });
    }
    let ones = vec![Size::Number(1); starts.len()];
    let mut arguments = operands([tensor]);
    arguments.push((Some("start_indices"), Given::Sizes(starts)));
    arguments.push((Some("end_indices"), Given::Sizes(ends)));
    if caller.draws.percent(25) {
        arguments.push((Some("strides"), Given::Sizes(ones)));
    }
    if is_exact {
        arguments.push((Some("manual_normalization"), Given::flag(true)));
    }
    caller.add_language_op(LanguageOp::Slice, arguments, 1).map(drop)
}

pub(super) fn pad(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    let sizes = caller.sizes_of(tensor);
    let axes = caller.draws.between(0, sizes.len());
    let mut widths = Vec::new();
    for size in sizes.iter().rev().take(axes) {
        for _ in 0..2 {
            let crop = caller.draws.percent(20) && *size >= 2;
            let width = if crop { -1 } else { caller.draws.between(0, 3) as i64 };
            widths.push(Size::Number(width));
        }
    }
    let mut arguments = operands([tensor]);
    arguments.push((Some("pad_widths"), Given::Sizes(widths)));
    if caller.draws.percent(50) {
        arguments.push((Some("value"), Given::Number(scalar::number(caller))));
    }
    caller.add_language_op(LanguageOp::Pad, arguments, 1).map(drop)
}

pub(super) fn cat(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    let sizes = caller.sizes_of(tensor);
    let alike = |other: &Tensor| {
        let theirs = caller.sizes_of(*other);
        theirs.len() == sizes.len()
            && caller.draft.dtype(*other) == caller.draft.dtype(tensor)
            && (0..sizes.len()).all(|k| k == axis || sizes[k] == theirs[k])
    };
    let others: Vec<Tensor> = caller.draft.tensors().into_iter().filter(alike).collect();
    let mut tensors = vec![tensor];
    for _ in 0..caller.draws.between(1, 2) {
        tensors.push(caller.draws.one_of(&others));
    }
    let dim = caller.dim(tensor, axis);
    if caller.draws.percent(15) {
        return cat_of_padded(caller, &tensors, axis, dim);
    }
    let mut arguments = vec![(None, Given::Tensors(tensors))];
    if axis > 0 || caller.draws.percent(70) {
        arguments.push((Some("dim"), dim));
    }
    caller.add_language_op(LanguageOp::Cat, arguments, 1).map(drop)
}

/// Tensors that are each padded to their position before they are joined.
fn cat_of_padded(caller: &mut Caller<'_>, tensors: &[Tensor], axis: usize, dim: Given) -> Option<()> {
    let lengths: Vec<i64> = tensors.iter().map(|&tensor| caller.sizes_of(tensor)[axis] as i64).collect();
    let total: i64 = lengths.iter().sum();
    let mut padded = Vec::with_capacity(tensors.len());
    let mut before = 0;
    for (&tensor, length) in tensors.iter().zip(lengths) {
        let mut widths = vec![Size::Number(0); 2 * (caller.rank(tensor) - 1 - axis)];
        widths.extend([Size::Number(before), Size::Number(total - before - length)]);
        let mut arguments = operands([tensor]);
        arguments.push((Some("pad_widths"), Given::Sizes(widths)));
        padded.push(caller.add_language_op(LanguageOp::Pad, arguments, 1)?);
        before += length;
    }
    let manual = (Some("manual_padding"), Given::flag(true));
    let arguments = vec![(None, Given::Tensors(padded)), (Some("dim"), dim), manual];
    caller.add_language_op(LanguageOp::Cat, arguments, 1).map(drop)
}

fn factory_dtype(caller: &mut Caller<'_>) -> DType {
    use DType::{BF16, C64, F32, F64, I32, I64, U8};
    caller.draws.one_of(&[F32, F32, F32, BF16, F64, I64, I64, I32, U8, C64])
}

pub(super) fn full(caller: &mut Caller<'_>) -> Option<()> {
    let sizes = (0..caller.draws.below(4)).map(|_| caller.new_size()).collect();
    full_of(caller, Given::Sizes(sizes))
}

pub(super) fn full_of_size(caller: &mut Caller<'_>) -> Option<()> {
    let (tensor, axis) = caller.tensor_and_axis()?;
    full_of(caller, Given::Sizes(vec![Size::Of(tensor, axis)]))
}

pub(super) fn full_of_shape(caller: &mut Caller<'_>) -> Option<()> {
    let tensor = caller.tensor();
    full_of(caller, Given::Shape(tensor))
}

fn full_of(caller: &mut Caller<'_>, shape: Given) -> Option<()> {
    let arguments = vec![
        (Some("shape"), shape),
        (Some("fill_value"), Given::Number(scalar::number(caller))),
        (Some("dtype"), Given::DType(factory_dtype(caller))),
    ];
    caller.add_language_op(LanguageOp::Full, arguments, 1).map(drop)
}

pub(super) fn iota(caller: &mut Caller<'_>) -> Option<()> {
    let mut arguments = vec![(Some("length"), Given::Size(caller.new_size()))];
    if caller.draws.percent(50) {
        arguments.push((Some("start"), Given::Number(scalar::number(caller))));
        arguments.push((Some("step"), Given::Number(scalar::number(caller))));
    }
    arguments.push((Some("dtype"), Given::DType(factory_dtype(caller))));
    caller.add_language_op(LanguageOp::Iota, arguments, 1).map(drop)
}
