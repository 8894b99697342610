//! Elementwise ops on complex operands: promotion, then the op's meaning from the table, over parts.

use ir::definition::{NamedValue, Object};
use ir::graph::{TensorOp, Val};
use ops::typing::promote_operands;
use ops::{
    self, Arith, ComplexExpr, Composite, DType, Scalar, ScalarOp, Typing, TypingError, complex_meaning,
};

use super::{complex_argument, no_complex};
use crate::define::arguments::Bound;
use crate::define::builder::{Nodes, OpBuilder, Parts, Term};
use crate::define::error::DefineError;
use crate::define::families::scalar;

/// A number in an expression over complex numbers.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// A real number, or a bool.
    Real(Val),
    /// A complex number.
    Complex(Parts),
}

/// Whether this file applies a primitive: an operand or the result is complex, or the op takes a part.
pub(in crate::define) fn takes(ops: &OpBuilder, scalar_op: ScalarOp, bound: &Bound) -> bool {
    scalar_op.touches_complex() || complex_argument(ops, bound).is_some()
}

/// A primitive that [`DefinitionBuilder::is_complex_scalar_op`].
pub(in crate::define) fn primitive(
    ops: &mut OpBuilder,
    scalar_op: ScalarOp,
    bound: &Bound,
) -> Result<NamedValue, DefineError> {
    match scalar_op.row().typing {
        Typing::Logical => {
            let bound = as_bools(ops, bound)?;
            scalar::primitive(ops, scalar_op, &bound)
        }
        Typing::Pair => pair(ops, bound),
        Typing::Part => part(ops, scalar_op, bound),
        Typing::Where => apply(ops, bound, None),
        _ => {
            let meaning = complex_meaning(scalar_op.name()).ok_or_else(|| no_complex(ops, bound))?;
            apply(ops, bound, Some(meaning))
        }
    }
}

/// A composite with a complex operand.
pub(in crate::define) fn composite(
    ops: &mut OpBuilder,
    op: Composite,
    bound: &Bound,
) -> Result<NamedValue, DefineError> {
    if op.row().typing == Typing::Logical {
        let bound = as_bools(ops, bound)?;
        return scalar::composite(ops, op, &bound);
    }
    let meaning = complex_meaning(op.name()).ok_or_else(|| no_complex(ops, bound))?;
    let value = apply(ops, bound, Some(meaning))?;
    ops.add_pattern(op.name(), bound.objects(), &[value.val]);
    Ok(value)
}

/// The product of two complex values.
pub(super) fn multiply(ops: &mut OpBuilder, a: Parts, b: Parts) -> Result<Val, DefineError> {
    let part = ops.graph.dtype(b[0]);
    let mut numbers = Numbers { ops, part };
    match numbers.map(ScalarOp::Mul, &[Number::Complex(a), Number::Complex(b)])? {
        Number::Complex(parts) => ops.pair(parts),
        Number::Real(_) => unreachable!("a product of complex numbers is complex"),
    }
}

/// `complex(real, imag)`.
fn pair(ops: &mut OpBuilder, bound: &Bound) -> Result<NamedValue, DefineError> {
    let terms = ops.terms(bound);
    let signature = ops::signature(ScalarOp::Complex, &ops.operands(&terms))
        .map_err(|error| ops.mistyped(error, bound))?;
    let parts = ops.prepare(&terms, &signature.compute)?;
    let val = ops.pair([parts[0], parts[1]])?;
    Ok(ops.value(val, terms.iter().all(|term| term.is_scalar())))
}

/// `real(x)` and `imag(x)`. The real part of a real number is itself.
fn part(ops: &mut OpBuilder, scalar_op: ScalarOp, bound: &Bound) -> Result<NamedValue, DefineError> {
    if scalar_op == ScalarOp::Real && complex_argument(ops, bound).is_none() {
        return scalar::primitive(ops, ScalarOp::Set, bound);
    }
    let terms = ops.terms(bound);
    ops::signature(scalar_op, &ops.operands(&terms)).map_err(|error| ops.mistyped(error, bound))?;
    let [re, im] = match terms[0] {
        Term::Number(scalar) => [ops.constant(scalar.real())?, ops.constant(scalar.imag())?],
        Term::Val(val, _) => ops.whole_parts(val)?,
    };
    let val = if scalar_op == ScalarOp::Real { re } else { im };
    Ok(ops.value(val, terms[0].is_scalar()))
}

/// A meaning of the table on promoted operands; without one, a selection.
fn apply(
    ops: &mut OpBuilder,
    bound: &Bound,
    meaning: Option<ComplexExpr>,
) -> Result<NamedValue, DefineError> {
    let terms = ops.terms(bound);
    let operands = ops.operands(&terms);
    let numbers = if meaning.is_some() { &operands[..] } else { &operands[1..] };
    if meaning.is_none() && operands[0].dtype != DType::Bool {
        let given = operands[0].dtype;
        let error = TypingError::Operand { op: bound.op, argument: 0, expected: "a bool", given };
        return Err(ops.mistyped(error, bound));
    }
    let common = promote_operands(numbers).map_err(|(first, second)| {
        ops.mistyped(TypingError::NoCommon { op: bound.op, first, second }, bound)
    })?;
    let part = common.complex().real();
    let rank = terms.iter().map(|term| term.rank(ops)).max().unwrap_or(0);
    let mut args = Vec::with_capacity(terms.len());
    for (place, &term) in terms.iter().enumerate() {
        let dtype = if place == 0 && meaning.is_none() { DType::Bool } else { part };
        args.push(promoted(ops, term, dtype, rank)?);
    }
    let mut numbers = Numbers { ops, part };
    let result = match meaning {
        Some(meaning) => numbers.meaning(meaning, &args)?,
        None => numbers.select(&args)?,
    };
    let val = match (result, &terms[..]) {
        (Number::Complex(parts), _) => ops.pair(parts)?,
        (Number::Real(val), &[Term::Val(whole, _)]) => ops.spread_over(val, whole)?,
        (Number::Real(val), _) => val,
    };
    Ok(ops.value(val, terms.iter().all(|term| term.is_scalar())))
}

/// An operand converted to a dtype, or its parts if it is complex; tensors get leading axes up to a rank.
fn promoted(ops: &mut OpBuilder, term: Term, dtype: DType, rank: usize) -> Result<Number, DefineError> {
    let ready = |ops: &mut OpBuilder, val: Val| {
        let val = ops.cast(val, dtype)?;
        ops.raise(val, rank)
    };
    match term {
        Term::Val(val, _) if !ops.graph.dtype(val).is_complex() => ready(ops, val).map(Number::Real),
        Term::Val(val, _) => {
            let [re, im] = ops.parts(val)?;
            Ok(Number::Complex([ready(ops, re)?, ready(ops, im)?]))
        }
        Term::Number(scalar) if scalar.dtype().is_complex() => {
            let mut part = |part: Scalar| ops.constant(part.cast(dtype));
            Ok(Number::Complex([part(scalar.real())?, part(scalar.imag())?]))
        }
        Term::Number(scalar) => ops.constant(scalar.cast(dtype)).map(Number::Real),
    }
}

/// The arguments with complex numbers as truth values.
pub(super) fn as_bools(ops: &mut OpBuilder, bound: &Bound) -> Result<Bound, DefineError> {
    let mut objects = Vec::with_capacity(bound.objects().len());
    for object in bound.objects() {
        objects.push(match object {
            Object::Number(scalar) => Object::bool(scalar.as_bool()),
            Object::Value(value) => {
                Object::Value(NamedValue { val: ops.cast(value.val, DType::Bool)?, ..*value })
            }
            other => other.clone(),
        });
    }
    Ok(bound.with_objects(objects))
}

/// Evaluating an expression over complex numbers adds nodes over their parts.
struct Numbers<'d> {
    ops: &'d mut OpBuilder,
    /// The dtype of the parts.
    part: DType,
}

impl Numbers<'_> {
    /// A meaning applied to operands.
    fn meaning(&mut self, meaning: ComplexExpr, args: &[Number]) -> Result<Number, DefineError> {
        let args = args.iter().map(|&arg| self.parts(arg)).collect::<Result<Vec<Parts>, _>>()?;
        match meaning {
            ComplexExpr::Numbers(expr) => {
                let params: Vec<_> = args.into_iter().map(|parts| Ok(Number::Complex(parts))).collect();
                expr.eval(self, &params)
            }
            ComplexExpr::Parts(expr) => {
                let params: Vec<Result<Val, DefineError>> = args.into_iter().flatten().map(Ok).collect();
                let mut nodes = Nodes { ops: self.ops, dtype: Some(self.part) };
                let results =
                    expr.eval_all(&mut nodes, &params).into_iter().collect::<Result<Vec<_>, _>>()?;
                Ok(match results[..] {
                    [re, im] => Number::Complex([re, im]),
                    _ => Number::Real(results[0]),
                })
            }
        }
    }

    /// One number where a condition holds, otherwise the other.
    fn select(&mut self, args: &[Number]) -> Result<Number, DefineError> {
        let Number::Real(condition) = args[0] else { unreachable!("conditions are bools") };
        let ([a, b], [c, d]) = (self.parts(args[1])?, self.parts(args[2])?);
        let mut choose = |x: Val, y: Val| self.ops.add(TensorOp::Map(ScalarOp::Where), &[condition, x, y]);
        Ok(Number::Complex([choose(a, c)?, choose(b, d)?]))
    }

    /// The parts of a number; the imaginary part of a real one is zero.
    fn parts(&mut self, number: Number) -> Result<Parts, DefineError> {
        match number {
            Number::Complex(parts) => Ok(parts),
            Number::Real(re) => Ok([re, self.ops.constant(Scalar::zero(self.part))?]),
        }
    }

    fn map(&mut self, scalar_op: ScalarOp, args: &[Number]) -> Result<Number, DefineError> {
        let reals: Option<Vec<Val>> = args
            .iter()
            .map(|arg| match arg {
                Number::Real(val) => Some(*val),
                Number::Complex(_) => None,
            })
            .collect();
        match (scalar_op, reals) {
            (ScalarOp::Real, _) => self.parts(args[0]).map(|[re, _]| Number::Real(re)),
            (ScalarOp::Imag, _) => self.parts(args[0]).map(|[_, im]| Number::Real(im)),
            (ScalarOp::Complex, Some(parts)) => Ok(Number::Complex([parts[0], parts[1]])),
            (_, Some(vals)) => self.ops.add(TensorOp::Map(scalar_op), &vals).map(Number::Real),
            (ScalarOp::Where, None) => self.select(args),
            (_, None) => match complex_meaning(scalar_op.name()) {
                Some(meaning) => self.meaning(meaning, args),
                None => unreachable!("the table speaks of `{}`, which it does not define", scalar_op.name()),
            },
        }
    }
}

impl Arith for Numbers<'_> {
    type V = Result<Number, DefineError>;

    fn apply(&mut self, scalar_op: ScalarOp, args: &[Self::V]) -> Self::V {
        let args = args.iter().cloned().collect::<Result<Vec<Number>, DefineError>>()?;
        self.map(scalar_op, &args)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        self.ops.constant(Scalar::from_f64(self.part, value)).map(Number::Real)
    }
}
