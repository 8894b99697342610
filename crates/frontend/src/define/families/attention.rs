//! Scaled dot product attention and its gradients, composed of products, folds and primitives.
//!
//! With queries `q`, keys `k` and values `v`, the weights are the softmax of `scale q k^T` over the keys, and the result is
//! the weights times `v` (Vaswani and others 2017, Attention is all you need). A causal query attends to the keys up to its
//! own number. Everything is computed in f32 (f64 for f64) and rounded once at the end. The backward pass recomputes the
//! weights from the logarithms of their sums (Dao and others 2022, FlashAttention), and the dropout mask from the seed and
//! offset of its random numbers.

use index::Expr;
use ir::definition::Object;
use ir::graph::{Axes, Shape, TensorOp, Type, Val};
use ops::{DType, Monoid, Scalar, ScalarOp};

use super::composites::dropout;
use super::random::{self, Sequence};
use super::{external, folds};
use crate::define::arguments::Bound;
use crate::define::builder::{OpBuilder, Term};
use crate::define::error::DefineError;

/// Queries, keys and values, and how their scores are weighted.
struct Attention {
    query: Val,
    key: Val,
    value: Val,
    /// The number of axes: at least one of batches, then heads, length and width.
    rank: usize,
    dtype: DType,
    scale: Val,
    causal: Causal,
    /// The probability that a weight is dropped; `None` without dropout.
    dropped: Option<Val>,
}

/// Whether a query attends only to the keys up to its own number.
#[derive(Clone, Copy)]
enum Causal {
    Known(bool),
    /// An argument of the call decides.
    Asked(Val),
}

impl Attention {
    fn last(&self) -> Axes {
        Axes::from_slice(&[self.rank as u8 - 1])
    }
}

/// The result, the logarithms of the sums, and the seed (twice) and offset of the dropout, which are zeros without dropout.
pub(super) fn forward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let attention = attention_of(ops, bound)?;
    let mut scores = scores(ops, &attention)?;
    if let Some(bias) = score_operand(ops, bound, "bias", attention.rank)? {
        let bias = ops.cast(bias, attention.dtype.compute())?;
        scores = ops.map(ScalarOp::Add, &[scores, bias])?;
    }
    let mut hidden = !matches!(attention.causal, Causal::Known(false));
    if let Some(mask) = score_operand(ops, bound, "mask", attention.rank)? {
        if ops.graph.dtype(mask) != DType::Bool {
            return Err(bound.reject("mask", "a tensor of bools: True where a key is seen"));
        }
        scores = hide(ops, scores, mask)?;
        hidden = true;
    }
    let last = attention.last();
    let mut max = folds::fold(ops, Monoid::Max, scores, last.clone(), true)?;
    if hidden {
        max = finite_or_zero(ops, max)?;
    }
    let shifted = ops.map(ScalarOp::Sub, &[scores, max])?;
    let powers = ops.map(ScalarOp::Exp, &[shifted])?;
    let sum = folds::fold(ops, Monoid::Sum, powers, last.clone(), true)?;
    let logarithm = ops.map(ScalarOp::Log, &[sum])?;
    let logsumexp = ops.map(ScalarOp::Add, &[logarithm, max])?;
    let logsumexp = ops.squeeze_axes(logsumexp, last)?;
    let divisor = if hidden { one_for_zero(ops, sum)? } else { sum };
    let mut weights = ops.map(ScalarOp::Div, &[powers, divisor])?;
    let zero = ops.constant(Scalar::zero(DType::U64))?;
    let mut stream = [zero, zero];
    if let Some(p) = attention.dropped {
        let sequence = random::next_sequence(ops)?;
        let [mask, scale] = kept_weights(ops, weights, p, sequence)?;
        weights = dropout::masked(ops, weights, mask, scale)?;
        stream = [ops.cast(sequence.seed, DType::U64)?, ops.cast(sequence.offset, DType::U64)?];
    }
    let wide = ops.cast(attention.value, attention.dtype.compute())?;
    let result = external::product(ops, weights, wide, attention.dtype.compute())?;
    let result = ops.cast(result, attention.dtype)?;
    let logsumexp = ops.cast(logsumexp, DType::F32)?;
    let [seed, offset] = stream;
    let pair = ops.add(TensorOp::Broadcast([true].into_iter().collect()), &[seed])?;
    let seed = ops.add(TensorOp::Expand([Expr::constant(2)].into_iter().collect()), &[pair])?;
    Ok(vec![result, logsumexp, seed, offset])
}

/// The gradients of query, key and value.
pub(super) fn backward(ops: &mut OpBuilder, bound: &Bound) -> Result<Vec<Val>, DefineError> {
    let attention = attention_of(ops, bound)?;
    let compute = attention.dtype.compute();
    let wide = |ops: &mut OpBuilder, param: &str, rank: usize| {
        let val = floats(ops, bound, param, rank)?;
        ops.cast(val, compute)
    };
    let rank = attention.rank;
    let (grad, output) = (wide(ops, "grad_output", rank)?, wide(ops, "output", rank)?);
    let logsumexp = wide(ops, "logsumexp", rank - 1)?;
    let (query, key) = (ops.cast(attention.query, compute)?, ops.cast(attention.key, compute)?);
    let value = ops.cast(attention.value, compute)?;
    let scores = scores(ops, &attention)?;
    let is_new = (0..rank).map(|axis| axis == rank - 1);
    let column = ops.add(TensorOp::Broadcast(is_new.collect()), &[logsumexp])?;
    let shifted = ops.map(ScalarOp::Sub, &[scores, column])?;
    let weights = ops.map(ScalarOp::Exp, &[shifted])?;
    let value_t = external::transposed(ops, value)?;
    let (mut attended, mut grad_weights) = (weights, external::product(ops, grad, value_t, compute)?);
    if let Some(p) = attention.dropped {
        let sequence = given_sequence(ops, bound)?;
        let [mask, scale] = kept_weights(ops, weights, p, sequence)?;
        attended = dropout::masked(ops, weights, mask, scale)?;
        grad_weights = dropout::masked(ops, grad_weights, mask, scale)?;
    }
    let attended_t = external::transposed(ops, attended)?;
    let grad_value = external::product(ops, attended_t, grad, compute)?;
    let product = ops.map(ScalarOp::Mul, &[grad, output])?;
    let row = folds::fold(ops, Monoid::Sum, product, attention.last(), true)?;
    let centred = ops.map(ScalarOp::Sub, &[grad_weights, row])?;
    let weighted = ops.map(ScalarOp::Mul, &[weights, centred])?;
    let grad_scores = ops.map(ScalarOp::Mul, &[weighted, attention.scale])?;
    let grad_query = external::product(ops, grad_scores, key, compute)?;
    let grad_scores_t = external::transposed(ops, grad_scores)?;
    let grad_key = external::product(ops, grad_scores_t, query, compute)?;
    [grad_query, grad_key, grad_value].map(|grad| ops.cast(grad, attention.dtype)).into_iter().collect()
}

fn attention_of(ops: &mut OpBuilder, bound: &Bound) -> Result<Attention, DefineError> {
    let rank = ops.graph.shape(ops.tensor_argument(bound, "query")?).len().max(4);
    let query = floats(ops, bound, "query", rank)?;
    let (key, value) = (floats(ops, bound, "key", rank)?, floats(ops, bound, "value", rank)?);
    let dtype = ops.graph.dtype(query);
    for (param, val) in [("key", key), ("value", value)] {
        if ops.graph.dtype(val) != dtype {
            return Err(bound.reject(param, &format!("a tensor of {dtype}, as `query` is")));
        }
    }
    let chance = dropout::probability(ops, bound, "dropout_p", dtype.compute())?;
    let is_zero = ops.graph.as_constant(chance).is_some_and(|chance| chance.as_f64() == 0.0);
    let dropped = (!is_zero).then_some(chance);
    let causal = match Term::new(ops, bound.object("is_causal")) {
        None => Causal::Known(false),
        Some(Term::Number(scalar)) if scalar.dtype() == DType::Bool => Causal::Known(scalar.as_bool()),
        Some(Term::Val(val, _)) if *ops.graph.ty(val) == Type::scalar(DType::Bool) => Causal::Asked(val),
        Some(_) => return Err(bound.reject("is_causal", "True, False or a scalar of such")),
    };
    let scale = scale(ops, bound, query)?;
    Ok(Attention { query, key, value, rank, dtype, scale, causal, dropped })
}

/// The mask of the weights that dropout keeps, and the factor of the kept ones.
fn kept_weights(
    ops: &mut OpBuilder,
    weights: Val,
    p: Val,
    sequence: Sequence,
) -> Result<[Val; 2], DefineError> {
    let (shape, dtype) = (ops.shape(weights), ops.graph.dtype(weights));
    let drawn = random::uniform_of(ops, sequence, &shape, dtype)?;
    dropout::kept(ops, drawn, p)
}

/// The sequence of random numbers of the forward pass: the first element of the seed, and the offset.
fn given_sequence(ops: &mut OpBuilder, bound: &Bound) -> Result<Sequence, DefineError> {
    let (seeds, offset) = (bound.tensor("philox_seed")?.val, bound.tensor("philox_offset")?.val);
    let shape = ops.shape(seeds);
    let is_seed = ops.graph.dtype(seeds).is_int()
        && match &shape[..] {
            [] => true,
            [count] => ops.facts.assume_le(&Expr::one(), count).is_ok(),
            _ => false,
        };
    if !is_seed {
        let expected = "the seed that the forward pass gave, an integer tensor of one axis or none";
        return Err(bound.reject("philox_seed", expected));
    }
    if !ops.graph.dtype(offset).is_int() || !ops.graph.shape(offset).is_empty() {
        return Err(
            bound.reject("philox_offset", "the offset that the forward pass gave, an integer without axes")
        );
    }
    let seed = match &shape[..] {
        [] => seeds,
        [count] if count.is_one() => ops.squeeze_axes(seeds, Axes::from_slice(&[0]))?,
        _ => {
            let (starts, sizes) = (Shape::from_iter([Expr::zero()]), Shape::from_iter([Expr::one()]));
            let first = ops.add(TensorOp::Slice { starts, sizes }, &[seeds])?;
            ops.squeeze_axes(first, Axes::from_slice(&[0]))?
        }
    };
    Ok(Sequence { seed: ops.cast(seed, DType::I64)?, offset: ops.cast(offset, DType::I64)? })
}

/// A tensor of floats of this rank.
fn floats(ops: &OpBuilder, bound: &Bound, param: &str, rank: usize) -> Result<Val, DefineError> {
    let val = ops.tensor_argument(bound, param)?;
    let ty = ops.graph.ty(val);
    if ty.dtype.is_float() && !ty.dtype.is_float8() && ty.rank() == rank {
        return Ok(val);
    }
    let (axes, batches) = match param {
        "logsumexp" => ("heads and length", rank - 2),
        _ => ("heads, length and width", rank - 3),
    };
    let batches = if batches == 1 { "batch".to_owned() } else { format!("{batches} of batches") };
    let expected = format!("a tensor of f16, bf16, f32 or f64 with the axes {batches}, {axes}");
    let error = ops.reject(expected, format!("of type {ty}"));
    Err(error.argument(param).at(bound.span_of(param)))
}

/// The scale as given, or one over the root of the width.
fn scale(ops: &mut OpBuilder, bound: &Bound, query: Val) -> Result<Val, DefineError> {
    let compute = ops.graph.dtype(query).compute();
    match Term::new(ops, bound.object("scale")) {
        Some(Term::Number(scalar)) => ops.constant(scalar.cast(compute)),
        Some(Term::Val(val, _)) if ops.graph.shape(val).is_empty() => ops.cast(val, compute),
        Some(_) => Err(bound.reject("scale", "a number or a scalar")),
        None => {
            let width = ops.shape(query).last().cloned().expect("a query has axes");
            let width = ops.size_val(width)?;
            let width = ops.cast(width, compute)?;
            ops.map(ScalarOp::Rsqrt, &[width])
        }
    }
}

/// `scale q k^T`, minus infinity for keys that a causal query does not attend to.
fn scores(ops: &mut OpBuilder, attention: &Attention) -> Result<Val, DefineError> {
    let key = external::transposed(ops, attention.key)?;
    let products = external::product(ops, attention.query, key, attention.dtype.compute())?;
    let scores = ops.map(ScalarOp::Mul, &[products, attention.scale])?;
    if matches!(attention.causal, Causal::Known(false)) {
        return Ok(scores);
    }
    let shape = ops.shape(scores);
    let rows = numbers(ops, &shape, attention.rank - 2)?;
    let columns = numbers(ops, &shape, attention.rank - 1)?;
    let mut attended = ops.map(ScalarOp::Le, &[columns, rows])?;
    if let Causal::Asked(is_causal) = attention.causal {
        let sees_all = ops.map(ScalarOp::LogicalNot, &[is_causal])?;
        attended = ops.map(ScalarOp::LogicalOr, &[attended, sees_all])?;
    }
    hide(ops, scores, attended)
}

/// `0, 1, …` along one axis of this shape, with the others of size 1.
fn numbers(ops: &mut OpBuilder, shape: &[Expr], axis: usize) -> Result<Val, DefineError> {
    let zero = ops.constant(Scalar::from_i64(DType::I64, 0))?;
    let one = ops.constant(Scalar::from_i64(DType::I64, 1))?;
    let iota = ops.add(TensorOp::Iota(shape[axis].clone()), &[zero, one])?;
    ops.add(TensorOp::Broadcast((0..shape.len()).map(|k| k != axis).collect()), &[iota])
}

fn hide(ops: &mut OpBuilder, scores: Val, attended: Val) -> Result<Val, DefineError> {
    let lowest = ops.constant(Scalar::from_f64(ops.graph.dtype(scores), f64::NEG_INFINITY))?;
    ops.map(ScalarOp::Where, &[attended, scores, lowest])
}

/// An optional operand that is broadcast to the scores.
fn score_operand(
    ops: &OpBuilder,
    bound: &Bound,
    param: &str,
    rank: usize,
) -> Result<Option<Val>, DefineError> {
    if *bound.object(param) == Object::None {
        return Ok(None);
    }
    let val = ops.tensor_argument(bound, param)?;
    if ops.graph.shape(val).len() > rank {
        return Err(bound.reject(param, &format!("a tensor of at most the {rank} axes of the scores")));
    }
    Ok(Some(val))
}

/// The largest score of a query that attends to no key is minus infinity; zero instead leaves all exponentials zero.
fn finite_or_zero(ops: &mut OpBuilder, max: Val) -> Result<Val, DefineError> {
    let dtype = ops.graph.dtype(max);
    let lowest = ops.constant(Scalar::from_f64(dtype, f64::NEG_INFINITY))?;
    let zero = ops.constant(Scalar::zero(dtype))?;
    let none = ops.map(ScalarOp::Eq, &[max, lowest])?;
    ops.map(ScalarOp::Where, &[none, zero, max])
}

fn one_for_zero(ops: &mut OpBuilder, sum: Val) -> Result<Val, DefineError> {
    let dtype = ops.graph.dtype(sum);
    let (zero, one) = (ops.constant(Scalar::zero(dtype))?, ops.constant(Scalar::one(dtype))?);
    let none = ops.map(ScalarOp::Eq, &[sum, zero])?;
    ops.map(ScalarOp::Where, &[none, one, sum])
}
