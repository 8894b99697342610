//! Products of complex tensors: folds and scans of two states, the parts of the product so far.

use ir::definition::Object;
use ir::graph::{Axes, TensorOp, Val};
use ops::{DType, LanguageOp, Scalar};

use super::elementwise;
use crate::define::arguments::Bound;
use crate::define::builder::{OpBuilder, Parts};
use crate::define::error::DefineError;
use crate::define::families::{folds, scans};

/// `prod` or `cumprod` of a complex tensor.
pub(super) fn product(ops: &mut OpBuilder, op: LanguageOp, bound: &Bound) -> Result<Val, DefineError> {
    let arg = ops.tensor(bound)?;
    let parts = ops.whole_parts(arg)?;
    let monoid = scans::of_two(ops, "mul", Scalar::complex(ops.graph.dtype(arg), 1.0, 0.0))?;
    let rank = ops.graph.shape(arg).len();
    if op == LanguageOp::Cumprod {
        let axis = bound.axis("dim", rank)? as u8;
        let node = ops.add_node(TensorOp::Scan { monoid, axis }, &parts)?;
        let product = ops.graph.results(node).collect::<Vec<Val>>();
        let product = [product[0], product[1]];
        return match init_parts(ops, bound, ops.graph.dtype(arg))? {
            Some(init) => elementwise::multiply(ops, init, product),
            None => ops.pair(product),
        };
    }
    let axes: Axes = bound.axes("dims", rank)?.unwrap_or_else(|| (0..rank as u8).collect());
    let states = match (axes.is_empty(), rank) {
        (true, 0) => return Ok(arg),
        (true, _) => return Err(bound.reject("dims", "a list of at least one axis")),
        _ => folds::fold_states(ops, monoid, &parts, axes, bound.flag("keepdim"))?,
    };
    ops.pair([states[0], states[1]])
}

/// The initial value of a scan, as parts of a dtype.
fn init_parts(ops: &mut OpBuilder, bound: &Bound, dtype: DType) -> Result<Option<Parts>, DefineError> {
    let val = match bound.object("init") {
        Object::None => return Ok(None),
        Object::Number(scalar) => ops.complex_constant(scalar.cast(dtype))?,
        Object::Value(value) if ops.graph.shape(value.val).is_empty() => ops.cast(value.val, dtype)?,
        _ => return Err(bound.reject("init", "a number or a scalar")),
    };
    ops.parts(val).map(Some)
}
