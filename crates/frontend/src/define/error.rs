//! Why a definition is rejected: the op, the argument, what was expected, what was given, and where.

use std::fmt;

use ir::Span;
use ir::graph::ShapeError;

/// A rejected call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefineError {
    /// The op, or the method such as `define_tensor`.
    pub op: String,
    /// The argument at fault, if it is one.
    pub argument: Option<String>,
    /// What was expected, as a noun; empty if the op itself is wrong.
    pub expected: String,
    /// What was given instead, as a noun.
    pub given: String,
    /// Whether the argument is of another kind than is wanted, such as a string for a number.
    pub is_kind: bool,
    /// What the user could do.
    pub help: Option<String>,
    /// The place of the argument in the source text; `None` stands for the whole call, and for no text at all.
    pub span: Option<Span>,
}

impl DefineError {
    pub(super) fn new(op: &str, expected: impl Into<String>, given: impl Into<String>) -> DefineError {
        DefineError {
            op: op.to_owned(),
            argument: None,
            expected: expected.into(),
            given: given.into(),
            is_kind: false,
            help: None,
            span: None,
        }
    }

    pub(super) fn argument(self, argument: &str) -> DefineError {
        DefineError { argument: Some(argument.to_owned()), ..self }
    }

    pub(super) fn of_kind(self) -> DefineError {
        DefineError { is_kind: true, ..self }
    }

    pub(super) fn help(self, help: impl Into<String>) -> DefineError {
        DefineError { help: Some(help.into()), ..self }
    }

    /// The same with a place, unless it has one.
    pub(super) fn at(self, span: Option<Span>) -> DefineError {
        DefineError { span: self.span.or(span), ..self }
    }

    /// The error of a tensor op's shape rule while `op` was applied.
    pub(super) fn from_shape(op: &str, error: ShapeError) -> DefineError {
        let (expected, given) = match error {
            ShapeError::Count { expected, given } => (format!("{expected} operands"), given.to_string()),
            ShapeError::Mismatch { axis, left, right } => {
                (format!("size {left} on axis {axis}"), format!("size {right}"))
            }
            ShapeError::Rank { expected, given } => (format!("rank {expected}"), format!("rank {given}")),
            ShapeError::Axis { axis, rank } => {
                (format!("axes of a tensor of rank {rank}, each once"), format!("axis {axis}"))
            }
            ShapeError::NotOne { axis, size } => (format!("size 1 on axis {axis}"), format!("size {size}")),
            ShapeError::Elements { from, to } => {
                (format!("a shape of {from} elements"), format!("one of {to}"))
            }
            ShapeError::Dtype { expected, given } => (expected.to_string(), given.to_string()),
            ShapeError::Storage(dtype) => ("a dtype with arithmetic".to_owned(), dtype.to_string()),
            ShapeError::Negative { axis, size } => {
                (format!("no negative size on axis {axis}"), format!("size {size}"))
            }
        };
        DefineError::new(op, expected, given)
    }

    /// The diagnostic without the place: one sentence.
    pub fn message(&self) -> String {
        let DefineError { op, expected, given, .. } = self;
        match &self.argument {
            Some(argument) => format!("`{op}`: argument `{argument}` must be {expected}, but is {given}"),
            None if expected.is_empty() => format!("`{op}` is {given}"),
            None => format!("`{op}` needs {expected}, but has {given}"),
        }
    }
}

impl fmt::Display for DefineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for DefineError {}
