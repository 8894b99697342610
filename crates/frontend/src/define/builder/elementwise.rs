//! Scalar ops on operands of any dtype and rank: promotion, casts and ranks, so that each primitive gets operands of the
//! dtypes that it computes in. Nothing computes in a storage type: half types are cast up before and, if the op's typing
//! requires it, down after.

use index::Expr;
use ir::definition::Object;
use ir::graph::{TensorOp, Val};
use ops::{Arith, DType, Operand, OperandKind, Scalar, ScalarOp, TypeSignature, TypingError};

use super::OpBuilder;
use crate::define::arguments::Bound;
use crate::define::error::DefineError;

/// An operand of an elementwise op.
#[derive(Clone, Copy, Debug)]
pub(in crate::define) enum Term {
    /// A tensor, or a scalar of the language.
    Val(Val, OperandKind),
    /// A number.
    Number(Scalar),
}

impl Term {
    /// The operand for an object of the language, if it is one.
    pub fn new(ops: &OpBuilder, object: &Object) -> Option<Term> {
        match object {
            Object::Number(scalar) => Some(Term::Number(*scalar)),
            Object::Value(value) if ops.is_scalar(*value) => Some(Term::Val(value.val, OperandKind::Literal)),
            Object::Value(value) => Some(Term::tensor(ops, value.val)),
            _ => None,
        }
    }

    /// A value as a tensor operand.
    fn tensor(ops: &OpBuilder, val: Val) -> Term {
        let kind = if ops.graph.shape(val).is_empty() { OperandKind::ZeroDim } else { OperandKind::Tensor };
        Term::Val(val, kind)
    }

    /// Whether it is a number, or a scalar of the language.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Term::Val(_, OperandKind::Tensor | OperandKind::ZeroDim))
    }

    /// A bound as a number of a dtype: an integer beyond its range becomes its min or max.
    pub fn saturated(self, dtype: DType) -> Term {
        match self {
            Term::Number(scalar) if scalar.dtype().is_int() && !scalar.fits(dtype) => {
                let end = if scalar.as_f64() < 0.0 { Scalar::lowest(dtype) } else { Scalar::highest(dtype) };
                Term::Number(end)
            }
            term => term,
        }
    }

    /// The operand as promotion sees it.
    pub fn operand(self, ops: &OpBuilder) -> Operand {
        match self {
            Term::Val(val, kind) => Operand { dtype: ops.graph.dtype(val), kind },
            Term::Number(scalar) => Operand::literal(scalar.dtype()),
        }
    }

    /// The number of its axes.
    pub fn rank(self, ops: &OpBuilder) -> usize {
        match self {
            Term::Val(val, _) => ops.graph.shape(val).len(),
            Term::Number(_) => 0,
        }
    }
}

impl OpBuilder {
    /// A primitive on tensors.
    pub fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Result<Val, DefineError> {
        let terms: Vec<Term> = operands.iter().map(|&val| Term::tensor(self, val)).collect();
        let signature = ops::signature(scalar_op, &self.operands(&terms))
            .map_err(|error| self.reject("operands that suit it", error.to_string()))?;
        let vals = self.prepare(&terms, &signature.compute)?;
        let val = self.add(TensorOp::Map(scalar_op), &vals)?;
        self.cast(val, signature.result)
    }

    /// An expression over values of one rank, or of rank 0, with numbers in a dtype.
    pub fn expression(
        &mut self,
        text: &'static str,
        names: &[&str],
        values: &[Val],
        dtype: DType,
    ) -> Result<Val, DefineError> {
        let expr = ops::expr_parser::parse(text, names).expect("the texts of the builder are expressions");
        let params: Vec<Result<Val, DefineError>> = values.iter().copied().map(Ok).collect();
        expr.eval(&mut Nodes { ops: self, dtype: Some(dtype) }, &params)
    }

    /// The operands of a call.
    pub fn terms(&self, bound: &Bound) -> Vec<Term> {
        bound.objects().iter().filter_map(|object| Term::new(self, object)).collect()
    }

    /// The operands as promotion sees them.
    pub fn operands(&self, terms: &[Term]) -> Vec<Operand> {
        terms.iter().map(|term| term.operand(self)).collect()
    }

    /// A typing error as a diagnostic about the call.
    pub fn mistyped(&self, error: TypingError, bound: &Bound) -> DefineError {
        match error {
            TypingError::Operand { argument, expected, given, .. } => self
                .reject(expected, given.to_string())
                .argument(bound.name(argument))
                .at(bound.span(argument)),
            TypingError::NoCommon { first, second, .. } => {
                self.reject("operands with a common dtype", format!("{first} and {second}"))
            }
            TypingError::Arity { expected, given, .. } => {
                self.reject(format!("{expected} operands"), given.to_string())
            }
        }
    }

    /// The dtypes of a call of a primitive. A comparison with an integer literal beyond the dtype of the other operand is
    /// computed in i64.
    ///
    /// # Errors
    /// For operands that do not suit the op, and for numbers that the dtype of the call cannot hold.
    pub fn signature(
        &self,
        scalar_op: ScalarOp,
        terms: &[Term],
        bound: &Bound,
    ) -> Result<TypeSignature, DefineError> {
        let mut operands = self.operands(terms);
        let mut signature =
            ops::signature(scalar_op, &operands).map_err(|error| self.mistyped(error, bound))?;
        if let (DType::Bool, Some(place)) = (signature.result, first_unfit(terms, &signature)) {
            operands[place].kind = OperandKind::Tensor;
            signature = ops::signature(scalar_op, &operands).map_err(|error| self.mistyped(error, bound))?;
        }
        self.check_numbers(terms, &signature, bound)?;
        Ok(signature)
    }

    /// Rejects numbers that the dtype of the call cannot hold.
    pub fn check_numbers(
        &self,
        terms: &[Term],
        signature: &TypeSignature,
        bound: &Bound,
    ) -> Result<(), DefineError> {
        let Some(place) = first_unfit(terms, signature) else { return Ok(()) };
        let Term::Number(scalar) = terms[place] else { unreachable!("only numbers are converted") };
        let expected = format!("a number that {} can hold", dtype_of_numbers(signature, place));
        Err(self.reject(expected, scalar.to_string()).argument(bound.name(place)).at(bound.span(place)))
    }

    /// The operands cast to these dtypes, tensors all of the highest rank.
    pub fn prepare(&mut self, terms: &[Term], dtypes: &[DType]) -> Result<Vec<Val>, DefineError> {
        let rank = terms.iter().map(|term| term.rank(self)).max().unwrap_or(0);
        let prepare = |(term, &dtype): (&Term, &DType)| match term {
            Term::Number(scalar) => self.constant(scalar.cast(dtype)),
            Term::Val(val, _) => {
                let val = self.cast(*val, dtype)?;
                self.raise(val, rank)
            }
        };
        let vals = terms.iter().zip(dtypes).map(prepare).collect::<Result<Vec<Val>, DefineError>>()?;
        let mut shapes = vals.iter().map(|&val| self.graph.shape(val)).filter(|shape| !shape.is_empty());
        let first = shapes.next();
        if shapes.all(|shape| Some(shape) == first) {
            return Ok(vals);
        }
        vals.iter().map(|&val| self.broadcastable(val, &vals)).collect()
    }

    /// The operand. If it has at most one element along an axis and another operand has more, its size is required to be 1.
    fn broadcastable(&mut self, val: Val, operands: &[Val]) -> Result<Val, DefineError> {
        let is_repeated = |axis: &u8| {
            let mut sizes = operands.iter().filter_map(|&other| self.graph.shape(other).get(*axis as usize));
            sizes.any(|size| !self.facts.prove_le(size, &Expr::one()))
        };
        let axes = self.axes_of_at_most_one(val).into_iter().filter(is_repeated).collect();
        self.require_one(val, axes)
    }
}

/// The position of the first number that the dtype it is converted to cannot hold.
fn first_unfit(terms: &[Term], signature: &TypeSignature) -> Option<usize> {
    terms.iter().enumerate().find_map(|(place, term)| match term {
        Term::Number(scalar) if !scalar.fits_as_bound(dtype_of_numbers(signature, place)) => Some(place),
        _ => None,
    })
}

/// The dtype of a number operand: that of the result, if the result is computed in a wider one.
fn dtype_of_numbers(signature: &TypeSignature, place: usize) -> DType {
    let compute = signature.compute[place];
    if compute.is_int() && signature.result.is_int() { signature.result } else { compute }
}

/// Evaluates an expression by adding nodes.
pub(in crate::define) struct Nodes<'d> {
    /// The builder that they are added to.
    pub ops: &'d mut OpBuilder,
    /// The dtype of numbers in the expression.
    pub dtype: Option<DType>,
}

impl Arith for Nodes<'_> {
    type V = Result<Val, DefineError>;

    fn apply(&mut self, scalar_op: ScalarOp, args: &[Self::V]) -> Self::V {
        let operands = args.iter().cloned().collect::<Result<Vec<Val>, DefineError>>()?;
        self.ops.add(TensorOp::Map(scalar_op), &operands)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        self.ops.constant(Scalar::written(self.dtype.unwrap_or(DType::F64), value))
    }
}
