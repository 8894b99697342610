//! Ops by name: finds the row, binds the arguments, adds the nodes, and the line of the record.

use std::cmp::Reverse;

use ir::definition::{CallArgument, NamedValue, Object};
use ir::graph::{Axes, TensorOp, Val};
use ops::{self, Composite, LanguageOp, OpRef, ScalarOp};

use super::arguments::Bound;
use super::builder::OpBuilder;
use super::complex;
use super::error::DefineError;
use super::families::{self, movement, scalar};

/// Applies an op: any row of the tables of primitives, composites and tensor ops.
///
/// # Errors
/// For an unknown name, arguments that do not fit the parameters, dtypes and shapes that do not fit.
pub(super) fn call(
    ops: &mut OpBuilder,
    op: &str,
    arguments: Vec<CallArgument>,
) -> Result<Object, DefineError> {
    let found = ops::lookup(op).map_err(|unknown| {
        if let Some(why) = ops::rejected(op) {
            return DefineError::new(op, "", why);
        }
        let error = DefineError::new(op, "", "not an op");
        match unknown.did_you_mean {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        }
    })?;
    ops.op = found.name();
    let arguments = with_newer_places(found, dtype_by_name(found, arguments));
    let bound = Bound::new(found.name(), &found.params(), arguments)?;
    let known = ops.facts.clone();
    let made = ops.or_as_before(|ops| apply(ops, found, &bound))?;
    ops.record.add_constraints(ops.facts.subjects_since(&known), found.name(), ops.span);
    Ok(made)
}

fn apply(ops: &mut OpBuilder, op: OpRef, bound: &Bound) -> Result<Object, DefineError> {
    match op {
        OpRef::Primitive(scalar_op) => {
            primitive(ops, scalar_op, bound).map(|value| record_one(ops, bound, value))
        }
        OpRef::Composite(op) => composite(ops, op, bound).map(|value| record_one(ops, bound, value)),
        OpRef::Language(LanguageOp::Cast) => {
            let value = movement::cast(ops, bound)?;
            keep_order(ops, bound, value);
            Ok(record_one(ops, bound, value))
        }
        OpRef::Language(LanguageOp::StrideOrder) => {
            stride_order(ops, bound).map(|value| record_one(ops, bound, value))
        }
        OpRef::Language(LanguageOp::Size) => size(ops, bound),
        OpRef::Language(LanguageOp::Shape) => shape(ops, bound),
        OpRef::Language(LanguageOp::SdpfaFwd) => {
            let results = language_op(ops, LanguageOp::SdpfaFwd, bound)?;
            keep_query_order(ops, bound, &results);
            Ok(results)
        }
        OpRef::Language(tensor_op) => language_op(ops, tensor_op, bound),
    }
}

fn record_one(ops: &mut OpBuilder, bound: &Bound, value: NamedValue) -> Object {
    ops.record_call(bound.op, bound.recorded(), &[value]);
    Object::Value(value)
}

fn primitive(ops: &mut OpBuilder, scalar_op: ScalarOp, bound: &Bound) -> Result<NamedValue, DefineError> {
    match complex::takes(ops, scalar_op, bound) {
        true => complex::primitive(ops, scalar_op, bound),
        false => scalar::primitive(ops, scalar_op, bound),
    }
}

fn composite(ops: &mut OpBuilder, op: Composite, bound: &Bound) -> Result<NamedValue, DefineError> {
    match complex::complex_argument(ops, bound) {
        Some(_) => complex::composite(ops, op, bound),
        None => scalar::composite(ops, op, bound),
    }
}

/// An op whose results are tensors.
fn language_op(ops: &mut OpBuilder, tensor_op: LanguageOp, bound: &Bound) -> Result<Object, DefineError> {
    let vals = match complex::complex_argument(ops, bound) {
        Some(_) => complex::tensor_op(ops, tensor_op, bound)?,
        None => families::language_op(ops, tensor_op, bound)?,
    };
    Ok(record_tensors(ops, bound, vals))
}

fn record_tensors(ops: &mut OpBuilder, bound: &Bound, vals: Vec<Val>) -> Object {
    let values: Vec<NamedValue> = vals.into_iter().map(|val| ops.value(val, false)).collect();
    ops.record_call(bound.op, bound.recorded(), &values);
    match values[..] {
        [only] => Object::Value(only),
        _ => Object::list(values.into_iter().map(Object::Value)),
    }
}

/// A copy whose memory order is recorded in case it is an output.
fn stride_order(ops: &mut OpBuilder, bound: &Bound) -> Result<NamedValue, DefineError> {
    let arg = ops.tensor(bound)?;
    let ranks = bound.stride_order(ops.graph.shape(arg).len())?;
    let copied = vec![CallArgument::positional(bound.object("arg").clone())];
    let copied = Bound::new(bound.op, &OpRef::Primitive(ScalarOp::Set).params(), copied)?;
    let value = primitive(ops, ScalarOp::Set, &copied)?;
    let mut axes: Axes = (0..ranks.len() as u8).collect();
    axes.sort_unstable_by_key(|&axis| Reverse(ranks[usize::from(axis)]));
    if !axes.is_empty() {
        ops.orders.insert(value.entry, axes);
    }
    Ok(value)
}

/// A cast has the layout of its operand.
fn keep_order(ops: &mut OpBuilder, bound: &Bound, value: NamedValue) {
    let order = bound.object("arg").as_value().and_then(|arg| ops.orders.get(&arg.entry));
    if let Some(order) = order.cloned() {
        ops.orders.insert(value.entry, order);
    }
}

/// The result of attention has the layout of the queries, as flash attention leaves it.
fn keep_query_order(ops: &mut OpBuilder, bound: &Bound, results: &Object) {
    let result = results.as_list().and_then(|results| results.first()?.as_value());
    let order = bound
        .object("query")
        .as_value()
        .and_then(|query| ops.orders.get(&query.entry).cloned().or_else(|| order_in_memory(ops, query.val)));
    if let (Some(result), Some(order)) = (result, order) {
        ops.orders.insert(result.entry, order);
    }
}

/// The axes of a permuted value, outermost in memory first; `None` if it is row-major or unknown.
fn order_in_memory(ops: &OpBuilder, val: Val) -> Option<Axes> {
    match ops.graph.op(val) {
        TensorOp::Input { layout, .. } => (!layout.order.is_empty()).then(|| layout.order.clone()),
        TensorOp::Permute(dims) => {
            let of = ops.graph.node(val.node).operands[0];
            let inner = order_in_memory(ops, of).unwrap_or_else(|| (0..dims.len() as u8).collect());
            inner
                .iter()
                .map(|axis| dims.iter().position(|dim| dim == axis).map(|place| place as u8))
                .collect()
        }
        _ => None,
    }
}

fn size(ops: &mut OpBuilder, bound: &Bound) -> Result<Object, DefineError> {
    let arg = ops.tensor(bound)?;
    let axis = bound.axis("dim", ops.graph.shape(arg).len())?;
    let val = ops.size_val(ops.graph.shape(arg)[axis].clone())?;
    let value = ops.value(val, true);
    Ok(record_one(ops, bound, value))
}

/// Recorded as one `size` an axis, as nvFuser prints it.
fn shape(ops: &mut OpBuilder, bound: &Bound) -> Result<Object, DefineError> {
    let arg = ops.tensor(bound)?;
    let mut sizes = Vec::new();
    for (axis, size) in ops.shape(arg).into_iter().enumerate() {
        let val = ops.size_val(size)?;
        let value = ops.value(val, true);
        let arguments = vec![("arg", bound.object("arg").clone()), ("dim", Object::int(axis as i64))];
        ops.record_call(LanguageOp::Size.name(), arguments, &[value]);
        sizes.push(Object::Value(value));
    }
    Ok(Object::list(sizes))
}

/// nvFuser takes the dtype of a full reduction as its second positional argument: `sum(t, DataType.Float)`.
fn dtype_by_name(op: OpRef, mut arguments: Vec<CallArgument>) -> Vec<CallArgument> {
    let reduces =
        matches!(op, OpRef::Language(LanguageOp::Sum | LanguageOp::Prod | LanguageOp::Max | LanguageOp::Min));
    if let [_, second] = &mut arguments[..]
        && reduces
        && second.keyword.is_none()
        && matches!(second.object, Object::DType(_))
    {
        second.keyword = Some("dtype".to_owned());
    }
    arguments
}

/// Positional arguments of `sdpfa_fwd` as nvFuser took them before it had a bias and a mask: a number in the bias's position
/// is the dropout, and later ones become keywords.
fn with_newer_places(op: OpRef, mut arguments: Vec<CallArgument>) -> Vec<CallArgument> {
    let is_older =
        |third: &CallArgument| third.keyword.is_none() && matches!(third.object, Object::Number(_));
    if op == OpRef::Language(LanguageOp::SdpfaFwd) && arguments.get(3).is_some_and(is_older) {
        for (argument, name) in arguments[3..].iter_mut().zip(["dropout_p", "is_causal", "scale"]) {
            argument.keyword.get_or_insert_with(|| name.to_owned());
        }
    }
    arguments
}
