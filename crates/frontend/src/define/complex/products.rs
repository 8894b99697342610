//! Products of complex tensors: folds and scans of two states, the parts of the product so far.

use ir::definition::Object;
use ir::graph::{Axes, TensorOp, Val};
use ops::{DType, LanguageOp, Scalar};

use super::super::arguments::Bound;
use super::super::builder::DefinitionBuilder;
use super::super::error::DefineError;
use super::Parts;

impl DefinitionBuilder {
    /// `prod` or `cumprod` of a complex tensor.
    pub(super) fn complex_product(&mut self, op: LanguageOp, bound: &Bound) -> Result<Val, DefineError> {
        let arg = self.tensor(bound)?;
        let parts = self.whole_parts(arg)?;
        let monoid = self.of_two("mul", Scalar::complex(self.graph.dtype(arg), 1.0, 0.0))?;
        let rank = self.graph.shape(arg).len();
        if op == LanguageOp::Cumprod {
            let axis = bound.axis("dim", rank)? as u8;
            let node = self.add_node(TensorOp::Scan { monoid, axis }, &parts)?;
            let product = self.graph.results(node).collect::<Vec<Val>>();
            let product = [product[0], product[1]];
            return match self.complex_init(bound, self.graph.dtype(arg))? {
                Some(init) => self.product(init, product),
                None => self.pair(product),
            };
        }
        let axes: Axes = bound.axes("dims", rank)?.unwrap_or_else(|| (0..rank as u8).collect());
        let states = match (axes.is_empty(), rank) {
            (true, 0) => return Ok(arg),
            (true, _) => return Err(bound.reject("dims", "a list of at least one axis")),
            _ => self.fold_states(monoid, &parts, axes, bound.flag("keepdim"))?,
        };
        self.pair([states[0], states[1]])
    }

    /// What a scan starts from, as parts of a dtype.
    fn complex_init(&mut self, bound: &Bound, dtype: DType) -> Result<Option<Parts>, DefineError> {
        let val = match bound.object("init") {
            Object::None => return Ok(None),
            Object::Number(scalar) => self.complex_constant(scalar.cast(dtype))?,
            Object::Value(value) if self.graph.shape(value.val).is_empty() => self.cast(value.val, dtype)?,
            _ => return Err(bound.reject("init", "a number or a scalar")),
        };
        self.parts(val).map(Some)
    }
}
