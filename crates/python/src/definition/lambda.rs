//! Lambdas of folds and scans: called once with expressions as parameters, which record the operations.
//!
//! A lambda may use its parameters, numbers and dtypes, but no tensor of the definition: a fold takes further tensors as
//! operands.

use ir::definition::{Function, Object, Term};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use super::value::{Meaning, Val};
use super::{Builder, objects};
use crate::errors;

/// Whether an object is a Python function.
pub fn is_lambda(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("__code__").unwrap_or(false)
}

/// The operations of a function on its parameters.
///
/// # Errors
/// Exceptions of the function, and for results that are no expressions of the parameters.
pub fn traced(builder: &Bound<'_, Builder>, function: &Bound<'_, PyAny>) -> PyResult<Function> {
    let code = function.getattr("__code__")?;
    let count: usize = code.getattr("co_argcount")?.extract()?;
    let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
    let params = names.into_iter().take(count).collect();
    let expressions: PyResult<Vec<_>> =
        (0..count).map(|place| Val::wrap(builder, Meaning::Term(Term::Param(place)))).collect();
    let given = function.call1(PyTuple::new(builder.py(), expressions?)?)?;
    let results: PyResult<Vec<Term>> = match (given.cast::<PyList>(), given.cast::<PyTuple>()) {
        (Ok(list), _) => list.iter().map(|item| term(builder, &item)).collect(),
        (_, Ok(tuple)) => tuple.iter().map(|item| term(builder, &item)).collect(),
        _ => Ok(vec![term(builder, &given)?]),
    };
    Ok(Function { params, results: results? })
}

/// A call of an op inside a lambda, if one of its arguments is an expression of the lambda's parameters.
///
/// # Errors
/// For a tensor of the definition among the other arguments.
pub fn call(
    builder: &Bound<'_, Builder>,
    op: &str,
    positional: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Option<Term>> {
    let is_term = |given: &Bound<'_, PyAny>| given.cast::<Val>().is_ok_and(|val| val.get().term().is_some());
    let named = || keywords.into_iter().flatten();
    if !positional.iter().any(|given| is_term(&given)) && !named().any(|(_, given)| is_term(&given)) {
        return Ok(None);
    }
    let mut arguments = Vec::new();
    for given in positional.iter() {
        arguments.push((None, term(builder, &given)?));
    }
    for (name, given) in named() {
        arguments.push((Some(name.extract()?), term(builder, &given)?));
    }
    Ok(Some(Term::Call { op: op.to_owned(), arguments, span: None }))
}

fn term(builder: &Bound<'_, Builder>, given: &Bound<'_, PyAny>) -> PyResult<Term> {
    if let Ok(val) = given.cast::<Val>()
        && let Some(term) = val.get().term()
    {
        return Ok(term.clone());
    }
    match objects::object(builder, given)? {
        object @ (Object::None | Object::Number(_) | Object::DType(_)) => Ok(Term::Object(object)),
        _ => {
            let message = "a lambda sees its parameters and numbers only; give the fold one more tensor, whose element \
                           the lambda then combines";
            Err(errors::misplaced(builder.py(), message))
        }
    }
}
