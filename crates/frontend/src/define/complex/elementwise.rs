//! Elementwise ops on complex operands: promotion, then the op's meaning from the table, over parts.

use ir::definition::{Object, Value};
use ir::graph::{Form, Val};
use ops::typing::promote_operands;
use ops::{self, Arith, ComplexExpr, Composite, DType, Prim, Scalar, Typing, TypingError, complex_meaning};

use super::super::arguments::Bound;
use super::super::definer::Definer;
use super::super::error::DefineError;
use super::super::scalar::{Nodes, Term};
use super::Parts;

/// A number in an expression over complex numbers.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// A real number, or a bool.
    Real(Val),
    /// A complex number.
    Complex(Parts),
}

impl Definer {
    /// Whether a primitive is applied here: an operand is complex, or the result, or the op asks for a part.
    pub(in super::super) fn is_complex_prim(&self, prim: Prim, bound: &Bound) -> bool {
        prim.touches_complex() || self.complex_argument(bound).is_some()
    }

    /// A primitive that [`Definer::is_complex_prim`].
    pub(in super::super) fn call_complex_prim(
        &mut self,
        prim: Prim,
        bound: &Bound,
    ) -> Result<Value, DefineError> {
        match prim.row().typing {
            Typing::Logical => {
                let bound = self.as_bools(bound)?;
                self.call_prim(prim, &bound)
            }
            Typing::Pair => self.call_pair(bound),
            Typing::Part => self.call_part(prim, bound),
            Typing::Where => self.call_meaning(bound, None),
            _ => {
                let meaning = complex_meaning(prim.name()).ok_or_else(|| self.no_complex(bound))?;
                self.call_meaning(bound, Some(meaning))
            }
        }
    }

    /// A composite of which an operand is complex.
    pub(in super::super) fn call_complex_composite(
        &mut self,
        op: Composite,
        bound: &Bound,
    ) -> Result<Value, DefineError> {
        if op.row().typing == Typing::Logical {
            let bound = self.as_bools(bound)?;
            return self.call_composite(op, &bound);
        }
        let meaning = complex_meaning(op.name()).ok_or_else(|| self.no_complex(bound))?;
        let value = self.call_meaning(bound, Some(meaning))?;
        self.add_pattern(op.name(), bound.objects(), &[value.val]);
        Ok(value)
    }

    /// The product of two complex values.
    pub(super) fn product(&mut self, a: Parts, b: Parts) -> Result<Val, DefineError> {
        let part = self.graph.dtype(b[0]);
        let mut numbers = Numbers { definer: self, part };
        match numbers.map(Prim::Mul, &[Number::Complex(a), Number::Complex(b)])? {
            Number::Complex(parts) => self.pair(parts),
            Number::Real(_) => unreachable!("a product of complex numbers is complex"),
        }
    }

    /// `complex(real, imag)`.
    fn call_pair(&mut self, bound: &Bound) -> Result<Value, DefineError> {
        let terms = self.terms(bound);
        let signature = ops::signature(Prim::Complex, &self.operands(&terms))
            .map_err(|error| self.mistyped(error, bound))?;
        let parts = self.prepare(&terms, &signature.compute)?;
        let val = self.pair([parts[0], parts[1]])?;
        Ok(self.value(val, terms.iter().all(|term| term.is_scalar())))
    }

    /// `real(x)` and `imag(x)`. The real part of a real number is itself.
    fn call_part(&mut self, prim: Prim, bound: &Bound) -> Result<Value, DefineError> {
        if prim == Prim::Real && self.complex_argument(bound).is_none() {
            return self.call_prim(Prim::Set, bound);
        }
        let terms = self.terms(bound);
        ops::signature(prim, &self.operands(&terms)).map_err(|error| self.mistyped(error, bound))?;
        let [re, im] = match terms[0] {
            Term::Number(scalar) => [self.constant(scalar.real())?, self.constant(scalar.imag())?],
            Term::Val(val, _) => self.whole_parts(val)?,
        };
        let val = if prim == Prim::Real { re } else { im };
        Ok(self.value(val, terms[0].is_scalar()))
    }

    /// A meaning of the table on promoted operands; without one, a selection.
    fn call_meaning(&mut self, bound: &Bound, meaning: Option<ComplexExpr>) -> Result<Value, DefineError> {
        let terms = self.terms(bound);
        let operands = self.operands(&terms);
        let numbers = if meaning.is_some() { &operands[..] } else { &operands[1..] };
        if meaning.is_none() && operands[0].dtype != DType::Bool {
            let given = operands[0].dtype;
            let error = TypingError::Operand { op: bound.op, argument: 0, expected: "a bool", given };
            return Err(self.mistyped(error, bound));
        }
        let common = promote_operands(numbers).map_err(|(first, second)| {
            self.mistyped(TypingError::NoCommon { op: bound.op, first, second }, bound)
        })?;
        let part = common.complex().real();
        let rank = terms.iter().map(|term| term.rank(self)).max().unwrap_or(0);
        let mut args = Vec::with_capacity(terms.len());
        for (place, &term) in terms.iter().enumerate() {
            let dtype = if place == 0 && meaning.is_none() { DType::Bool } else { part };
            args.push(self.promoted(term, dtype, rank)?);
        }
        let mut numbers = Numbers { definer: self, part };
        let result = match meaning {
            Some(meaning) => numbers.meaning(meaning, &args)?,
            None => numbers.select(&args)?,
        };
        let val = match (result, &terms[..]) {
            (Number::Complex(parts), _) => self.pair(parts)?,
            (Number::Real(val), &[Term::Val(whole, _)]) => self.spread_over(val, whole)?,
            (Number::Real(val), _) => val,
        };
        Ok(self.value(val, terms.iter().all(|term| term.is_scalar())))
    }

    /// An operand whose parts, or which itself, are of a dtype, tensors with leading axes up to a rank.
    fn promoted(&mut self, term: Term, dtype: DType, rank: usize) -> Result<Number, DefineError> {
        let ready = |definer: &mut Definer, val: Val| {
            let val = definer.cast(val, dtype)?;
            definer.raise(val, rank)
        };
        match term {
            Term::Val(val, _) if !self.graph.dtype(val).is_complex() => ready(self, val).map(Number::Real),
            Term::Val(val, _) => {
                let [re, im] = self.parts(val)?;
                Ok(Number::Complex([ready(self, re)?, ready(self, im)?]))
            }
            Term::Number(scalar) if scalar.dtype().is_complex() => {
                let mut part = |part: Scalar| self.constant(part.cast(dtype));
                Ok(Number::Complex([part(scalar.real())?, part(scalar.imag())?]))
            }
            Term::Number(scalar) => self.constant(scalar.cast(dtype)).map(Number::Real),
        }
    }

    /// The arguments with complex numbers as truth values.
    pub(super) fn as_bools(&mut self, bound: &Bound) -> Result<Bound, DefineError> {
        let mut objects = Vec::with_capacity(bound.objects().len());
        for object in bound.objects() {
            objects.push(match object {
                Object::Number(scalar) => Object::bool(scalar.as_bool()),
                Object::Value(value) => {
                    Object::Value(Value { val: self.cast(value.val, DType::Bool)?, ..*value })
                }
                other => other.clone(),
            });
        }
        Ok(bound.with_objects(objects))
    }
}

/// Evaluating an expression over complex numbers adds nodes over their parts.
struct Numbers<'d> {
    definer: &'d mut Definer,
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
                let mut nodes = Nodes { definer: self.definer, dtype: Some(self.part) };
                let results =
                    expr.eval_all(&mut nodes, &params).into_iter().collect::<Result<Vec<_>, _>>()?;
                Ok(match results[..] {
                    [re, im] => Number::Complex([re, im]),
                    _ => Number::Real(results[0]),
                })
            }
        }
    }

    /// Where a condition holds one number, else the other.
    fn select(&mut self, args: &[Number]) -> Result<Number, DefineError> {
        let Number::Real(condition) = args[0] else { unreachable!("conditions are bools") };
        let ([a, b], [c, d]) = (self.parts(args[1])?, self.parts(args[2])?);
        let mut choose = |x: Val, y: Val| self.definer.add(Form::Map(Prim::Where), &[condition, x, y]);
        Ok(Number::Complex([choose(a, c)?, choose(b, d)?]))
    }

    /// The parts of a number; the imaginary part of a real one is zero.
    fn parts(&mut self, number: Number) -> Result<Parts, DefineError> {
        match number {
            Number::Complex(parts) => Ok(parts),
            Number::Real(re) => Ok([re, self.definer.constant(Scalar::zero(self.part))?]),
        }
    }

    fn map(&mut self, prim: Prim, args: &[Number]) -> Result<Number, DefineError> {
        let reals: Option<Vec<Val>> = args
            .iter()
            .map(|arg| match arg {
                Number::Real(val) => Some(*val),
                Number::Complex(_) => None,
            })
            .collect();
        match (prim, reals) {
            (Prim::Real, _) => self.parts(args[0]).map(|[re, _]| Number::Real(re)),
            (Prim::Imag, _) => self.parts(args[0]).map(|[_, im]| Number::Real(im)),
            (Prim::Complex, Some(parts)) => Ok(Number::Complex([parts[0], parts[1]])),
            (_, Some(vals)) => self.definer.add(Form::Map(prim), &vals).map(Number::Real),
            (Prim::Where, None) => self.select(args),
            (_, None) => match complex_meaning(prim.name()) {
                Some(meaning) => self.meaning(meaning, args),
                None => unreachable!("the table speaks of `{}`, which it does not define", prim.name()),
            },
        }
    }
}

impl Arith for Numbers<'_> {
    type V = Result<Number, DefineError>;

    fn apply(&mut self, prim: Prim, args: &[Self::V]) -> Self::V {
        let args = args.iter().cloned().collect::<Result<Vec<Number>, DefineError>>()?;
        self.map(prim, &args)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        self.definer.constant(Scalar::from_f64(self.part, value)).map(Number::Real)
    }
}
