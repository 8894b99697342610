//! Refusals as Python exceptions.
//!
//! nvFuser raises `RuntimeError` for most of what is wrong; Python's users expect `ValueError`, `TypeError`, `IndexError`. The
//! exceptions here are both, so that either way to catch them works.

use ferrofuse::{Blame, Error};
use ir::define::DefineError;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// The exceptions with two parents each: name, the other parent, docstring.
const CLASSES: [(&str, &str, &str); 3] = [
    (
        "DefinitionError",
        "ValueError",
        "A definition that cannot be: which op, which argument, what was expected and given.",
    ),
    ("ArgumentError", "TypeError", "Arguments that do not fit the parameters of an op."),
    ("InputError", "ValueError", "Inputs that do not fit the definition, or sizes that it cannot have."),
];

static DEFINED: PyOnceLock<[Py<PyAny>; 3]> = PyOnceLock::new();

/// Adds the exception classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let classes = classes(module.py())?;
    for ((name, ..), class) in CLASSES.iter().zip(classes) {
        module.add(*name, class.bind(module.py()))?;
    }
    Ok(())
}

fn classes(py: Python<'_>) -> PyResult<&[Py<PyAny>; 3]> {
    DEFINED.get_or_try_init(py, || {
        let builtins = py.import("builtins")?;
        let runtime = builtins.getattr("RuntimeError")?;
        let make = |(name, parent, doc): (&str, &str, &str)| -> PyResult<Py<PyAny>> {
            let namespace = PyDict::new(py);
            namespace.set_item("__doc__", doc)?;
            namespace.set_item("__module__", "ferrofuse")?;
            let parents = (builtins.getattr(parent)?, &runtime);
            Ok(builtins.getattr("type")?.call1((name, parents, namespace))?.unbind())
        };
        let [a, b, c] = CLASSES.map(make);
        Ok([a?, b?, c?])
    })
}

fn raise(py: Python<'_>, class: usize, message: String) -> PyErr {
    match classes(py) {
        Ok(classes) => match classes[class].bind(py).call1((message,)) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        },
        Err(error) => error,
    }
}

/// A definition that cannot be.
pub fn definition(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, 0, message.into())
}

/// A refused call.
pub fn refused(py: Python<'_>, error: &DefineError) -> PyErr {
    definition(py, error.to_string())
}

/// An argument that is nothing of the language.
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, 1, message.into())
}

/// Inputs that do not fit.
pub fn input(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, 2, message.into())
}

/// What went wrong while a fusion was compiled or run.
pub fn failed(py: Python<'_>, error: &Error) -> PyErr {
    match error.blame() {
        Blame::User => input(py, error.to_string()),
        Blame::Machine if matches!(error, Error::Memory { .. } | Error::Allocation(_)) => {
            PyMemoryError::new_err(error.to_string())
        }
        Blame::Machine => PyRuntimeError::new_err(error.to_string()),
    }
}
