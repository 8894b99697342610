//! The bodies of folds and scans by lambdas, for Python, as separate definitions.

use ferrofuse::{DefinitionBuilder, FoldLambda, Scalar};
use pyo3::prelude::*;

use super::Builder;
use crate::errors;

/// For each fold and scan by a lambda: the op, the names of its results, the initial state of runs, the body.
type Body = (&'static str, Vec<String>, Vec<Py<PyAny>>, Builder);

/// The lambdas of a definition.
///
/// # Errors
/// When it is not finished.
#[pyfunction]
pub fn lambdas(py: Python<'_>, builder: &Builder) -> PyResult<Vec<Body>> {
    let lambdas = ferrofuse::lambdas(&builder.definition(py)?);
    let lambdas = lambdas.map_err(|error| errors::definition(py, error.to_string()))?;
    let body = |FoldLambda { op, outputs, init, definition }| {
        let init = init.into_iter().map(|scalar| number(py, scalar)).collect::<PyResult<_>>()?;
        Ok((op, outputs, init, Builder::from(DefinitionBuilder::going_on(definition))))
    };
    lambdas.into_iter().map(body).collect()
}

/// A number as a Python object.
fn number(py: Python<'_>, scalar: Scalar) -> PyResult<Py<PyAny>> {
    let dtype = scalar.dtype();
    Ok(match () {
        () if dtype.is_float() => scalar.as_f64().into_pyobject(py)?.into_any().unbind(),
        () if dtype.is_int() => scalar.as_i64().into_pyobject(py)?.into_any().unbind(),
        () => scalar.as_bool().into_pyobject(py)?.to_owned().into_any().unbind(),
    })
}
