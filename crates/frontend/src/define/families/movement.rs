//! Tensor ops that move data without computing: casts, broadcasts, reshapes, pads, joins, and tensors without operands.
//!
//! Each takes bound arguments and adds the nodes. A call without effect adds no node.

use index::Expr;
use ir::definition::{NamedValue, Object};
use ir::graph::{Shape, TensorOp, Val};
use ops::{DType, Scalar};
use smallvec::SmallVec;

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

pub(in crate::define) fn cast(ops: &mut OpBuilder, bound: &Bound) -> Result<NamedValue, DefineError> {
    let dtype = bound.dtype("dtype").ok_or_else(|| bound.reject("dtype", "a DataType"))?;
    match bound.object("arg") {
        Object::Value(value) => {
            let val = ops.cast(value.val, dtype)?;
            let is_scalar = ops.is_scalar(*value);
            Ok(ops.value(val, is_scalar))
        }
        Object::Number(scalar) => {
            let val = ops.constant(scalar.cast(dtype))?;
            Ok(ops.value(val, true))
        }
        _ => Err(bound.reject("arg", "a tensor, a scalar or a number")),
    }
}

pub(super) fn broadcast(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let new: SmallVec<[bool; 6]> = bound.bools("is_broadcast_dim").into();
    let rank = ops.graph.shape(arg).len();
    if new.iter().filter(|&&new| !new).count() != rank {
        return Err(bound.reject("is_broadcast_dim", &format!("a list with {rank} times False")));
    }
    if new.contains(&true) { ops.add(TensorOp::Broadcast(new), &[arg]) } else { Ok(arg) }
}

pub(super) fn broadcast_in_dim(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let sizes = ops.sizes(bound, "shape")?;
    let rank = ops.graph.shape(arg).len();
    let places = bound.axes("broadcast_dims", sizes.len())?.unwrap_or_default();
    if places.len() != rank || !places.is_sorted() {
        let expected = format!("a list of {rank} axes of the result, ascending, one for each axis of `arg`");
        return Err(bound.reject("broadcast_dims", &expected));
    }
    let new: SmallVec<[bool; 6]> = (0..sizes.len()).map(|axis| !places.contains(&(axis as u8))).collect();
    let spread = if new.contains(&true) { ops.add(TensorOp::Broadcast(new), &[arg])? } else { arg };
    expand_to(ops, spread, sizes)
}

pub(super) fn expand(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let sizes = ops.sizes(bound, "shape")?;
    let rank = ops.graph.shape(arg).len();
    if sizes.len() != rank {
        return Err(bound.reject("shape", &format!("a list of {rank} sizes")));
    }
    expand_to(ops, arg, sizes)
}

/// Expands axes of size 1. Other axes keep their size; its equality with the requested one becomes a fact.
fn expand_to(ops: &mut OpBuilder, arg: Val, sizes: Vec<Option<Expr>>) -> Result<Val, DefineError> {
    let is_longer = |axis: &u8| {
        sizes[*axis as usize].as_ref().is_some_and(|size| !ops.facts.prove_le(size, &Expr::one()))
    };
    let axes = ops.axes_of_at_most_one(arg).into_iter().filter(is_longer).collect();
    let arg = ops.require_one(arg, axes)?;
    let mut target = ops.shape(arg);
    let mut repeats = false;
    for (axis, size) in sizes.into_iter().enumerate() {
        let Some(size) = size else { continue };
        let has = &mut target[axis];
        if has.is_one() {
            repeats |= !size.is_one();
        } else if ops.facts.prove_ne(has, &size) || ops.facts.assume_equal(has, &size).is_err() {
            return Err(ops.reject(format!("size {has} or -1 on axis {axis}"), format!("size {size}")));
        }
        if has.as_const().is_none_or(|n| n == 1) {
            *has = size;
        }
    }
    if repeats { ops.add(TensorOp::Expand(target), &[arg]) } else { Ok(arg) }
}

pub(super) fn squeeze(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let axes = bound.axes("dims", ops.graph.shape(arg).len())?.unwrap_or_default();
    ops.squeeze_axes(arg, axes)
}

pub(super) fn reshape(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let sizes = ops.sizes(bound, "new_shape")?;
    let total: Expr = ops.shape(arg).into_iter().product();
    let known: Expr = sizes.iter().flatten().cloned().product();
    let missing = sizes.iter().filter(|size| size.is_none()).count();
    if missing > 1 || (missing == 1 && known.is_zero()) {
        return Err(bound.reject("new_shape", "a list with at most one -1, and no 0 beside it"));
    }
    let rest = if missing == 1 { rest(ops, &total, &known) } else { Expr::one() };
    let target: Shape = sizes.into_iter().map(|size| size.unwrap_or_else(|| rest.clone())).collect();
    ops.reshape_to(arg, target).map_err(|error| error.at(bound.span(1)))
}

/// The size of the axis that takes the rest of `total` elements. That the division is exact becomes a fact, even if other
/// axes may be empty, so that an axis is known to be the product of its parts.
fn rest(ops: &mut OpBuilder, total: &Expr, known: &Expr) -> Expr {
    let factor = known.terms().first().map_or(1, |term| term.coefficient);
    let symbols = known.exact_quotient(&Expr::constant(factor));
    let Some(split) = symbols.and_then(|symbols| total.exact_quotient(&symbols)) else {
        return total.floor_div(known);
    };
    if split.as_const().is_none() {
        ops.facts.assume_multiple(&split, factor);
    }
    split.floor_div(&Expr::constant(factor))
}

pub(super) fn permute(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let rank = ops.graph.shape(arg).len();
    let order = bound.axes("dims", rank)?.unwrap_or_default();
    if order.len() != rank {
        return Err(bound.reject("dims", &format!("a list of all {rank} axes")));
    }
    if order.is_sorted() { Ok(arg) } else { ops.add(TensorOp::Permute(order), &[arg]) }
}

pub(super) fn pad(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let widths = ops.integers(bound, "pad_widths")?;
    let rank = ops.graph.shape(arg).len();
    if widths.len() % 2 != 0 || widths.len() > 2 * rank {
        return Err(bound.reject("pad_widths", &format!("an even number of widths, at most {}", 2 * rank)));
    }
    let dtype = ops.graph.dtype(arg);
    let fill = ops.fill(bound, "value", dtype)?;
    let (mut before, mut after) =
        (Shape::from_elem(Expr::zero(), rank), Shape::from_elem(Expr::zero(), rank));
    for (place, pair) in widths.chunks_exact(2).enumerate() {
        (before[rank - 1 - place], after[rank - 1 - place]) = (pair[0].clone(), pair[1].clone());
    }
    if widths.iter().all(Expr::is_zero) {
        return Ok(arg);
    }
    ops.add(TensorOp::Pad { before, after }, &[arg, fill])
}

pub(super) fn cat(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let tensors: Vec<Val> = bound.tensors("tensors").into_iter().map(|value| value.val).collect();
    let scalars = bound.tensors("tensors").into_iter().any(|value| ops.is_scalar(value));
    let Some(&first) = tensors.first().filter(|_| !scalars) else {
        return Err(bound.reject("tensors", "a list of tensors, at least one"));
    };
    let axis = bound.axis("dim", ops.graph.shape(first).len())?;
    let tensors = match bound.flag("manual_padding") {
        true => without_padding(ops, bound, &tensors, axis)?,
        false => tensors,
    };
    let first = tensors[0];
    if tensors.len() == 1 { Ok(first) } else { ops.add(TensorOp::Cat(axis as u8), &tensors) }
}

/// The operands of a `cat` whose printer padded each to the size of the result, so that they are at their positions there:
/// the unpadded values.
fn without_padding(
    ops: &mut OpBuilder,
    bound: &Bound,
    tensors: &[Val],
    axis: usize,
) -> Result<Vec<Val>, DefineError> {
    let reject = || {
        let expected =
            format!("a list of tensors, each padded along dimension {axis} to its place in the result");
        bound.reject("tensors", &expected)
    };
    let mut place = Expr::zero();
    let mut bare = Vec::with_capacity(tensors.len());
    for &tensor in tensors {
        let TensorOp::Pad { before, after } = ops.graph.op(tensor).clone() else {
            bare.push(tensor);
            place = place + ops.graph.shape(tensor)[axis].clone();
            continue;
        };
        let operands = ops.graph.operands(tensor).to_vec();
        if ops.facts.assume_equal(&before[axis], &place).is_err() {
            return Err(reject());
        }
        place = place + ops.graph.shape(operands[0])[axis].clone();
        let (mut others_before, mut others_after) = (before, after);
        (others_before[axis], others_after[axis]) = (Expr::zero(), Expr::zero());
        let is_bare = others_before.iter().chain(&others_after).all(Expr::is_zero);
        bare.push(match is_bare {
            true => operands[0],
            false => ops.add(TensorOp::Pad { before: others_before, after: others_after }, &operands)?,
        });
    }
    for &tensor in tensors {
        let size = ops.graph.shape(tensor)[axis].clone();
        ops.facts.assume_equal(&size, &place).map_err(|_| reject())?;
    }
    Ok(bare)
}

pub(super) fn full(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let dtype = bound.dtype("dtype").ok_or_else(|| bound.reject("dtype", "a DataType"))?;
    let shape = ops.full_sizes(bound, "shape")?;
    let fill = ops.fill(bound, "fill_value", dtype)?;
    if shape.is_empty() {
        return Ok(fill);
    }
    let single = ops.add(TensorOp::Broadcast(SmallVec::from_elem(true, shape.len())), &[fill])?;
    if shape.iter().all(Expr::is_one) { Ok(single) } else { ops.add(TensorOp::Expand(shape), &[single]) }
}

/// Half types count in f32, in which they are computed.
pub(super) fn iota(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let dtype = bound.dtype("dtype").unwrap_or(DType::I64);
    if dtype == DType::Bool {
        return Err(bound.reject("dtype", "a dtype of numbers"));
    }
    let reject = || {
        bound.reject("length", "a number, zero or more, or a scalar that sizes and scalar inputs determine")
    };
    let length = ops.as_size(bound.object("length")).ok_or_else(reject)?;
    ops.facts.assume_le(&Expr::zero(), &length).map_err(|_| reject())?;
    let compute = dtype.compute();
    let start = ops.fill(bound, "start", compute)?;
    let step = match bound.object("step") {
        Object::None => ops.constant(Scalar::one(compute))?,
        _ => ops.fill(bound, "step", compute)?,
    };
    for (param, val) in [("start", start), ("step", step)] {
        if ops.graph.as_constant(val).is_some_and(|number| !number.as_f64().is_finite()) {
            return Err(bound.reject(param, "a finite number"));
        }
    }
    if ops.graph.as_constant(step).is_some_and(|step| step.as_f64() == 0.0) {
        return Err(bound.reject("step", "a number that is not 0"));
    }
    let counted = ops.add(TensorOp::Iota(length), &[start, step])?;
    ops.cast(counted, dtype)
}
