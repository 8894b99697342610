//! Python objects as objects of the definition language, and back.

use ir::definition::{CallArgument, Object};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySequence, PyString, PyTuple};

use super::value::{Meaning, TensorView, Val};
use super::{Builder, lambda};
use crate::arrays::{require_no_array, single_constant};
use crate::{data_type, errors};

/// The arguments of a call.
///
/// # Errors
/// `ArgumentError` for an object that the language does not have, `DefinitionError` for a value of another definition.
pub fn arguments(
    builder: &Bound<'_, Builder>,
    positional: &Bound<'_, PyTuple>,
    keywords: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<CallArgument>> {
    let mut arguments = Vec::with_capacity(positional.len());
    for given in positional.iter() {
        arguments.push(CallArgument::positional(object(builder, &given)?));
    }
    for (name, given) in keywords.into_iter().flatten() {
        arguments.push(CallArgument::keyword(&name.extract::<String>()?, object(builder, &given)?));
    }
    Ok(arguments)
}

/// One object.
///
/// # Errors
/// As [`arguments`].
pub fn object(builder: &Bound<'_, Builder>, given: &Bound<'_, PyAny>) -> PyResult<Object> {
    let py = given.py();
    if let Ok(val) = given.cast::<Val>() {
        return val.get().object_in(builder);
    }
    if given.is_none() {
        return Ok(Object::None);
    }
    if let Some(number) = single_constant(given)? {
        return Ok(Object::Number(number));
    }
    if let Ok(list) = given.cast::<PyList>() {
        let items: PyResult<Vec<Object>> = list.iter().map(|item| object(builder, &item)).collect();
        return Ok(Object::list(items?));
    }
    if let Ok(tuple) = given.cast::<PyTuple>() {
        let items: PyResult<Vec<Object>> = tuple.iter().map(|item| object(builder, &item)).collect();
        return Ok(Object::list(items?));
    }
    if let Ok(word) = given.cast::<PyString>() {
        return Ok(Object::Text(word.extract::<String>()?.into()));
    }
    if lambda::is_lambda(given) {
        return Ok(lambda::traced(builder, given)?.into());
    }
    match data_type::named_by(given)? {
        Some(Some(dtype)) => Ok(Object::DType(dtype)),
        Some(None) => Ok(Object::None),
        None => {
            // Sizes of a tensor, `x.shape`.
            if let Ok(items) = given.cast::<PySequence>() {
                let items = items.try_iter()?.map(|item| object(builder, &item?));
                return Ok(Object::list(items.collect::<PyResult<Vec<Object>>>()?));
            }
            require_no_array("", given)?;
            let kind = given.get_type().qualname()?;
            Err(errors::argument(
                py,
                format!("expected a tensor, a scalar, a number, a DataType or a list of these, got {kind}"),
            ))
        }
    }
}

/// The results of a call as Python objects. Several results are a tuple; sizes are a list.
///
/// # Errors
/// When Python has no memory.
pub fn result<'py>(
    builder: &Bound<'py, Builder>,
    given: &Object,
    as_list: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let py = builder.py();
    match given {
        Object::List(items) => {
            let items: PyResult<Vec<_>> = items.iter().map(|item| result(builder, item, as_list)).collect();
            match as_list {
                true => Ok(PyList::new(py, items?)?.into_any()),
                false => Ok(PyTuple::new(py, items?)?.into_any()),
            }
        }
        Object::Value(value) if builder.get().is_tensor(*value) => TensorView::wrap(builder, *value),
        other => Val::wrap(builder, Meaning::Object(other.clone())),
    }
}
