//! Calls of elementwise ops on real operands: a primitive is a node between casts, a composite its expression.

use ir::definition::NamedValue;
use ir::graph::{TensorOp, Val};
use ops::{Composite, Param, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::{Nodes, OpBuilder, Term};
use crate::define::error::DefineError;

/// A call of a primitive.
pub(in crate::define) fn primitive(
    ops: &mut OpBuilder,
    scalar_op: ScalarOp,
    bound: &Bound,
) -> Result<NamedValue, DefineError> {
    let terms = ops.terms(bound);
    let signature = ops.signature(scalar_op, &terms, bound)?;
    let vals = ops.prepare(&terms, &signature.compute)?;
    let val = ops.add(TensorOp::Map(scalar_op), &vals)?;
    let val = ops.cast(val, signature.result)?;
    Ok(ops.value(val, terms.iter().all(|term| term.is_scalar())))
}

/// A call of a composite: its expression, all of it in one compute dtype.
pub(in crate::define) fn composite(
    ops: &mut OpBuilder,
    op: Composite,
    bound: &Bound,
) -> Result<NamedValue, DefineError> {
    let terms = ops.terms(bound);
    let signature = op.signature(&ops.operands(&terms)).map_err(|error| ops.mistyped(error, bound))?;
    // A bound beyond the dtype has no effect.
    let saturated = |(term, param): (Term, &Param)| match param.is_bound() {
        true => term.saturated(signature.result),
        false => term,
    };
    let terms: Vec<Term> = terms.into_iter().zip(op.row().params).map(saturated).collect();
    ops.check_numbers(&terms, &signature, bound)?;
    let vals = ops.prepare(&terms, &signature.compute)?;
    let params: Vec<Result<Val, DefineError>> = vals.into_iter().map(Ok).collect();
    let mut nodes = Nodes { ops, dtype: signature.compute.first().copied() };
    let val = op.expr().eval(&mut nodes, &params)?;
    let val = ops.cast(val, signature.result)?;
    ops.add_pattern(op.name(), bound.objects(), &[val]);
    Ok(ops.value(val, terms.iter().all(|term| term.is_scalar())))
}
