//! Scaled dot product attention and its gradients, written out of products, folds and primitives.
//!
//! With queries `q`, keys `k` and values `v`, the weights are the softmax of `scale q k^T` over the keys, and the result is
//! the weights times `v` (Vaswani and others 2017, Attention is all you need). A causal query sees the keys up to its own
//! number. Everything is computed in f32 (f64 for f64) and rounded once at the end. The backward pass makes the weights
//! again from the logarithms of their sums (Dao and others 2022, FlashAttention), and what dropout kept of them from the
//! seed and offset of its random numbers.

use index::Expr;
use ir::definition::{CallArgument, Object};
use ir::graph::{Axes, Shape, TensorOp, Type, Val};
use ops::{DType, LanguageOp, Monoid, OpRef, Scalar, ScalarOp};

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;
use super::random::Sequence;
use super::scalar::Term;

/// Queries, keys and values, and how their products are weighed.
struct Attention {
    query: Val,
    key: Val,
    value: Val,
    /// Axes of batches, at least one, heads, length and width.
    rank: usize,
    dtype: DType,
    scale: Val,
    causal: Causal,
    /// The chance of a weight to be dropped; nothing where none is.
    dropped: Option<Val>,
}

/// Whether a query sees only the keys up to its own number.
#[derive(Clone, Copy)]
enum Causal {
    Known(bool),
    /// A call says so.
    Asked(Val),
}

impl Attention {
    fn last(&self) -> Axes {
        Axes::from_slice(&[self.rank as u8 - 1])
    }
}

impl DefinitionBuilder {
    /// The result, the logarithms of the sums, and the seed (twice) and offset of the dropout, zeros where there is none.
    pub(super) fn attention(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let attention = self.attention_of(bound)?;
        let mut scores = self.scores(&attention)?;
        if let Some(bias) = self.score_operand(bound, "bias", attention.rank)? {
            let bias = self.cast(bias, attention.dtype.compute())?;
            scores = self.map(ScalarOp::Add, &[scores, bias])?;
        }
        let mut hidden = !matches!(attention.causal, Causal::Known(false));
        if let Some(mask) = self.score_operand(bound, "mask", attention.rank)? {
            if self.graph.dtype(mask) != DType::Bool {
                return Err(bound.reject("mask", "a tensor of bools: True where a key is seen"));
            }
            scores = self.hide(scores, mask)?;
            hidden = true;
        }
        let last = attention.last();
        let mut max = self.fold(Monoid::Max, scores, last.clone(), true)?;
        if hidden {
            max = self.finite_or_zero(max)?;
        }
        let shifted = self.map(ScalarOp::Sub, &[scores, max])?;
        let powers = self.map(ScalarOp::Exp, &[shifted])?;
        let sum = self.fold(Monoid::Sum, powers, last.clone(), true)?;
        let logarithm = self.map(ScalarOp::Log, &[sum])?;
        let logsumexp = self.map(ScalarOp::Add, &[logarithm, max])?;
        let logsumexp = self.squeeze_axes(logsumexp, last)?;
        let divisor = if hidden { self.one_for_zero(sum)? } else { sum };
        let mut weights = self.map(ScalarOp::Div, &[powers, divisor])?;
        let zero = self.constant(Scalar::zero(DType::U64))?;
        let mut stream = [zero, zero];
        if let Some(p) = attention.dropped {
            let sequence = self.next_sequence()?;
            let [mask, scale] = self.kept_weights(weights, p, sequence)?;
            weights = self.masked(weights, mask, scale)?;
            stream = [self.cast(sequence.seed, DType::U64)?, self.cast(sequence.offset, DType::U64)?];
        }
        let wide = self.cast(attention.value, attention.dtype.compute())?;
        let result = self.matmul(weights, wide, attention.dtype.compute())?;
        let result = self.cast(result, attention.dtype)?;
        let logsumexp = self.cast(logsumexp, DType::F32)?;
        let [seed, offset] = stream;
        let pair = self.add(TensorOp::Broadcast([true].into_iter().collect()), &[seed])?;
        let seed = self.add(TensorOp::Expand([Expr::constant(2)].into_iter().collect()), &[pair])?;
        Ok(vec![result, logsumexp, seed, offset])
    }

    /// The gradients of query, key and value.
    pub(super) fn attention_backward(&mut self, bound: &Bound) -> Result<Vec<Val>, DefineError> {
        let attention = self.attention_of(bound)?;
        let compute = attention.dtype.compute();
        let wide = |builder: &mut DefinitionBuilder, param: &str, rank: usize| {
            let val = builder.floats(bound, param, rank)?;
            builder.cast(val, compute)
        };
        let rank = attention.rank;
        let (grad, output) = (wide(self, "grad_output", rank)?, wide(self, "output", rank)?);
        let logsumexp = wide(self, "logsumexp", rank - 1)?;
        let (query, key) = (self.cast(attention.query, compute)?, self.cast(attention.key, compute)?);
        let value = self.cast(attention.value, compute)?;
        let scores = self.scores(&attention)?;
        let is_new = (0..rank).map(|axis| axis == rank - 1);
        let column = self.add(TensorOp::Broadcast(is_new.collect()), &[logsumexp])?;
        let shifted = self.map(ScalarOp::Sub, &[scores, column])?;
        let weights = self.map(ScalarOp::Exp, &[shifted])?;
        let value_t = self.transposed(value)?;
        let (mut attended, mut grad_weights) = (weights, self.matmul(grad, value_t, compute)?);
        if let Some(p) = attention.dropped {
            let sequence = self.given_sequence(bound)?;
            let [mask, scale] = self.kept_weights(weights, p, sequence)?;
            attended = self.masked(weights, mask, scale)?;
            grad_weights = self.masked(grad_weights, mask, scale)?;
        }
        let attended_t = self.transposed(attended)?;
        let grad_value = self.matmul(attended_t, grad, compute)?;
        let product = self.map(ScalarOp::Mul, &[grad, output])?;
        let row = self.fold(Monoid::Sum, product, attention.last(), true)?;
        let centred = self.map(ScalarOp::Sub, &[grad_weights, row])?;
        let weighted = self.map(ScalarOp::Mul, &[weights, centred])?;
        let grad_scores = self.map(ScalarOp::Mul, &[weighted, attention.scale])?;
        let grad_query = self.matmul(grad_scores, key, compute)?;
        let grad_scores_t = self.transposed(grad_scores)?;
        let grad_key = self.matmul(grad_scores_t, query, compute)?;
        [grad_query, grad_key, grad_value].map(|grad| self.cast(grad, attention.dtype)).into_iter().collect()
    }

    fn attention_of(&mut self, bound: &Bound) -> Result<Attention, DefineError> {
        let rank = self.graph.shape(self.tensor_called(bound, "query")?).len().max(4);
        let query = self.floats(bound, "query", rank)?;
        let (key, value) = (self.floats(bound, "key", rank)?, self.floats(bound, "value", rank)?);
        let dtype = self.graph.dtype(query);
        for (param, val) in [("key", key), ("value", value)] {
            if self.graph.dtype(val) != dtype {
                return Err(bound.reject(param, &format!("a tensor of {dtype}, as `query` is")));
            }
        }
        let chance = self.probability(bound, "dropout_p", dtype.compute())?;
        let is_zero = self.graph.as_constant(chance).is_some_and(|chance| chance.as_f64() == 0.0);
        let dropped = (!is_zero).then_some(chance);
        let causal = match Term::new(self, bound.object("is_causal")) {
            None => Causal::Known(false),
            Some(Term::Number(scalar)) if scalar.dtype() == DType::Bool => Causal::Known(scalar.as_bool()),
            Some(Term::Val(val, _)) if *self.graph.ty(val) == Type::scalar(DType::Bool) => Causal::Asked(val),
            Some(_) => return Err(bound.reject("is_causal", "True, False or a scalar of such")),
        };
        let scale = self.attention_scale(bound, query)?;
        Ok(Attention { query, key, value, rank, dtype, scale, causal, dropped })
    }

    /// What dropout keeps of the weights, and the factor of what it keeps.
    fn kept_weights(&mut self, weights: Val, p: Val, sequence: Sequence) -> Result<[Val; 2], DefineError> {
        let (shape, dtype) = (self.shape(weights), self.graph.dtype(weights));
        let drawn = self.uniform_of(sequence, &shape, dtype)?;
        self.kept(drawn, p)
    }

    /// The sequence of random numbers of the forward pass: the first element of the seed, and the offset.
    fn given_sequence(&mut self, bound: &Bound) -> Result<Sequence, DefineError> {
        let (seeds, offset) = (bound.tensor("philox_seed")?.val, bound.tensor("philox_offset")?.val);
        let shape = self.shape(seeds);
        let is_seed = self.graph.dtype(seeds).is_int()
            && match &shape[..] {
                [] => true,
                [count] => self.facts.assume_le(&Expr::one(), count).is_ok(),
                _ => false,
            };
        if !is_seed {
            let expected = "the seed that the forward pass gave, an integer tensor of one axis or none";
            return Err(bound.reject("philox_seed", expected));
        }
        if !self.graph.dtype(offset).is_int() || !self.graph.shape(offset).is_empty() {
            return Err(bound
                .reject("philox_offset", "the offset that the forward pass gave, an integer without axes"));
        }
        let seed = match &shape[..] {
            [] => seeds,
            [count] if count.is_one() => self.squeeze_axes(seeds, Axes::from_slice(&[0]))?,
            _ => {
                let (starts, sizes) = (Shape::from_iter([Expr::zero()]), Shape::from_iter([Expr::one()]));
                let first = self.add(TensorOp::Slice { starts, sizes }, &[seeds])?;
                self.squeeze_axes(first, Axes::from_slice(&[0]))?
            }
        };
        Ok(Sequence { seed: self.cast(seed, DType::I64)?, offset: self.cast(offset, DType::I64)? })
    }

    /// A tensor of floats of this rank.
    fn floats(&self, bound: &Bound, param: &str, rank: usize) -> Result<Val, DefineError> {
        let val = self.tensor_called(bound, param)?;
        let ty = self.graph.ty(val);
        if ty.dtype.is_float() && !ty.dtype.is_float8() && ty.rank() == rank {
            return Ok(val);
        }
        let (axes, batches) = match param {
            "logsumexp" => ("heads and length", rank - 2),
            _ => ("heads, length and width", rank - 3),
        };
        let batches = if batches == 1 { "batch".to_owned() } else { format!("{batches} of batches") };
        let expected = format!("a tensor of f16, bf16, f32 or f64 with the axes {batches}, {axes}");
        let error = self.reject(expected, format!("of type {ty}"));
        Err(error.argument(param).at(bound.span_of(param)))
    }

    /// The scale as given, or one over the root of the width.
    fn attention_scale(&mut self, bound: &Bound, query: Val) -> Result<Val, DefineError> {
        let compute = self.graph.dtype(query).compute();
        match Term::new(self, bound.object("scale")) {
            Some(Term::Number(scalar)) => self.constant(scalar.cast(compute)),
            Some(Term::Val(val, _)) if self.graph.shape(val).is_empty() => self.cast(val, compute),
            Some(_) => Err(bound.reject("scale", "a number or a scalar")),
            None => {
                let width = self.shape(query).last().cloned().expect("a query has axes");
                let width = self.size_val(width)?;
                let width = self.cast(width, compute)?;
                self.map(ScalarOp::Rsqrt, &[width])
            }
        }
    }

    /// `scale q k^T`, minus infinity where a causal query does not look.
    fn scores(&mut self, attention: &Attention) -> Result<Val, DefineError> {
        let key = self.transposed(attention.key)?;
        let products = self.matmul(attention.query, key, attention.dtype.compute())?;
        let scores = self.map(ScalarOp::Mul, &[products, attention.scale])?;
        if matches!(attention.causal, Causal::Known(false)) {
            return Ok(scores);
        }
        let shape = self.shape(scores);
        let rows = self.numbers(&shape, attention.rank - 2)?;
        let columns = self.numbers(&shape, attention.rank - 1)?;
        let mut attended = self.map(ScalarOp::Le, &[columns, rows])?;
        if let Causal::Asked(is_causal) = attention.causal {
            let sees_all = self.map(ScalarOp::LogicalNot, &[is_causal])?;
            attended = self.map(ScalarOp::LogicalOr, &[attended, sees_all])?;
        }
        self.hide(scores, attended)
    }

    /// `0, 1, …` along one axis of this shape, with the others of size 1.
    fn numbers(&mut self, shape: &[Expr], axis: usize) -> Result<Val, DefineError> {
        let zero = self.constant(Scalar::from_i64(DType::I64, 0))?;
        let one = self.constant(Scalar::from_i64(DType::I64, 1))?;
        let iota = self.add(TensorOp::Iota(shape[axis].clone()), &[zero, one])?;
        self.add(TensorOp::Broadcast((0..shape.len()).map(|k| k != axis).collect()), &[iota])
    }

    fn hide(&mut self, scores: Val, attended: Val) -> Result<Val, DefineError> {
        let lowest = self.constant(Scalar::from_f64(self.graph.dtype(scores), f64::NEG_INFINITY))?;
        self.map(ScalarOp::Where, &[attended, scores, lowest])
    }

    /// An optional operand that is broadcast to the scores.
    fn score_operand(&self, bound: &Bound, param: &str, rank: usize) -> Result<Option<Val>, DefineError> {
        if *bound.object(param) == Object::None {
            return Ok(None);
        }
        let val = self.tensor_called(bound, param)?;
        if self.graph.shape(val).len() > rank {
            return Err(bound.reject(param, &format!("a tensor of at most the {rank} axes of the scores")));
        }
        Ok(Some(val))
    }

    /// Where a query sees no key at all its largest score is minus infinity; zero leaves all its powers zero.
    fn finite_or_zero(&mut self, max: Val) -> Result<Val, DefineError> {
        let dtype = self.graph.dtype(max);
        let lowest = self.constant(Scalar::from_f64(dtype, f64::NEG_INFINITY))?;
        let zero = self.constant(Scalar::zero(dtype))?;
        let none = self.map(ScalarOp::Eq, &[max, lowest])?;
        self.map(ScalarOp::Where, &[none, zero, max])
    }

    fn one_for_zero(&mut self, sum: Val) -> Result<Val, DefineError> {
        let dtype = self.graph.dtype(sum);
        let (zero, one) = (self.constant(Scalar::zero(dtype))?, self.constant(Scalar::one(dtype))?);
        let none = self.map(ScalarOp::Eq, &[sum, zero])?;
        self.map(ScalarOp::Where, &[none, one, sum])
    }
}

/// Arguments of `sdpfa_fwd` as nvFuser took them before it had a bias and a mask, by place: a number in the place of the
/// bias is the dropout's, and what follows it goes by name.
pub(super) fn with_newer_places(op: OpRef, mut arguments: Vec<CallArgument>) -> Vec<CallArgument> {
    let is_older =
        |third: &CallArgument| third.keyword.is_none() && matches!(third.object, Object::Number(_));
    if op == OpRef::Language(LanguageOp::SdpfaFwd) && arguments.get(3).is_some_and(is_older) {
        for (argument, name) in arguments[3..].iter_mut().zip(["dropout_p", "is_causal", "scale"]) {
            argument.keyword.get_or_insert_with(|| name.to_owned());
        }
    }
    arguments
}
