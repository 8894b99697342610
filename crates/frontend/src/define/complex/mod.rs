//! Complex numbers as pairs of reals: from here on the graph holds parts.
//!
//! Takes ops on complex operands and applies them to the parts. A complex value is an input or `complex(re, im)` of two
//! real values, and nothing else: the parts of the one are its scalar ops `real` and `imag`, those of the other are there
//! already. So a node of a complex dtype has no users but outputs, and what follows the builder (folds, segments,
//! schedules, kernels) meets real arithmetic only. The compiler may expand a pair on its way to an output.
//!
//! `elementwise` (primitives and composites, by the table of meanings) · `tensor_ops` (what moves data, and sums) ·
//! `moments` (variances) · `products` · `matrices`.

mod elementwise;
mod matrices;
mod moments;
mod products;
mod tensor_ops;

use index::Expr;
use ir::array::Part;
use ir::definition::Object;
use ir::graph::{TensorOp, Val};
use ops::{DType, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

/// The real and the imaginary part of a complex value.
pub(super) type Parts = [Val; 2];

/// Both parts, in the order of memory.
const PARTS: [Part; 2] = [Part::Real, Part::Imaginary];

impl DefinitionBuilder {
    /// The parts of a complex value. One that is a scalar stands for the same number everywhere.
    pub(super) fn parts(&mut self, val: Val) -> Result<Parts, DefineError> {
        debug_assert!(self.graph.dtype(val).is_complex(), "parts of a real value");
        match (self.graph.op(val), self.graph.operands(val)) {
            (TensorOp::Map(ScalarOp::Complex), &[re, im]) => Ok([re, im]),
            _ => Ok([
                self.add(TensorOp::Map(ScalarOp::Real), &[val])?,
                self.add(TensorOp::Map(ScalarOp::Imag), &[val])?,
            ]),
        }
    }

    /// The parts of a complex value, both of its shape.
    pub(super) fn whole_parts(&mut self, val: Val) -> Result<Parts, DefineError> {
        let [re, im] = self.parts(val)?;
        Ok([self.spread_over(re, val)?, self.spread_over(im, val)?])
    }

    /// A part, or what was computed of one part, as large as the whole.
    fn spread_over(&mut self, part: Val, whole: Val) -> Result<Val, DefineError> {
        let (has, shape) = (self.shape(part), self.shape(whole));
        if has == shape {
            return Ok(part);
        }
        let raised = match has.is_empty() {
            true => self.add(TensorOp::Broadcast(SmallVec::from_elem(true, shape.len())), &[part])?,
            false => part,
        };
        if shape.iter().all(Expr::is_one) { Ok(raised) } else { self.add(TensorOp::Expand(shape), &[raised]) }
    }

    /// The complex value of these parts.
    pub(super) fn pair(&mut self, [re, im]: Parts) -> Result<Val, DefineError> {
        self.add(TensorOp::Map(ScalarOp::Complex), &[re, im])
    }

    /// A complex constant.
    pub(super) fn complex_constant(&mut self, scalar: Scalar) -> Result<Val, DefineError> {
        let parts = [self.constant(scalar.real())?, self.constant(scalar.imag())?];
        self.pair(parts)
    }

    /// A value converted where one of the dtypes is complex: the imaginary part of a real number is zero, that of a
    /// complex one is dropped. A bool says whether either part is not zero.
    pub(super) fn cast_complex(&mut self, val: Val, dtype: DType) -> Result<Val, DefineError> {
        let part = dtype.real();
        if !self.graph.dtype(val).is_complex() {
            let re = self.cast(val, part)?;
            let im = self.constant(Scalar::zero(part))?;
            return self.pair([re, im]);
        }
        let [re, im] = self.parts(val)?;
        let [re, im] = [self.cast(re, part)?, self.cast(im, part)?];
        match dtype {
            DType::Bool => self.add(TensorOp::Map(ScalarOp::LogicalOr), &[re, im]),
            _ if dtype.is_complex() => self.pair([re, im]),
            _ => self.spread_over(re, val),
        }
    }

    /// The first argument that is complex, or says that the result is: its parameter and its dtype.
    pub(super) fn complex_argument(&self, bound: &Bound) -> Option<(usize, DType)> {
        let dtypes = bound.objects().iter().map(|object| self.complex_dtype(object));
        dtypes.enumerate().find_map(|(slot, dtype)| Some((slot, dtype?)))
    }

    fn complex_dtype(&self, object: &Object) -> Option<DType> {
        let dtype = match object {
            Object::Number(scalar) => scalar.dtype(),
            Object::DType(dtype) => *dtype,
            Object::Value(value) => self.graph.dtype(value.val),
            Object::List(items) => return items.iter().find_map(|item| self.complex_dtype(item)),
            Object::None | Object::Text(_) | Object::Function(_) => return None,
        };
        Some(dtype).filter(|dtype| dtype.is_complex())
    }

    /// The diagnostic about an op that complex numbers do not have.
    fn no_complex(&self, bound: &Bound) -> DefineError {
        let (slot, dtype) = self.complex_argument(bound).unwrap_or((0, DType::C64));
        let expected = format!("real, as `{}` is not defined for complex numbers", bound.op);
        self.reject(expected, dtype.to_string()).argument(bound.name(slot)).at(bound.span(slot))
    }
}
