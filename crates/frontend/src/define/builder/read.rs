//! Arguments read as values of the graph: tensors, numbers in a dtype, and sizes, indices and widths as expressions over
//! size symbols.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Shape, Val};
use ops::{DType, Scalar};

use super::{OpBuilder, Term};
use crate::define::arguments::Bound;
use crate::define::error::DefineError;

impl OpBuilder {
    /// The argument `arg`, which must be a tensor and not a scalar of the language.
    pub fn tensor(&self, bound: &Bound) -> Result<Val, DefineError> {
        self.tensor_argument(bound, "arg")
    }

    /// An argument that must be a tensor; the diagnostic about a scalar says that it is one.
    pub fn tensor_argument(&self, bound: &Bound, param: &str) -> Result<Val, DefineError> {
        let value = bound.tensor(param)?;
        if self.is_scalar(value) {
            let error = self.reject("a tensor", "a scalar").argument(param);
            return Err(error.at(bound.span_of(param)));
        }
        Ok(value.val)
    }

    /// A tensor of floats: the argument, and its dtype.
    pub fn float_tensor(&self, bound: &Bound, param: &str) -> Result<(Val, DType), DefineError> {
        let value = bound.tensor(param)?;
        let dtype = self.graph.dtype(value.val);
        match dtype.is_float() && !self.is_scalar(value) {
            true => Ok((value.val, dtype)),
            false => {
                let error = self.reject("a tensor of floats", format!("one of {dtype}")).argument(param);
                Err(error.at(bound.span_of(param)))
            }
        }
    }

    /// A number or a scalar in a dtype.
    pub fn coefficient(&mut self, bound: &Bound, param: &str, dtype: DType) -> Result<Val, DefineError> {
        match bound.object(param) {
            Object::Number(number) if number.fits(dtype) => self.constant(number.cast(dtype)),
            Object::Number(_) => Err(bound.reject(param, &format!("a number that {dtype} can hold"))),
            Object::Value(value) if self.graph.shape(value.val).is_empty() => self.cast(value.val, dtype),
            Object::None => self.constant(Scalar::zero(dtype)),
            _ => Err(bound.reject(param, "a number or a scalar")),
        }
    }

    /// A number or scalar in a dtype; zero if absent. A float does not become an integer, nor a number a bool.
    pub fn fill(&mut self, bound: &Bound, param: &str, dtype: DType) -> Result<Val, DefineError> {
        let class = |dtype: DType| u8::from(dtype.is_int()) + 2 * u8::from(dtype.is_float());
        match Term::new(self, bound.object(param)) {
            None => self.constant(Scalar::zero(dtype)),
            Some(Term::Number(scalar)) if class(scalar.dtype()) <= class(dtype) && scalar.fits(dtype) => {
                self.constant(scalar.cast(dtype))
            }
            Some(Term::Val(val, _)) if class(self.graph.dtype(val)) <= class(dtype) => {
                if !self.graph.shape(val).is_empty() {
                    return Err(bound.reject(param, "a scalar or a number"));
                }
                self.cast(val, dtype)
            }
            Some(_) => Err(bound.reject(param, &format!("a number that {dtype} can hold"))),
        }
    }

    /// A list of integers, each a number or a scalar that sizes and scalar inputs determine.
    pub fn integers(&mut self, bound: &Bound, param: &str) -> Result<Shape, DefineError> {
        let items = bound.object(param).as_list().unwrap_or_default();
        let sizes: Option<Shape> = items.iter().map(|item| self.as_size(item)).collect();
        sizes.ok_or_else(|| {
            let expected = "a list of numbers and of scalars that follow from sizes and scalar inputs";
            bound.reject(param, expected)
        })
    }

    /// A list of sizes, `None` for -1. Sizes not known to be zero or more are assumed to be.
    pub fn sizes(&mut self, bound: &Bound, param: &str) -> Result<Vec<Option<Expr>>, DefineError> {
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

    /// A list of sizes without -1.
    pub fn full_sizes(&mut self, bound: &Bound, param: &str) -> Result<Shape, DefineError> {
        let sizes: Option<Shape> = self.sizes(bound, param)?.into_iter().collect();
        sizes.ok_or_else(|| bound.reject(param, "a list of sizes, none negative"))
    }
}
