//! Slices: indices checked in nvFuser's order, with its messages beside ours, and the node.
//!
//! Takes bound arguments. Indices beyond a tensor's end are clamped to it, unless the call says that there are none.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Shape, TensorOp, Val};

use crate::define::arguments::{Bound, describe};
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

// nvFuser's messages about slices; scripts look for them in our errors too.
const STRIDES_MATCH: &str = "Slice start_indices and strides don't match!";
const DIMENSIONS_MATCH: &str = "Number of tensor dimensions does not match slice dimensions!";
const INDICES_MATCH: &str = "Slice indexing attribute dimensions don't match!";
const START: &str = "Slice operation start_indices must be greater than or equal to 0.";
const END: &str = "Slice operation end_indices must be greater than or equal to start_indices.";
const STRIDES: &str = "nvFuser Limitation: All slice operation strides must be of const size 1.";

pub(super) fn slice(ops: &mut OpBuilder, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
    let shape = ops.shape(arg);
    let (mut starts, mut ends) = bounds_of_slice(ops, bound, shape.len())?;
    let exact = bound.flag("manual_normalization");
    let asked: Shape = starts.iter().zip(&ends).map(|(start, end)| end - start).collect();
    for (axis, size) in shape.iter().enumerate() {
        if !exact {
            starts[axis] = smaller(ops, &starts[axis], size);
            ends[axis] = smaller(ops, &ends[axis], size);
        }
        let ordered = ops.facts.assume_le(&starts[axis], &ends[axis]);
        let inside = ops.facts.assume_le(&ends[axis], size);
        if ordered.is_err() || inside.is_err() {
            let expected = format!("at least `start_indices` and at most {size} on axis {axis}");
            return Err(bound.reject("end_indices", &expected));
        }
    }
    let sizes: Shape = (0..shape.len())
        .map(|axis| match &ends[axis] - &starts[axis] {
            // Written so that it is provably at most 1, which broadcasting requires.
            size if asked[axis].is_one() && !size.is_one() => {
                Expr::min(&asked[axis], &(&shape[axis] - &starts[axis]))
            }
            size => size,
        })
        .collect();
    if sizes == shape { Ok(arg) } else { ops.add(TensorOp::Slice { starts, sizes }, &[arg]) }
}

/// The start and the end of a slice on each axis of a tensor of this rank.
fn bounds_of_slice(ops: &mut OpBuilder, bound: &Bound, rank: usize) -> Result<(Shape, Shape), DefineError> {
    let starts = ops.integers(bound, "start_indices")?;
    let ends = ops.integers(bound, "end_indices")?;
    let strides = match bound.object("strides") {
        Object::None => Shape::from_elem(Expr::one(), starts.len()),
        _ => ops.integers(bound, "strides")?,
    };
    let for_each_axis = format!("a list of {rank} numbers, one for each axis");
    if strides.len() != starts.len() {
        let param = if strides.len() == rank { "start_indices" } else { "strides" };
        return Err(rejected(bound, param, &for_each_axis, STRIDES_MATCH));
    }
    if starts.len() != rank {
        return Err(rejected(bound, "start_indices", &for_each_axis, DIMENSIONS_MATCH));
    }
    if ends.len() != rank {
        return Err(rejected(bound, "end_indices", &for_each_axis, INDICES_MATCH));
    }
    if starts.iter().any(|start| ops.facts.assume_le(&Expr::zero(), start).is_err()) {
        return Err(rejected(bound, "start_indices", "a list of numbers, zero or more", START));
    }
    if starts.iter().zip(&ends).any(|(start, end)| ops.facts.prove_lt(end, start)) {
        return Err(rejected(bound, "end_indices", "at least `start_indices` on each axis", END));
    }
    match strides.iter().all(Expr::is_one) {
        true => Ok((starts, ends)),
        false => Err(rejected(bound, "strides", "a list of ones", STRIDES)),
    }
}

fn smaller(ops: &OpBuilder, a: &Expr, b: &Expr) -> Expr {
    match (ops.facts.prove_le(a, b), ops.facts.prove_le(b, a)) {
        (true, _) => a.clone(),
        (_, true) => b.clone(),
        _ => Expr::min(a, b),
    }
}

/// A diagnostic in our words, followed by nvFuser's.
fn rejected(bound: &Bound, param: &str, expected: &str, known: &str) -> DefineError {
    let given = describe(bound.object(param));
    bound.reject(param, expected).help(format!("in nvFuser's words: {known} Given: {given}"))
}
