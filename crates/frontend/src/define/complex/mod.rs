//! Complex numbers as pairs of reals: from here on the graph contains their parts.
//!
//! Takes ops on complex operands and applies them to the parts. A complex value is an input or `complex(re, im)` of two real
//! values, and nothing else: the parts of an input are its scalar ops `real` and `imag`, those of a pair exist already. So a
//! node of a complex dtype has no users except outputs, and everything after the builder (folds, segments, schedules,
//! kernels) sees real arithmetic only. The compiler may expand a pair on its way to an output.
//!
//! `elementwise` (primitives and composites, by the table of meanings) · `tensor_ops` (data movement, and sums) · `moments`
//! (variances) · `products` · `matrices`.

mod elementwise;
mod matrices;
mod moments;
mod products;
mod tensor_ops;

use ir::array::Part;
use ir::definition::Object;
use ops::DType;

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

pub(super) use elementwise::{composite, primitive, takes};
pub(super) use tensor_ops::tensor_op;

/// Both parts, in the order of memory.
const PARTS: [Part; 2] = [Part::Real, Part::Imaginary];

/// The first argument that is complex, or makes the result complex: its parameter and its dtype.
pub(super) fn complex_argument(ops: &OpBuilder, bound: &Bound) -> Option<(usize, DType)> {
    let dtypes = bound.objects().iter().map(|object| complex_dtype(ops, object));
    dtypes.enumerate().find_map(|(slot, dtype)| Some((slot, dtype?)))
}

fn complex_dtype(ops: &OpBuilder, object: &Object) -> Option<DType> {
    let dtype = match object {
        Object::Number(scalar) => scalar.dtype(),
        Object::DType(dtype) => *dtype,
        Object::Value(value) => ops.graph.dtype(value.val),
        Object::List(items) => return items.iter().find_map(|item| complex_dtype(ops, item)),
        Object::None | Object::Text(_) | Object::Function(_) => return None,
    };
    Some(dtype).filter(|dtype| dtype.is_complex())
}

/// The diagnostic for an op that complex numbers do not support.
fn no_complex(ops: &OpBuilder, bound: &Bound) -> DefineError {
    let (slot, dtype) = complex_argument(ops, bound).unwrap_or((0, DType::C64));
    let expected = format!("real, as `{}` is not defined for complex numbers", bound.op);
    ops.reject(expected, dtype.to_string()).argument(bound.name(slot)).at(bound.span(slot))
}
