//! Lambdas of the definition language, as they are written.
//!
//! A function contains only calls of ops on its parameters and on numbers: it cannot use values of the definition.

use std::sync::Arc;

use super::Object;
use crate::Span;

/// A function as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The names of its parameters.
    pub params: Vec<String>,
    /// Its results, one or several.
    pub results: Vec<Term>,
}

/// An expression of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// The parameter of this number.
    Param(usize),
    /// A number, a dtype or `None`.
    Object(Object),
    /// An op applied.
    Call {
        op: String,
        /// Its arguments, with the name of the parameter if that is given.
        arguments: Vec<(Option<String>, Term)>,
        span: Option<Span>,
    },
}

impl Term {
    /// An op applied to terms, all by position.
    pub fn call(op: &str, arguments: impl IntoIterator<Item = Term>) -> Term {
        let arguments = arguments.into_iter().map(|term| (None, term)).collect();
        Term::Call { op: op.to_owned(), arguments, span: None }
    }

    /// A number.
    pub fn number(value: f64) -> Term {
        Term::Object(Object::float(value))
    }
}

impl From<Function> for Object {
    fn from(function: Function) -> Object {
        Object::Function(Arc::new(function))
    }
}
