//! Elementwise ops: promotion, casts and ranks, so that each primitive meets operands of the dtypes it computes in.
//!
//! Takes primitives and composites with operands of any dtype and rank, adds the nodes. Nothing computes in a storage
//! type: half types are cast up before and, where the op's typing says so, down after.

use ir::definition::{NamedValue, Object};
use ir::graph::{TensorOp, Val};
use ops::{self, Arith, Composite, DType, Operand, OperandKind, Scalar, ScalarOp, TypingError};

use super::arguments::Bound;
use super::builder::DefinitionBuilder;
use super::error::DefineError;

/// An operand of an elementwise op.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    /// A tensor, or a scalar of the language.
    Val(Val, OperandKind),
    /// A number.
    Number(Scalar),
}

impl Term {
    /// The operand that a thing of the language is, if it is one.
    pub fn new(builder: &DefinitionBuilder, object: &Object) -> Option<Term> {
        match object {
            Object::Number(scalar) => Some(Term::Number(*scalar)),
            Object::Value(value) if builder.is_scalar(*value) => {
                Some(Term::Val(value.val, OperandKind::Literal))
            }
            Object::Value(value) => Some(Term::tensor(builder, value.val)),
            _ => None,
        }
    }

    /// A value as the tensor it is.
    pub fn tensor(builder: &DefinitionBuilder, val: Val) -> Term {
        let kind =
            if builder.graph.shape(val).is_empty() { OperandKind::ZeroDim } else { OperandKind::Tensor };
        Term::Val(val, kind)
    }

    /// Whether it is a number, or a scalar of the language.
    pub fn is_scalar(self) -> bool {
        !matches!(self, Term::Val(_, OperandKind::Tensor | OperandKind::ZeroDim))
    }

    fn operand(self, builder: &DefinitionBuilder) -> Operand {
        match self {
            Term::Val(val, kind) => Operand { dtype: builder.graph.dtype(val), kind },
            Term::Number(scalar) => Operand::literal(scalar.dtype()),
        }
    }

    /// How many axes it has.
    pub fn rank(self, builder: &DefinitionBuilder) -> usize {
        match self {
            Term::Val(val, _) => builder.graph.shape(val).len(),
            Term::Number(_) => 0,
        }
    }
}

impl DefinitionBuilder {
    /// A call of a primitive.
    pub(super) fn call_scalar_op(
        &mut self,
        scalar_op: ScalarOp,
        bound: &Bound,
    ) -> Result<NamedValue, DefineError> {
        if self.is_complex_scalar_op(scalar_op, bound) {
            return self.call_complex_scalar_op(scalar_op, bound);
        }
        let terms = self.terms(bound);
        let typed = ops::signature(scalar_op, &self.operands(&terms));
        let signature = typed.map_err(|error| self.mistyped(error, bound))?;
        let vals = self.prepare(&terms, &signature.compute)?;
        let val = self.add(TensorOp::Map(scalar_op), &vals)?;
        let val = self.cast(val, signature.result)?;
        Ok(self.value(val, terms.iter().all(|term| term.is_scalar())))
    }

    /// A call of a composite: its expression, all of it in one compute dtype.
    pub(super) fn call_composite(&mut self, op: Composite, bound: &Bound) -> Result<NamedValue, DefineError> {
        if self.complex_argument(bound).is_some() {
            return self.call_complex_composite(op, bound);
        }
        let terms = self.terms(bound);
        let signature = op.signature(&self.operands(&terms)).map_err(|error| self.mistyped(error, bound))?;
        let vals = self.prepare(&terms, &signature.compute)?;
        let params: Vec<Result<Val, DefineError>> = vals.into_iter().map(Ok).collect();
        let mut nodes = Nodes { builder: self, dtype: signature.compute.first().copied() };
        let val = op.expr().eval(&mut nodes, &params)?;
        let val = self.cast(val, signature.result)?;
        self.add_pattern(op.name(), bound.objects(), &[val]);
        Ok(self.value(val, terms.iter().all(|term| term.is_scalar())))
    }

    /// A primitive on tensors, from within another op.
    pub(super) fn map(&mut self, scalar_op: ScalarOp, operands: &[Val]) -> Result<Val, DefineError> {
        let terms: Vec<Term> = operands.iter().map(|&val| Term::tensor(self, val)).collect();
        let signature = ops::signature(scalar_op, &self.operands(&terms))
            .map_err(|error| self.reject("operands that suit it", error.to_string()))?;
        let vals = self.prepare(&terms, &signature.compute)?;
        let val = self.add(TensorOp::Map(scalar_op), &vals)?;
        self.cast(val, signature.result)
    }

    /// An expression over values of one rank, or of rank 0, with numbers in a dtype.
    pub(super) fn expression(
        &mut self,
        text: &'static str,
        names: &[&str],
        values: &[Val],
        dtype: DType,
    ) -> Result<Val, DefineError> {
        let expr = ops::expr_parser::parse(text, names).expect("the texts of the builder are expressions");
        let params: Vec<Result<Val, DefineError>> = values.iter().copied().map(Ok).collect();
        expr.eval(&mut Nodes { builder: self, dtype: Some(dtype) }, &params)
    }

    pub(super) fn terms(&self, bound: &Bound) -> Vec<Term> {
        bound.objects().iter().filter_map(|object| Term::new(self, object)).collect()
    }

    pub(super) fn operands(&self, terms: &[Term]) -> Vec<Operand> {
        terms.iter().map(|term| term.operand(self)).collect()
    }

    pub(super) fn mistyped(&self, error: TypingError, bound: &Bound) -> DefineError {
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

    /// The operands in these dtypes, tensors all of the highest rank.
    pub(super) fn prepare(&mut self, terms: &[Term], dtypes: &[DType]) -> Result<Vec<Val>, DefineError> {
        let rank = terms.iter().map(|term| term.rank(self)).max().unwrap_or(0);
        let prepare = |(term, &dtype): (&Term, &DType)| match term {
            Term::Number(scalar) => self.constant(scalar.cast(dtype)),
            Term::Val(val, _) => {
                let val = self.cast(*val, dtype)?;
                self.raise(val, rank)
            }
        };
        terms.iter().zip(dtypes).map(prepare).collect()
    }

    /// A tensor with leading axes of size 1 up to a rank; what has rank 0 stays.
    pub(super) fn raise(&mut self, val: Val, rank: usize) -> Result<Val, DefineError> {
        let has = self.graph.shape(val).len();
        if has == 0 || has == rank {
            return Ok(val);
        }
        self.add(TensorOp::Broadcast((0..rank).map(|axis| axis < rank - has).collect()), &[val])
    }
}

/// Evaluating an expression over nodes adds the nodes.
pub(super) struct Nodes<'d> {
    pub builder: &'d mut DefinitionBuilder,
    /// The dtype of numbers in the expression.
    pub dtype: Option<DType>,
}

impl Arith for Nodes<'_> {
    type V = Result<Val, DefineError>;

    fn apply(&mut self, scalar_op: ScalarOp, args: &[Self::V]) -> Self::V {
        let operands = args.iter().cloned().collect::<Result<Vec<Val>, DefineError>>()?;
        self.builder.add(TensorOp::Map(scalar_op), &operands)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        self.builder.constant(Scalar::written(self.dtype.unwrap_or(DType::F64), value))
    }
}
