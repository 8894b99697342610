//! Tensor ops that move data without computing: casts, broadcasts, reshapes, pads, joins, and tensors from nothing.
//!
//! Each takes bound arguments and adds the nodes. What changes nothing adds no node.

use index::Expr;
use ir::definition::{NamedValue, Object};
use ir::graph::{Axes, Shape, TensorOp, Val};
use ops::{DType, Scalar};
use smallvec::SmallVec;

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;
use super::scalar::Term;

impl DefinitionBuilder {
    pub(super) fn call_cast(&mut self, bound: &Bound) -> Result<NamedValue, DefineError> {
        let dtype = bound.dtype("dtype").ok_or_else(|| bound.reject("dtype", "a DataType"))?;
        match bound.object("arg") {
            Object::Value(value) => {
                let val = self.cast(value.val, dtype)?;
                let is_scalar = self.is_scalar(*value);
                Ok(self.value(val, is_scalar))
            }
            Object::Number(scalar) => {
                let val = self.constant(scalar.cast(dtype))?;
                Ok(self.value(val, true))
            }
            _ => Err(bound.reject("arg", "a tensor, a scalar or a number")),
        }
    }

    pub(super) fn broadcast(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let new: SmallVec<[bool; 6]> = bound.bools("is_broadcast_dim").into();
        let rank = self.graph.shape(arg).len();
        if new.iter().filter(|&&new| !new).count() != rank {
            return Err(bound.reject("is_broadcast_dim", &format!("a list with {rank} times False")));
        }
        if new.contains(&true) { self.add(TensorOp::Broadcast(new), &[arg]) } else { Ok(arg) }
    }

    pub(super) fn broadcast_in_dim(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let sizes = self.sizes(bound, "shape")?;
        let rank = self.graph.shape(arg).len();
        let places = bound.axes("broadcast_dims", sizes.len())?.unwrap_or_default();
        if places.len() != rank || !places.is_sorted() {
            let expected =
                format!("a list of {rank} axes of the result, ascending, one for each axis of `arg`");
            return Err(bound.reject("broadcast_dims", &expected));
        }
        let new: SmallVec<[bool; 6]> = (0..sizes.len()).map(|axis| !places.contains(&(axis as u8))).collect();
        let spread = if new.contains(&true) { self.add(TensorOp::Broadcast(new), &[arg])? } else { arg };
        self.expand_to(spread, sizes)
    }

    pub(super) fn expand(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let sizes = self.sizes(bound, "shape")?;
        let rank = self.graph.shape(arg).len();
        if sizes.len() != rank {
            return Err(bound.reject("shape", &format!("a list of {rank} sizes")));
        }
        self.expand_to(arg, sizes)
    }

    /// Repeats axes of size 1. Other axes keep their size; that it is the one asked for becomes a fact.
    fn expand_to(&mut self, arg: Val, sizes: Vec<Option<Expr>>) -> Result<Val, DefineError> {
        let mut target = self.shape(arg);
        let mut repeats = false;
        for (axis, size) in sizes.into_iter().enumerate() {
            let Some(size) = size else { continue };
            let has = &mut target[axis];
            if has.is_one() {
                repeats |= !size.is_one();
            } else if self.facts.prove_ne(has, &size) || self.facts.assume_equal(has, &size).is_err() {
                return Err(self.reject(format!("size {has} or -1 on axis {axis}"), format!("size {size}")));
            }
            if has.as_const().is_none_or(|n| n == 1) {
                *has = size;
            }
        }
        if repeats { self.add(TensorOp::Expand(target), &[arg]) } else { Ok(arg) }
    }

    pub(super) fn squeeze(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let axes = bound.axes("dims", self.graph.shape(arg).len())?.unwrap_or_default();
        self.squeeze_axes(arg, axes)
    }

    /// Drops axes of size 1.
    pub(super) fn squeeze_axes(&mut self, arg: Val, mut axes: Axes) -> Result<Val, DefineError> {
        axes.sort_unstable();
        if axes.is_empty() { Ok(arg) } else { self.add(TensorOp::Squeeze(axes), &[arg]) }
    }

    pub(super) fn reshape(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let sizes = self.sizes(bound, "new_shape")?;
        let total: Expr = self.shape(arg).into_iter().product();
        let known: Expr = sizes.iter().flatten().cloned().product();
        let missing = sizes.iter().filter(|size| size.is_none()).count();
        if missing > 1 || (missing == 1 && known.is_zero()) {
            return Err(bound.reject("new_shape", "a list with at most one -1, and no 0 beside it"));
        }
        let rest = if missing == 1 { self.rest(&total, &known) } else { Expr::one() };
        let target: Shape = sizes.into_iter().map(|size| size.unwrap_or_else(|| rest.clone())).collect();
        self.reshape_to(arg, target).map_err(|error| error.at(bound.span(1)))
    }

    /// The size of the axis that takes what is left of so many elements. That it is whole becomes a fact, also where other
    /// axes may be empty, so that an axis is known to be the product of its parts.
    fn rest(&mut self, total: &Expr, known: &Expr) -> Expr {
        let factor = known.terms().first().map_or(1, |term| term.coefficient);
        let symbols = known.exact_quotient(&Expr::constant(factor));
        let Some(split) = symbols.and_then(|symbols| total.exact_quotient(&symbols)) else {
            return total.floor_div(known);
        };
        if split.as_const().is_none() {
            self.facts.assume_multiple(&split, factor);
        }
        split.floor_div(&Expr::constant(factor))
    }

    /// The elements in row-major order, in another shape of as many.
    pub(super) fn reshape_to(&mut self, arg: Val, target: Shape) -> Result<Val, DefineError> {
        let from = self.shape(arg);
        if from == target {
            return Ok(arg);
        }
        if from.iter().filter(|size| !size.is_one()).eq(target.iter().filter(|size| !size.is_one())) {
            return self.change_ones(arg, &from, &target);
        }
        self.add(TensorOp::Reshape(target), &[arg])
    }

    /// A reshape that only drops and adds axes of size 1 says so, which is easier to fuse.
    fn change_ones(&mut self, arg: Val, from: &Shape, target: &Shape) -> Result<Val, DefineError> {
        let ones = (0..from.len()).filter(|&axis| from[axis].is_one()).map(|axis| axis as u8).collect();
        let bare = self.squeeze_axes(arg, ones)?;
        let new: SmallVec<[bool; 6]> = target.iter().map(Expr::is_one).collect();
        if new.contains(&true) { self.add(TensorOp::Broadcast(new), &[bare]) } else { Ok(bare) }
    }

    pub(super) fn permute(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let rank = self.graph.shape(arg).len();
        let order = bound.axes("dims", rank)?.unwrap_or_default();
        if order.len() != rank {
            return Err(bound.reject("dims", &format!("a list of all {rank} axes")));
        }
        if order.is_sorted() { Ok(arg) } else { self.add(TensorOp::Permute(order), &[arg]) }
    }

    pub(super) fn pad(&mut self, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let widths = self.integers(bound, "pad_widths")?;
        let rank = self.graph.shape(arg).len();
        if widths.len() % 2 != 0 || widths.len() > 2 * rank {
            return Err(
                bound.reject("pad_widths", &format!("an even number of widths, at most {}", 2 * rank))
            );
        }
        let dtype = self.graph.dtype(arg);
        let fill = self.fill(bound, "value", dtype)?;
        let (mut before, mut after) =
            (Shape::from_elem(Expr::zero(), rank), Shape::from_elem(Expr::zero(), rank));
        for (place, pair) in widths.chunks_exact(2).enumerate() {
            (before[rank - 1 - place], after[rank - 1 - place]) = (pair[0].clone(), pair[1].clone());
        }
        if widths.iter().all(Expr::is_zero) {
            return Ok(arg);
        }
        self.add(TensorOp::Pad { before, after }, &[arg, fill])
    }

    /// A number or scalar in a dtype; zero if absent. A float does not become an integer, nor a number a bool.
    pub(super) fn fill(&mut self, bound: &Bound, param: &str, dtype: DType) -> Result<Val, DefineError> {
        let class = |dtype: DType| u8::from(dtype.is_int()) + 2 * u8::from(dtype.is_float());
        match Term::new(self, bound.object(param)) {
            None => self.constant(Scalar::zero(dtype)),
            Some(Term::Number(scalar)) if class(scalar.dtype()) <= class(dtype) => {
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

    pub(super) fn cat(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let tensors: Vec<Val> = bound.tensors("tensors").into_iter().map(|value| value.val).collect();
        let scalars = bound.tensors("tensors").into_iter().any(|value| self.is_scalar(value));
        let Some(&first) = tensors.first().filter(|_| !scalars) else {
            return Err(bound.reject("tensors", "a list of tensors, at least one"));
        };
        let axis = bound.axis("dim", self.graph.shape(first).len())?;
        let tensors = match bound.flag("manual_padding") {
            true => self.without_padding(bound, &tensors, axis)?,
            false => tensors,
        };
        let first = tensors[0];
        if tensors.len() == 1 { Ok(first) } else { self.add(TensorOp::Cat(axis as u8), &tensors) }
    }

    /// The operands of a `cat` whose printer padded each to the size of the result, so that they lie where they belong:
    /// what was padded.
    fn without_padding(
        &mut self,
        bound: &Bound,
        tensors: &[Val],
        axis: usize,
    ) -> Result<Vec<Val>, DefineError> {
        let reject = || {
            let expected =
                format!("a list of tensors, each padded along dimension {axis} to its place in the result");
            bound.reject("tensors", &expected)
        };
        let mut place = Expr::zero();
        let mut bare = Vec::with_capacity(tensors.len());
        for &tensor in tensors {
            let TensorOp::Pad { before, after } = self.graph.op(tensor).clone() else {
                bare.push(tensor);
                place = place + self.graph.shape(tensor)[axis].clone();
                continue;
            };
            let operands = self.graph.operands(tensor).to_vec();
            if self.facts.assume_equal(&before[axis], &place).is_err() {
                return Err(reject());
            }
            place = place + self.graph.shape(operands[0])[axis].clone();
            let (mut others_before, mut others_after) = (before, after);
            (others_before[axis], others_after[axis]) = (Expr::zero(), Expr::zero());
            let is_bare = others_before.iter().chain(&others_after).all(Expr::is_zero);
            bare.push(match is_bare {
                true => operands[0],
                false => self.add(TensorOp::Pad { before: others_before, after: others_after }, &operands)?,
            });
        }
        for &tensor in tensors {
            let size = self.graph.shape(tensor)[axis].clone();
            self.facts.assume_equal(&size, &place).map_err(|_| reject())?;
        }
        Ok(bare)
    }

    pub(super) fn full(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let dtype = bound.dtype("dtype").ok_or_else(|| bound.reject("dtype", "a DataType"))?;
        let shape = self.full_sizes(bound, "shape")?;
        let fill = self.fill(bound, "fill_value", dtype)?;
        if shape.is_empty() {
            return Ok(fill);
        }
        let single = self.add(TensorOp::Broadcast(SmallVec::from_elem(true, shape.len())), &[fill])?;
        if shape.iter().all(Expr::is_one) { Ok(single) } else { self.add(TensorOp::Expand(shape), &[single]) }
    }

    /// Half types count in f32, where there is arithmetic.
    pub(super) fn iota(&mut self, bound: &Bound) -> Result<Val, DefineError> {
        let dtype = bound.dtype("dtype").unwrap_or(DType::I64);
        if dtype == DType::Bool {
            return Err(bound.reject("dtype", "a dtype of numbers"));
        }
        let reject = || {
            bound.reject(
                "length",
                "a number, zero or more, or a scalar that sizes and scalar inputs determine",
            )
        };
        let length = self.as_size(bound.object("length")).ok_or_else(reject)?;
        self.facts.assume_le(&Expr::zero(), &length).map_err(|_| reject())?;
        let compute = dtype.compute();
        let start = self.fill(bound, "start", compute)?;
        let step = match bound.object("step") {
            Object::None => self.constant(Scalar::one(compute))?,
            _ => self.fill(bound, "step", compute)?,
        };
        for (param, val) in [("start", start), ("step", step)] {
            if self.graph.as_constant(val).is_some_and(|number| !number.as_f64().is_finite()) {
                return Err(bound.reject(param, "a finite number"));
            }
        }
        if self.graph.as_constant(step).is_some_and(|step| step.as_f64() == 0.0) {
            return Err(bound.reject("step", "a number that is not 0"));
        }
        let counted = self.add(TensorOp::Iota(length), &[start, step])?;
        self.cast(counted, dtype)
    }
}
