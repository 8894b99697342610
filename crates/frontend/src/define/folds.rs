//! Reductions: sums, products, extremes and their places, variances.
//!
//! Integers and bools are summed as i64. Half types are reduced in f32 and rounded once at the end. An axis of the static
//! size 1 is squeezed.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Axes, Shape, TensorOp, Val};
use ops::{DType, Monoid, Scalar, ScalarOp};
use smallvec::SmallVec;

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

/// What a Welford fold gives, dims kept where that was asked for.
pub(super) struct Moments {
    pub mean: Val,
    /// The sum of squared deviations from the mean.
    pub m2: Val,
    /// How many elements there were.
    pub count: Val,
}

impl DefinitionBuilder {
    /// `sum`, `prod`, `max` or `min`.
    pub(super) fn call_fold(&mut self, monoid: Monoid, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let axes = self.fold_axes(bound, arg)?;
        let adds = matches!(monoid, Monoid::Sum | Monoid::Prod);
        let given = bound.dtype("dtype");
        if given.is_some() && !adds {
            return Err(bound.reject("dtype", "DataType.Null: the result has the dtype of the operand"));
        }
        let dtype = match given.unwrap_or(self.graph.dtype(arg)) {
            dtype if given.is_none() && adds && !dtype.is_float() => DType::I64,
            dtype => dtype,
        };
        let arg = self.cast(arg, dtype)?;
        let folded = self.fold(monoid, arg, axes, bound.flag("keepdim"))?;
        self.cast(folded, dtype)
    }

    /// The axes that `dims` names, or all.
    fn fold_axes(&self, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
        let rank = self.graph.shape(arg).len();
        match bound.axes("dims", rank)? {
            Some(axes) if axes.is_empty() && rank > 0 => {
                Err(bound.reject("dims", "a list of at least one axis"))
            }
            axes => Ok(axes.unwrap_or_else(|| (0..rank as u8).collect())),
        }
    }

    /// `any` or `all`: the largest or smallest of bools.
    pub(super) fn call_quantifier(
        &mut self,
        monoid: Monoid,
        bound: &Bound,
        arg: Val,
    ) -> Result<Val, DefineError> {
        let axes = self.fold_axes(bound, arg)?;
        let arg = self.cast(arg, DType::Bool)?;
        self.fold(monoid, arg, axes, bound.flag("keepdim"))
    }

    /// `argmax` or `argmin`: the fold of elements together with their numbers in row-major order.
    pub(super) fn call_arg(&mut self, monoid: Monoid, bound: &Bound, arg: Val) -> Result<Val, DefineError> {
        let shape = self.shape(arg);
        let axes: Axes = match bound.object("dim") {
            Object::None => (0..shape.len() as u8).collect(),
            _ => [bound.axis("dim", shape.len())? as u8].into_iter().collect(),
        };
        for &axis in &axes {
            // Sizes that only a call knows are checked then.
            if self.facts.assume_le(&Expr::one(), &shape[axis as usize]).is_err() {
                let error =
                    self.reject("a tensor with elements to choose from", "one without").argument("arg");
                return Err(error.at(bound.span(0)));
            }
        }
        if axes.is_empty() {
            return self.constant(Scalar::zero(DType::I64));
        }
        let dtype = self.graph.dtype(arg);
        let arg = self.cast(arg, if dtype == DType::Bool { DType::I32 } else { dtype.compute() })?;
        let numbers = self.row_major_numbers(&shape, &axes)?;
        let states = self.fold_states(monoid, &[arg, numbers], axes, bound.flag("keepdim"))?;
        Ok(states[1])
    }

    /// For each element of a shape its row-major number along these axes.
    fn row_major_numbers(&mut self, shape: &Shape, axes: &[u8]) -> Result<Val, DefineError> {
        let (zero, one) = (self.constant(Scalar::zero(DType::I64))?, self.constant(Scalar::one(DType::I64))?);
        let mut number: Option<Val> = None;
        for &axis in axes {
            let size = &shape[axis as usize];
            let place = self.add(TensorOp::Iota(size.clone()), &[zero, one])?;
            let new = (0..shape.len()).map(|other| other != axis as usize).collect();
            let place = if shape.len() == 1 { place } else { self.add(TensorOp::Broadcast(new), &[place])? };
            number = Some(match number {
                None => place,
                Some(outer) => {
                    let size = self.size_val(size.clone())?;
                    let start = self.map(ScalarOp::Mul, &[outer, size])?;
                    self.map(ScalarOp::Add, &[start, place])?
                }
            });
        }
        let number = number.unwrap_or(zero);
        if self.graph.shape(number) == shape {
            Ok(number)
        } else {
            self.add(TensorOp::Expand(shape.clone()), &[number])
        }
    }

    /// A fold of one result over these axes, in the compute dtype.
    pub(super) fn fold(
        &mut self,
        monoid: Monoid,
        arg: Val,
        axes: Axes,
        keep: bool,
    ) -> Result<Val, DefineError> {
        let shape = self.shape(arg);
        let arg = self.cast(arg, self.graph.dtype(arg).compute())?;
        let (ones, long): (Axes, Axes) =
            axes.iter().copied().partition(|&axis| shape[axis as usize].is_one());
        let squeezed = self.squeeze_axes(arg, ones.clone())?;
        let mut places: Axes =
            long.iter().map(|&axis| axis - ones.iter().filter(|&&one| one < axis).count() as u8).collect();
        places.sort_unstable();
        let folded = if places.is_empty() {
            squeezed
        } else {
            self.add(TensorOp::Fold { monoid, axes: places }, &[squeezed])?
        };
        if keep { self.keep(folded, &axes) } else { Ok(folded) }
    }

    /// The axes that a fold dropped, back with size 1.
    pub(super) fn keep(&mut self, folded: Val, axes: &[u8]) -> Result<Val, DefineError> {
        let rank = self.graph.shape(folded).len() + axes.len();
        let new: SmallVec<[bool; 6]> = (0..rank).map(|axis| axes.contains(&(axis as u8))).collect();
        if axes.is_empty() { Ok(folded) } else { self.add(TensorOp::Broadcast(new), &[folded]) }
    }

    /// Mean, squared deviations and count over these axes.
    pub(super) fn welford(&mut self, arg: Val, axes: Axes, keep: bool) -> Result<Moments, DefineError> {
        if axes.is_empty() {
            // One number, which deviates from itself where it is not finite.
            let (m2, count) = (self.map(ScalarOp::Sub, &[arg, arg])?, self.divisor(arg, &axes, 0)?);
            return Ok(Moments { mean: arg, m2, count });
        }
        let results = self.fold_states(Monoid::Welford, &[arg], axes, keep)?;
        Ok(Moments { mean: results[0], m2: results[1], count: results[2] })
    }

    /// The operand and axes of `var`, `var_mean` and `welford`.
    pub(super) fn moment_axes(&self, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
        let dtype = self.graph.dtype(arg);
        if !matches!(dtype, DType::F32 | DType::F64) {
            let error = self.reject("a tensor of f32 or f64", format!("one of {dtype}")).argument("arg");
            return Err(error.at(bound.span(0)).help("cast it to DataType.Float first"));
        }
        let axes = bound.axes("dims", self.graph.shape(arg).len())?.unwrap_or_default();
        if axes.is_empty() { Err(bound.reject("dims", "a list of at least one axis")) } else { Ok(axes) }
    }

    /// Variance and mean.
    pub(super) fn var_mean(&mut self, bound: &Bound, arg: Val) -> Result<(Val, Val), DefineError> {
        let axes = self.moment_axes(bound, arg)?;
        let correction = bound.int("correction")?;
        let divisor = self.divisor(arg, &axes, correction)?;
        let count = self.count(arg, &axes);
        let moments = self.welford(arg, axes, bound.flag("keepdim"))?;
        let mean = self.nan_of_nothing(moments.mean, count)?;
        Ok((self.map(ScalarOp::Div, &[moments.m2, divisor])?, mean))
    }

    /// A mean of so many elements; of none it is not a number, as a sum over a count would be.
    fn nan_of_nothing(&mut self, mean: Val, count: Expr) -> Result<Val, DefineError> {
        let zero = Expr::zero();
        if self.facts.prove_lt(&zero, &count) {
            return Ok(mean);
        }
        let (zero, count) = (self.size_val(zero)?, self.size_val(count)?);
        let any = self.map(ScalarOp::Lt, &[zero, count])?;
        let nan = self.constant(Scalar::from_f64(self.graph.dtype(mean), f64::NAN))?;
        self.map(ScalarOp::Where, &[any, mean, nan])
    }

    /// The number of elements along these axes less the correction, never negative, in the dtype of the tensor.
    pub(super) fn divisor(&mut self, arg: Val, axes: &[u8], correction: i64) -> Result<Val, DefineError> {
        let dtype = self.graph.dtype(arg).compute();
        let count = self.count(arg, axes) - correction;
        match count.as_const() {
            Some(n) => self.constant(Scalar::from_i64(dtype, n.max(0))),
            None => {
                let bounded = if correction > 0 { Expr::max(&count, &Expr::zero()) } else { count };
                let size = self.size_val(bounded)?;
                self.cast(size, dtype)
            }
        }
    }
}
