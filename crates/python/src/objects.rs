//! Python's objects as things of the definition language, and back.

use ir::definition::{CallArgument, Object};
use ops::{DType, Scalar};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::arrays::numpy;
use crate::builder::Builder;
use crate::value::{Meaning, TensorView, Val};
use crate::{data_type, errors, lambda};

/// The arguments of a call.
///
/// # Errors
/// `ArgumentError` for an object that is nothing of the language, `DefinitionError` for a value of another definition.
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
    if let Some(number) = number(given)? {
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
            let kind = given.get_type().qualname()?;
            Err(errors::argument(
                py,
                format!("expected a tensor, a scalar, a number, a DataType or a list of these, got {kind}"),
            ))
        }
    }
}

/// A number as a constant: Python's own, and NumPy's, which say what they are.
///
/// # Errors
/// When an int is beyond 64 bits.
pub fn number(given: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Some(Scalar::from_bool(flag.is_true())));
    }
    if given.is_instance_of::<PyInt>() {
        return match given.extract::<i64>() {
            Ok(number) => Ok(Some(Scalar::from_i64(DType::I64, number))),
            Err(_) => Ok(Some(Scalar::from_u64(DType::U64, given.extract()?))),
        };
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::from_f64(DType::F64, given.extract()?)));
    }
    if let Ok(number) = given.cast::<PyComplex>() {
        return Ok(Some(Scalar::complex(DType::C128, number.real(), number.imag())));
    }
    if let Some(reason) = numpy::rejected(given)? {
        return Err(errors::argument(given.py(), reason));
    }
    // NumPy's scalars are no subclasses of Python's, but for float64.
    if given.hasattr("dtype")?
        && given.hasattr("item")?
        && given.getattr("ndim")?.extract::<usize>().ok() == Some(0)
    {
        return number(&given.call_method0("item")?);
    }
    Ok(None)
}

/// What a call gives, as Python sees it. Several results are a tuple; sizes are a list.
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
