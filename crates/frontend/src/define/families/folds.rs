//! Reductions: sums, products, extremes and their indices, variances.
//!
//! Integers and bools are summed as i64. Storage types are reduced in wider ones and rounded once at the end. An axis of the static
//! size 1 is squeezed.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Axes, Shape, TensorOp, Val};
use ops::{DType, Monoid, Scalar, ScalarOp};

use crate::define::arguments::Bound;
use crate::define::builder::OpBuilder;
use crate::define::error::DefineError;

/// The results of a Welford fold, with the axes kept if requested.
pub(in crate::define) struct Moments {
    pub mean: Val,
    /// The sum of squared deviations from the mean.
    pub m2: Val,
    /// The number of elements.
    pub count: Val,
}

/// `sum`, `prod`, `max` or `min`.
pub(super) fn reduction(
    ops: &mut OpBuilder,
    monoid: Monoid,
    bound: &Bound,
    arg: Val,
) -> Result<Val, DefineError> {
    let axes = fold_axes(ops, bound, arg)?;
    let adds = matches!(monoid, Monoid::Sum | Monoid::Prod);
    let given = bound.dtype("dtype");
    if given.is_some() && !adds {
        return Err(bound.reject("dtype", "DataType.Null: the result has the dtype of the operand"));
    }
    let dtype = match given.unwrap_or(ops.graph.dtype(arg)) {
        dtype if given.is_none() && adds && !dtype.is_float() => DType::I64,
        dtype => dtype,
    };
    let arg = ops.cast(arg, dtype)?;
    let folded = fold(ops, monoid.clone(), arg, axes, bound.flag("keepdim"))?;
    let folded = if dtype.is_narrow_int() { within(ops, &monoid, folded, dtype)? } else { folded };
    ops.cast(folded, dtype)
}

/// The extreme of no elements is that of the wider type, which would wrap: that of `dtype` instead.
fn within(ops: &mut OpBuilder, monoid: &Monoid, folded: Val, dtype: DType) -> Result<Val, DefineError> {
    let (scalar_op, bound) = match monoid {
        Monoid::Max => (ScalarOp::Maximum, Scalar::lowest(dtype)),
        Monoid::Min => (ScalarOp::Minimum, Scalar::highest(dtype)),
        _ => return Ok(folded),
    };
    let bound = ops.constant(bound.cast(dtype.compute()))?;
    ops.map(scalar_op, &[folded, bound])
}

/// The axes in `dims`, or all.
fn fold_axes(ops: &OpBuilder, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
    let rank = ops.graph.shape(arg).len();
    match bound.axes("dims", rank)? {
        Some(axes) if axes.is_empty() && rank > 0 => Err(bound.reject("dims", "a list of at least one axis")),
        axes => Ok(axes.unwrap_or_else(|| (0..rank as u8).collect())),
    }
}

/// `any` or `all`: the largest or smallest of bools.
pub(super) fn quantifier(
    ops: &mut OpBuilder,
    monoid: Monoid,
    bound: &Bound,
    arg: Val,
) -> Result<Val, DefineError> {
    let axes = fold_axes(ops, bound, arg)?;
    let arg = ops.cast(arg, DType::Bool)?;
    fold(ops, monoid, arg, axes, bound.flag("keepdim"))
}

/// `argmax` or `argmin`: the fold of elements together with their numbers in row-major order.
pub(super) fn extreme_index(
    ops: &mut OpBuilder,
    monoid: Monoid,
    bound: &Bound,
    arg: Val,
) -> Result<Val, DefineError> {
    let shape = ops.shape(arg);
    let axes: Axes = match bound.object("dim") {
        Object::None => (0..shape.len() as u8).collect(),
        _ => [bound.axis("dim", shape.len())? as u8].into_iter().collect(),
    };
    for &axis in &axes {
        // Sizes that are known only at a call are checked there.
        if ops.facts.assume_le(&Expr::one(), &shape[axis as usize]).is_err() {
            let error = ops.reject("a tensor with elements to choose from", "one without").argument("arg");
            return Err(error.at(bound.span(0)));
        }
    }
    if axes.is_empty() {
        return ops.constant(Scalar::zero(DType::I64));
    }
    let dtype = ops.graph.dtype(arg);
    let arg = ops.cast(arg, if dtype == DType::Bool { DType::I32 } else { dtype.compute() })?;
    let numbers = row_major_numbers(ops, &shape, &axes)?;
    let states = fold_states(ops, monoid, &[arg, numbers], axes, bound.flag("keepdim"))?;
    Ok(states[1])
}

/// For each element of a shape its row-major number along these axes.
fn row_major_numbers(ops: &mut OpBuilder, shape: &Shape, axes: &[u8]) -> Result<Val, DefineError> {
    let (zero, one) = (ops.constant(Scalar::zero(DType::I64))?, ops.constant(Scalar::one(DType::I64))?);
    let mut number: Option<Val> = None;
    for &axis in axes {
        let size = &shape[axis as usize];
        let place = ops.add(TensorOp::Iota(size.clone()), &[zero, one])?;
        let new = (0..shape.len()).map(|other| other != axis as usize).collect();
        let place = if shape.len() == 1 { place } else { ops.add(TensorOp::Broadcast(new), &[place])? };
        number = Some(match number {
            None => place,
            Some(outer) => {
                let size = ops.size_val(size.clone())?;
                let start = ops.map(ScalarOp::Mul, &[outer, size])?;
                ops.map(ScalarOp::Add, &[start, place])?
            }
        });
    }
    let number = number.unwrap_or(zero);
    if ops.graph.shape(number) == shape {
        Ok(number)
    } else {
        ops.add(TensorOp::Expand(shape.clone()), &[number])
    }
}

/// A fold of one result over these axes, in the compute dtype.
pub(super) fn fold(
    ops: &mut OpBuilder,
    monoid: Monoid,
    arg: Val,
    axes: Axes,
    keep: bool,
) -> Result<Val, DefineError> {
    let shape = ops.shape(arg);
    let arg = ops.cast(arg, ops.graph.dtype(arg).compute())?;
    let (ones, long): (Axes, Axes) = axes.iter().copied().partition(|&axis| shape[axis as usize].is_one());
    let squeezed = ops.squeeze_axes(arg, ones.clone())?;
    let mut places: Axes =
        long.iter().map(|&axis| axis - ones.iter().filter(|&&one| one < axis).count() as u8).collect();
    places.sort_unstable();
    let folded = if places.is_empty() {
        squeezed
    } else {
        ops.add(TensorOp::Fold { monoid, axes: places }, &[squeezed])?
    };
    if keep { ops.keep(folded, &axes) } else { Ok(folded) }
}

/// Mean, squared deviations and count over these axes.
pub(in crate::define) fn welford(
    ops: &mut OpBuilder,
    arg: Val,
    axes: Axes,
    keep: bool,
) -> Result<Moments, DefineError> {
    if axes.is_empty() {
        // The squared deviation of one number is `x - x`: zero, or NaN for NaN and infinities.
        let (m2, count) = (ops.map(ScalarOp::Sub, &[arg, arg])?, divisor(ops, arg, &axes, 0)?);
        return Ok(Moments { mean: arg, m2, count });
    }
    let results = fold_states(ops, Monoid::Welford, &[arg], axes, keep)?;
    Ok(Moments { mean: results[0], m2: results[1], count: results[2] })
}

/// The operand and axes of `var`, `var_mean` and `welford`.
pub(in crate::define) fn moment_axes(ops: &OpBuilder, bound: &Bound, arg: Val) -> Result<Axes, DefineError> {
    let dtype = ops.graph.dtype(arg);
    if !matches!(dtype, DType::F32 | DType::F64) {
        let error = ops.reject("a tensor of f32 or f64", format!("one of {dtype}")).argument("arg");
        return Err(error.at(bound.span(0)).help("cast it to DataType.Float first"));
    }
    let axes = bound.axes("dims", ops.graph.shape(arg).len())?.unwrap_or_default();
    if axes.is_empty() { Err(bound.reject("dims", "a list of at least one axis")) } else { Ok(axes) }
}

/// Variance and mean.
pub(in crate::define) fn var_mean(
    ops: &mut OpBuilder,
    bound: &Bound,
    arg: Val,
) -> Result<(Val, Val), DefineError> {
    let axes = moment_axes(ops, bound, arg)?;
    let correction = bound.int("correction")?;
    let divisor = divisor(ops, arg, &axes, correction)?;
    let count = ops.count(arg, &axes);
    let moments = welford(ops, arg, axes, bound.flag("keepdim"))?;
    let mean = nan_of_nothing(ops, moments.mean, count)?;
    Ok((ops.map(ScalarOp::Div, &[moments.m2, divisor])?, mean))
}

/// A mean of `count` elements; that of none is NaN, as a sum over a count would be.
fn nan_of_nothing(ops: &mut OpBuilder, mean: Val, count: Expr) -> Result<Val, DefineError> {
    let zero = Expr::zero();
    if ops.facts.prove_lt(&zero, &count) {
        return Ok(mean);
    }
    let (zero, count) = (ops.size_val(zero)?, ops.size_val(count)?);
    let any = ops.map(ScalarOp::Lt, &[zero, count])?;
    let nan = ops.constant(Scalar::from_f64(ops.graph.dtype(mean), f64::NAN))?;
    ops.map(ScalarOp::Where, &[any, mean, nan])
}

/// The number of elements along these axes minus the correction, never negative, in the dtype of the tensor.
pub(super) fn divisor(
    ops: &mut OpBuilder,
    arg: Val,
    axes: &[u8],
    correction: i64,
) -> Result<Val, DefineError> {
    let dtype = ops.graph.dtype(arg).compute();
    let count = ops.count(arg, axes) - correction;
    match count.as_const() {
        Some(n) => ops.constant(Scalar::from_i64(dtype, n.max(0))),
        None => {
            let bounded = if correction > 0 { Expr::max(&count, &Expr::zero()) } else { count };
            let size = ops.size_val(bounded)?;
            ops.cast(size, dtype)
        }
    }
}

/// All results of a fold over these axes.
pub(in crate::define) fn fold_states(
    ops: &mut OpBuilder,
    monoid: Monoid,
    vals: &[Val],
    mut axes: Axes,
    keep: bool,
) -> Result<Vec<Val>, DefineError> {
    axes.sort_unstable();
    let node = ops.add_node(TensorOp::Fold { monoid, axes: axes.clone() }, vals)?;
    let states: Vec<Val> = ops.graph.results(node).collect();
    states.into_iter().map(|val| if keep { ops.keep(val, &axes) } else { Ok(val) }).collect()
}
