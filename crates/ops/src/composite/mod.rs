//! Composites: ops that are one expression over primitives. The rows are in the files by theme.

mod activations;
mod elementary;
pub mod expr_parser;
mod gradients;
mod hyperbolic;
mod predicates;

use std::sync::LazyLock;

use crate::DType;
use crate::ScalarOp;
use crate::expr::{Arith, ScalarExpr};
use crate::param::Param;
use crate::typing::{self, Classes, Operand, TypeSignature, Typing, TypingError};
use expr_parser::ExprError;

/// One composite op.
#[derive(Debug)]
pub struct CompositeRow {
    /// The name in the definition language.
    pub name: &'static str,
    /// The parameters; all are operands.
    pub params: &'static [Param],
    /// How operand dtypes give compute and result dtypes. All of the expression computes in the one compute dtype.
    pub typing: Typing,
    /// The expression over the parameters' names.
    pub text: &'static str,
    /// One sentence or two for the user.
    pub doc: &'static str,
}

impl CompositeRow {
    /// The expression, parsed again.
    pub(crate) fn parse(&self) -> Result<ScalarExpr, ExprError> {
        let names: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        expr_parser::parse(self.text, &names)
    }
}

/// The rows, theme by theme.
const THEMES: [&[CompositeRow]; 5] =
    [activations::ROWS, gradients::ROWS, elementary::ROWS, hyperbolic::ROWS, predicates::ROWS];

fn rows() -> impl Iterator<Item = &'static CompositeRow> {
    THEMES.into_iter().flatten()
}

/// A composite scalar op: the number of a row.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Composite(usize);

/// Properties that are computed once per row.
struct Known {
    expr: ScalarExpr,
    classes: Classes,
}

impl Composite {
    /// Every composite, in table order.
    pub fn all() -> impl Iterator<Item = Composite> {
        (0..rows().count()).map(Composite)
    }

    /// Its row.
    pub fn row(self) -> &'static CompositeRow {
        rows().nth(self.0).expect("the number of a row")
    }

    /// Its name in the definition language.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The composite called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Composite> {
        rows().position(|row| row.name == name).map(Composite)
    }

    /// Its expression; parameter numbers are places in the row's `params`.
    pub fn expr(self) -> &'static ScalarExpr {
        &self.known().expr
    }

    /// The dtypes of the composite applied to `operands`, which stand for all of its parameters.
    ///
    /// Cast the operands to `compute`, evaluate the expression with constants in that same dtype, cast to `result`.
    ///
    /// # Errors
    /// [`TypingError`] if their number, or the dtype of one of them, does not fit.
    pub fn signature(self, operands: &[Operand]) -> Result<TypeSignature, TypingError> {
        let row = self.row();
        typing::resolve(row.name, row.params.len(), row.typing, self.known().classes, operands)
    }

    fn known(self) -> &'static Known {
        static KNOWN: LazyLock<Vec<Known>> =
            LazyLock::new(|| Composite::all().map(Composite::learn).collect());
        &KNOWN[self.0]
    }

    /// A text that is no expression is a bug of the table, which the tests of every row would show.
    fn learn(self) -> Known {
        let row = self.row();
        let expr = row.parse().unwrap_or_else(|error| panic!("composite `{}`: {error}", row.name));
        let applies_to = |dtype| {
            let params = vec![Some(dtype); row.params.len()];
            expr.eval(&mut Strict { dtype }, &params).is_some()
        };
        // Integers are excluded if they would truncate a default.
        let whole = |param: &Param| param.default.as_number().is_none_or(|number| number.trunc() == number);
        let whole = row.params.iter().all(whole);
        let classes = Classes {
            float: applies_to(DType::F32),
            int: whole && applies_to(DType::I64),
            boolean: whole && applies_to(DType::Bool),
        };
        Known { expr, classes }
    }
}

/// Dtypes as values: tells whether an expression is well typed with all its parameters of one dtype and no casts.
struct Strict {
    dtype: DType,
}

impl Arith for Strict {
    type V = Option<DType>;

    fn apply(&mut self, op: ScalarOp, args: &[Option<DType>]) -> Option<DType> {
        let operands: Option<Vec<Operand>> = args.iter().map(|arg| arg.map(Operand::tensor)).collect();
        let operands = operands?;
        let signature = crate::signature(op, &operands).ok()?;
        let uncast =
            signature.compute.iter().zip(&operands).all(|(compute, operand)| *compute == operand.dtype);
        (uncast && signature.result == signature.result_compute).then_some(signature.result)
    }

    fn constant(&mut self, value: f64) -> Option<DType> {
        (self.dtype.is_float() || value.fract() == 0.0).then_some(self.dtype)
    }
}
