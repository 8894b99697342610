//! Sizes, indices and widths as arguments: numbers and integer scalars, read as expressions over size symbols.

use index::Expr;
use ir::graph::{Shape, Val};

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

impl DefinitionBuilder {
    /// A list of integers, each a number or a scalar that sizes and scalar inputs determine.
    pub(super) fn integers(&mut self, bound: &Bound, param: &str) -> Result<Shape, DefineError> {
        let items = bound.object(param).as_list().unwrap_or_default();
        let sizes: Option<Shape> = items.iter().map(|item| self.as_size(item)).collect();
        sizes.ok_or_else(|| {
            let expected = "a list of numbers and of scalars that follow from sizes and scalar inputs";
            bound.reject(param, expected)
        })
    }

    /// A list of sizes, `None` where it says -1. What is not known to be zero or more is taken to be.
    pub(super) fn sizes(&mut self, bound: &Bound, param: &str) -> Result<Vec<Option<Expr>>, DefineError> {
        let reject = || bound.reject(param, "a list of sizes, none negative but for -1");
        let sizes = self.integers(bound, param)?;
        let read = |size: Expr| match size.as_const() {
            Some(-1) => Ok(None),
            Some(n) if n < 0 => Err(reject()),
            Some(_) => Ok(Some(size)),
            None => self.facts.assume_le(&Expr::zero(), &size).map(|()| Some(size)).map_err(|_| reject()),
        };
        sizes.into_iter().map(read).collect()
    }

    /// A list of sizes, all of them given.
    pub(super) fn full_sizes(&mut self, bound: &Bound, param: &str) -> Result<Shape, DefineError> {
        let sizes: Option<Shape> = self.sizes(bound, param)?.into_iter().collect();
        sizes.ok_or_else(|| bound.reject(param, "a list of sizes, none negative"))
    }

    /// The shape of a value, for reading while nodes are added.
    pub(super) fn shape(&self, val: Val) -> Shape {
        self.graph.shape(val).clone()
    }

    /// The number of elements along some axes.
    pub(super) fn count(&self, val: Val, axes: &[u8]) -> Expr {
        axes.iter().map(|&axis| self.graph.shape(val)[axis as usize].clone()).product()
    }
}
