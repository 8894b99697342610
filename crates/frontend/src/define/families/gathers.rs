//! Ops that take elements at indices given as data: all use one tensor op, `TensorOp::Gather`, between movements.
//!
//! Indices count from the front, as in torch and nvFuser for these ops: a negative one is out of range. Only `select`, whose
//! index is a scalar, counts negative ones from the end. The call detects indices out of range.

use index::Expr;
use ir::definition::{NamedValue, Object, Site};
use ir::graph::{Axes, Shape, TensorOp, Val};
use ops::{DType, LanguageOp, Monoid, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::folds;
use crate::define::arguments::Bound;
use crate::define::builder::{OpBuilder, Term};
use crate::define::error::DefineError;

/// As torch: the index may be smaller than the tensor along the other axes; then their first elements are used.
pub(super) fn torch_gather(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let index = index_tensor(ops, bound, arg)?;
    let (has, wanted) = (ops.shape(arg), ops.shape(index));
    let mut sizes = has.clone();
    for other in (0..has.len()).filter(|&other| other != axis) {
        if ops.facts.prove_eq(&has[other], &wanted[other]) {
            continue;
        }
        if ops.facts.assume_le(&wanted[other], &has[other]).is_err() {
            let expected = format!("a tensor of at most size {} on axis {other}", has[other]);
            let error = ops.reject(expected, format!("one of size {}", wanted[other]));
            return Err(error.argument("index").at(bound.span_of("index")));
        }
        sizes[other] = wanted[other].clone();
    }
    let starts = Shape::from_elem(Expr::zero(), has.len());
    let source = if sizes == has { arg } else { ops.add(TensorOp::Slice { starts, sizes }, &[arg])? };
    gather(ops, source, index, axis, axis)
}

pub(super) fn take_along_axis(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let bound = with_whole_index(ops, bound)?;
    let index = index_tensor(ops, &bound, arg)?;
    gather(ops, arg, index, axis, axis)
}

/// A call whose index is a tensor of floats that are whole, such as `where` promotes: with the index as integers.
fn with_whole_index(ops: &mut OpBuilder, bound: &Bound) -> Result<Bound, DefineError> {
    let index = bound.tensor("index")?;
    if !ops.graph.dtype(index.val).is_float() {
        return Ok(bound.clone());
    }
    let whole = Object::Value(NamedValue { val: ops.cast(index.val, DType::I64)?, ..index });
    let objects = bound.objects().iter().enumerate();
    let objects = objects.map(|(slot, object)| match bound.name(slot) {
        "index" => whole.clone(),
        _ => object.clone(),
    });
    Ok(bound.with_objects(objects.collect()))
}

pub(super) fn index_select(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let rank = ops.graph.shape(arg).len();
    let axis = bound.axis("dim", rank)?;
    let index = index_argument(ops, bound, "index")?;
    let axes = ops.graph.shape(index).len();
    if axes > 1 {
        return Err(bound.reject("index", "a tensor of at most one axis"));
    }
    let new: SmallVec<[bool; 6]> = (0..rank).map(|place| place != axis || axes == 0).collect();
    let index = if new.contains(&true) { ops.add(TensorOp::Broadcast(new), &[index])? } else { index };
    gather(ops, arg, index, axis, axis)
}

/// A number makes a slice, checked here; a scalar is checked by the call.
pub(super) fn select(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let size = ops.shape(arg)[axis].clone();
    let single = match Term::new(ops, bound.object("index")) {
        Some(Term::Number(number)) if number.dtype().is_int() => {
            let start = number.as_i64();
            let start = if start < 0 { &size + start } else { Expr::constant(start) };
            slice_of_one(ops, bound, arg, axis, start)?
        }
        Some(Term::Val(val, _)) if ops.graph.dtype(val).is_int() && ops.graph.shape(val).is_empty() => {
            let index = counted_from_front(ops, val, size)?;
            let new = SmallVec::from_elem(true, ops.graph.shape(arg).len());
            let index = ops.add(TensorOp::Broadcast(new), &[index])?;
            gather(ops, arg, index, axis, axis)?
        }
        _ => return Err(bound.reject("index", "a whole number or an integer scalar")),
    };
    ops.squeeze_axes(single, [axis as u8].into_iter().collect())
}

fn slice_of_one(
    ops: &mut OpBuilder,
    bound: &Bound,
    arg: Val,
    axis: usize,
    start: Expr,
) -> Result<Val, DefineError> {
    let mut sizes = ops.shape(arg);
    let inside = ops.facts.assume_le(&Expr::zero(), &start).is_ok()
        && ops.facts.assume_le(&(&start + 1), &sizes[axis]).is_ok();
    if !inside {
        return Err(bound.reject("index", &format!("an index on an axis of size {}", sizes[axis])));
    }
    if sizes[axis].is_one() {
        return Ok(arg);
    }
    let mut starts = Shape::from_elem(Expr::zero(), sizes.len());
    (starts[axis], sizes[axis]) = (start, Expr::one());
    ops.add(TensorOp::Slice { starts, sizes }, &[arg])
}

/// A scalar index in i64, with the size added if it is negative.
fn counted_from_front(ops: &mut OpBuilder, index: Val, size: Expr) -> Result<Val, DefineError> {
    let index = ops.cast(index, DType::I64)?;
    let (zero, size) = (ops.constant(Scalar::zero(DType::I64))?, ops.size_val(size)?);
    let negative = ops.map(ScalarOp::Lt, &[index, zero])?;
    let wrapped = ops.map(ScalarOp::Add, &[index, size])?;
    ops.map(ScalarOp::Where, &[negative, wrapped, index])
}

/// Rows of a table: the index gets an axis for the elements of a row, the table axes for those of the index.
pub(super) fn embedding(ops: &mut OpBuilder, bound: &Bound) -> Result<Val, DefineError> {
    let index = index_argument(ops, bound, "input")?;
    let weight = ops.tensor_argument(bound, "weight")?;
    if ops.graph.shape(weight).len() != 2 {
        return Err(bound.reject("weight", "a tensor of two axes"));
    }
    let rank = ops.graph.shape(index).len();
    let spread =
        |new: [bool; 2]| -> SmallVec<[bool; 6]> { std::iter::repeat_n(!new[0], rank).chain(new).collect() };
    let index = ops.add(TensorOp::Broadcast(spread([true, true])), &[index])?;
    let table = match rank {
        0 => weight,
        _ => ops.add(TensorOp::Broadcast(spread([false, false])), &[weight])?,
    };
    let rows = gather(ops, table, index, rank, 0)?;
    let rows = ops.squeeze_axes(rows, [rank as u8].into_iter().collect())?;
    match Term::new(ops, bound.object("max_norm")) {
        None => Ok(rows),
        Some(limit) => renormed(ops, bound, rows, limit),
    }
}

/// Rows whose norm exceeds a limit, scaled down to it, as torch's `embedding_renorm_` does with the table.
fn renormed(ops: &mut OpBuilder, bound: &Bound, rows: Val, limit: Term) -> Result<Val, DefineError> {
    let dtype = ops.graph.dtype(rows);
    if !dtype.is_float() {
        return Err(bound.reject("max_norm", &format!("None, as rows of {dtype} have no length")));
    }
    let compute = dtype.compute();
    let [limit] = ops.prepare(&[limit], &[compute])?[..] else { unreachable!("one term, one value") };
    let order = Term::new(ops, bound.object("norm_type"));
    if let Some(Term::Number(order)) = order
        && (order.as_f64() <= 0.0 || order.as_f64().is_nan())
    {
        return Err(bound.reject("norm_type", "above zero"));
    }
    let order = order.unwrap_or(Term::Number(Scalar::from_f64(compute, 2.0)));
    let is_maximum = matches!(order, Term::Number(order) if order.as_f64() == f64::INFINITY);
    let [order] = ops.prepare(&[order], &[compute])?[..] else { unreachable!("one term, one value") };
    if [limit, order].iter().any(|&val| !ops.graph.shape(val).is_empty()) {
        return Err(bound.reject("max_norm", "a number or a scalar, as `norm_type`"));
    }
    let wide = ops.cast(rows, compute)?;
    let last = Axes::from_slice(&[ops.graph.shape(rows).len() as u8 - 1]);
    let lengths = ops.expression("abs(x)", &["x"], &[wide], compute)?;
    let norm = if is_maximum {
        folds::fold(ops, Monoid::Max, lengths, last, true)?
    } else {
        let powers = ops.map(ScalarOp::Pow, &[lengths, order])?;
        let sum = folds::fold(ops, Monoid::Sum, powers, last, true)?;
        ops.expression("pow(sum, 1 / order)", &["sum", "order"], &[sum, order], compute)?
    };
    let text = "where(gt(norm, limit), limit / (norm + 1e-7), 1)";
    let scale = ops.expression(text, &["norm", "limit"], &[norm, limit], compute)?;
    let scaled = ops.map(ScalarOp::Mul, &[wide, scale])?;
    ops.cast(scaled, dtype)
}

/// Beyond any size of an axis, and far from overflow when a row's number is added.
const FARTHEST_DIAGONAL: i64 = 1 << 62;

pub(super) fn triu(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let shape = ops.shape(arg);
    let [.., height, width] = &shape[..] else {
        let given = format!("one of rank {}", shape.len());
        return Err(ops.reject("a tensor of at least two axes", given).argument("arg"));
    };
    let first = match Term::new(ops, bound.object("diagonal")) {
        Some(Term::Number(number)) if number.dtype().is_int() => {
            let diagonal = number.cast(DType::I64).as_i64().clamp(-FARTHEST_DIAGONAL, FARTHEST_DIAGONAL);
            ops.constant(Scalar::from_i64(DType::I64, diagonal))?
        }
        Some(Term::Val(val, _)) if ops.graph.dtype(val).is_int() && ops.graph.shape(val).is_empty() => {
            let diagonal = ops.cast(val, DType::I64)?;
            let [low, high] = [-FARTHEST_DIAGONAL, FARTHEST_DIAGONAL];
            let low = ops.constant(Scalar::from_i64(DType::I64, low))?;
            let high = ops.constant(Scalar::from_i64(DType::I64, high))?;
            let clamped = ops.map(ScalarOp::Maximum, &[diagonal, low])?;
            ops.map(ScalarOp::Minimum, &[clamped, high])?
        }
        _ => return Err(bound.reject("diagonal", "a whole number or an integer scalar")),
    };
    let (zero, one) = (ops.constant(Scalar::zero(DType::I64))?, ops.constant(Scalar::one(DType::I64))?);
    let rows = ops.add(TensorOp::Iota(height.clone()), &[first, one])?;
    let columns = ops.add(TensorOp::Iota(width.clone()), &[zero, one])?;
    let rows = ops.add(TensorOp::Broadcast(SmallVec::from_slice(&[false, true])), &[rows])?;
    let columns = ops.add(TensorOp::Broadcast(SmallVec::from_slice(&[true, false])), &[columns])?;
    let mut kept = ops.map(ScalarOp::Le, &[rows, columns])?;
    if shape.len() > 2 {
        let new = (0..shape.len()).map(|axis| axis + 2 < shape.len()).collect();
        kept = ops.add(TensorOp::Broadcast(new), &[kept])?;
    }
    let nothing = ops.constant(Scalar::zero(ops.graph.dtype(arg)))?;
    ops.map(ScalarOp::Where, &[kept, arg, nothing])
}

/// Adds the op, at its place in the text; `given` is the axis of the user's tensor.
fn gather(
    ops: &mut OpBuilder,
    source: Val,
    index: Val,
    axis: usize,
    given: usize,
) -> Result<Val, DefineError> {
    let val = ops.add(TensorOp::Gather(axis as u8), &[source, index])?;
    let counts_from_end = ops.op == LanguageOp::Select.name();
    ops.record.add_site(val, Site { op: ops.op, axis: given, counts_from_end, span: ops.span });
    Ok(val)
}

/// An index with the rank of the tensor.
fn index_tensor(ops: &OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let index = index_argument(ops, bound, "index")?;
    let rank = ops.graph.shape(arg).len();
    if ops.graph.shape(index).len() == rank {
        return Ok(index);
    }
    let (expected, given) = (format!("a tensor of rank {rank}"), ops.graph.shape(index).len());
    let error = ops.reject(expected, format!("one of rank {given}")).argument("index");
    Err(error.at(bound.span_of("index")))
}

fn index_argument(ops: &OpBuilder, bound: &Bound, param: &str) -> Result<Val, DefineError> {
    let index = ops.tensor_argument(bound, param)?;
    let dtype = ops.graph.dtype(index);
    if dtype.is_wide_int() {
        return Ok(index);
    }
    let error = ops.reject("a tensor of i32, i64 or u64", format!("one of {dtype}")).argument(param);
    Err(error.at(bound.span_of(param)))
}
