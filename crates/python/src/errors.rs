//! Rejections as Python exceptions.
//!
//! nvFuser raises `RuntimeError` for most mistakes; Python's users expect `ValueError`, `TypeError`, `IndexError`. The
//! exceptions here are subclasses of both, so that either way to catch them works.

use ferrofuse::{Blame, Error, InputError, SegmentError};
use frontend::define::DefineError;
use ir::definition::SourceLine;
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt};

/// The exceptions with two parents each: name, the other parent, docstring.
const CLASSES: [(&str, &str, &str); 4] = [
    (
        "DefinitionError",
        "ValueError",
        "A definition that cannot be: which op, which argument, what was expected and given.",
    ),
    ("ArgumentError", "TypeError", "Arguments that do not fit the parameters of an op."),
    ("InputError", "ValueError", "Inputs that do not fit the definition, or sizes that it cannot have."),
    ("OutOfRangeError", "IndexError", "An index among the data of an input that is out of range."),
];

/// A class of exceptions, by its place in [`CLASSES`].
#[derive(Clone, Copy)]
enum Class {
    Definition,
    Argument,
    Input,
    OutOfRange,
}

static DEFINED: PyOnceLock<[Py<PyAny>; 4]> = PyOnceLock::new();

/// Adds the exception classes.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let classes = classes(module.py())?;
    for ((name, ..), class) in CLASSES.iter().zip(classes) {
        module.add(*name, class.bind(module.py()))?;
    }
    Ok(())
}

fn classes(py: Python<'_>) -> PyResult<&[Py<PyAny>; 4]> {
    DEFINED.get_or_try_init(py, || {
        let builtins = py.import("builtins")?;
        let runtime = builtins.getattr("RuntimeError")?;
        let make = |(name, parent, doc): (&str, &str, &str)| -> PyResult<Py<PyAny>> {
            let namespace = PyDict::new(py);
            namespace.set_item("__doc__", doc)?;
            namespace.set_item("__module__", "ferrofuse")?;
            for detail in ["op", "argument", "expected", "given", "line"] {
                namespace.set_item(detail, py.None())?;
            }
            let parents = (builtins.getattr(parent)?, &runtime);
            Ok(builtins.getattr("type")?.call1((name, parents, namespace))?.unbind())
        };
        let [a, b, c, d] = CLASSES.map(make);
        Ok([a?, b?, c?, d?])
    })
}

fn raise(py: Python<'_>, class: Class, message: String) -> PyErr {
    raise_with(py, class, message, Details::default())
}

/// An exception about a mistake in a definition, with its place in the user's program.
fn raise_there(py: Python<'_>, class: Class, message: String, details: Details<'_>) -> PyErr {
    match place(py) {
        Ok(None) => raise_with(py, class, message, details),
        Ok(Some((file, line))) => {
            let details = Details { line: Some(line), ..details };
            raise_with(py, class, format!("{file}:{line}: {message}"), details)
        }
        Err(error) => error,
    }
}

/// The file and the line of the user's program that is running, if there is one.
fn place(py: Python<'_>) -> PyResult<Option<(String, usize)>> {
    let (file, line) = py.import("ferrofuse.caller")?.call_method0("place")?.extract::<(String, usize)>()?;
    Ok((line != 0).then_some((file, line)))
}

/// The error about a value used where it has no meaning: of another definition, or of a lambda that has ended.
pub fn misplaced(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise_there(py, Class::Definition, message.into(), Details::default())
}

/// The error about a value of a definition where none is allowed, or something else where one is required.
pub fn misused(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise_there(py, Class::Argument, message.into(), Details::default())
}

/// The attributes of an exception besides its message; each is `None` if it does not apply.
#[derive(Clone, Copy, Default)]
pub struct Details<'a> {
    /// The op, or the method such as `define_tensor`.
    pub op: Option<&'a str>,
    /// The argument at fault.
    pub argument: Option<&'a str>,
    /// The expected argument.
    pub expected: Option<&'a str>,
    pub given: Option<&'a str>,
    /// The line of the user's program at fault, from 1.
    pub line: Option<usize>,
}

fn raise_with(py: Python<'_>, class: Class, message: String, details: Details<'_>) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let error = classes(py)?[class as usize].bind(py).call1((message,))?;
        error.setattr("op", details.op)?;
        error.setattr("argument", details.argument)?;
        error.setattr("expected", details.expected)?;
        error.setattr("given", details.given)?;
        error.setattr("line", details.line)?;
        Ok(error)
    };
    made().map_or_else(|error| error, PyErr::from_value)
}

/// A definition that is invalid.
pub fn definition(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, Class::Definition, message.into())
}

/// A rejected call of a program's line, or a rejected definition, which is no single line's fault. An argument of the wrong
/// kind is a `TypeError`.
pub fn rejected(py: Python<'_>, error: &DefineError, line: Option<&SourceLine>) -> PyErr {
    let some = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
    let (expected, given) = (some(&error.expected), some(&error.given));
    let details = Details {
        op: Some(&error.op),
        argument: error.argument.as_deref(),
        expected: expected.as_deref(),
        given: given.as_deref(),
        line: line.map(|line| line.line),
    };
    let raise = if line.is_some() { raise_there } else { raise_with };
    let class = if error.is_kind { Class::Argument } else { Class::Definition };
    raise(py, class, error.to_string(), details)
}

/// Segments that are invalid or cannot run.
pub fn segments(py: Python<'_>, error: &SegmentError) -> PyErr {
    match error {
        SegmentError::Plan(error) => failed(py, error),
        error => definition(py, error.to_string()),
    }
}

/// An argument that the language does not have.
pub fn argument(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, Class::Argument, message.into())
}

/// A call outside of the `with` blocks of a definition.
pub fn closed(py: Python<'_>, op: &str) -> PyErr {
    let message = format!("`{op}` is called outside of `with fd:`, where a definition is made");
    raise_there(py, Class::Definition, message, Details { op: Some(op), ..Details::default() })
}

/// Arguments that do not fit the parameters of an op.
pub fn unbound(py: Python<'_>, op: &str, message: String) -> PyErr {
    let signature = ferrofuse::op_entry(op).map(|entry| entry.signature);
    let message = signature.map_or(message.clone(), |signature| format!("{message}; it is {signature}"));
    raise_there(py, Class::Argument, message, Details { op: Some(op), ..Details::default() })
}

/// An input of the wrong kind, with a remark at the end of the message.
pub fn mismatch(py: Python<'_>, input: &str, expected: &str, given: &str, remark: &str) -> PyErr {
    let message = format!("{input}: expected {expected}, got {given}{remark}");
    let details =
        Details { argument: Some(input), expected: Some(expected), given: Some(given), ..Details::default() };
    raise_with(py, Class::Argument, message, details)
}

/// Inputs that do not fit the definition.
pub fn input(py: Python<'_>, message: impl Into<String>) -> PyErr {
    raise(py, Class::Input, message.into())
}

/// An input that does not fit the definition, with a message about it.
pub fn unfit_input(py: Python<'_>, error: &InputError, message: String) -> PyErr {
    let (input, expected, given) = match error {
        InputError::Dtype { input, expected, given } => {
            (Some(input), expected.to_string(), given.to_string())
        }
        InputError::Rank { input, expected, given } => (Some(input), expected.to_string(), given.to_string()),
        InputError::Size { input, expected, given, .. } => {
            (Some(input), expected.to_string(), given.to_string())
        }
        InputError::Count { expected, given } => (None, expected.to_string(), given.to_string()),
        InputError::Guard { condition, values } | InputError::Undefined { condition, values } => {
            (None, condition.clone(), values.clone())
        }
        InputError::Computed(_) | InputError::Sizes(_) => return raise(py, Class::Input, message),
    };
    let argument = input.map(String::as_str);
    let details = Details { argument, expected: Some(&expected), given: Some(&given), ..Details::default() };
    raise_with(py, Class::Input, message, details)
}

/// An integer that no dtype holds.
pub fn too_wide(given: &Bound<'_, PyInt>) -> PyErr {
    let message = format!("the integer {given} has more than 64 bits");
    let made = place(given.py()).map(|place| match place {
        Some((file, line)) => PyOverflowError::new_err(format!("{file}:{line}: {message}")),
        None => PyOverflowError::new_err(message),
    });
    made.unwrap_or_else(|error| error)
}

/// An error of NVIDIA's driver, or its absence.
pub fn gpu(error: &cuda::Error) -> PyErr {
    match error {
        cuda::Error::OutOfMemory { .. } => PyMemoryError::new_err(error.to_string()),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// An error while a fusion was compiled or run.
pub fn failed(py: Python<'_>, error: &Error) -> PyErr {
    let cause = match error {
        Error::Earlier { error: earlier, .. } => &**earlier,
        own => own,
    };
    match cause.blame() {
        Blame::User => match cause {
            Error::Index { op, line, at } => {
                let given = (at.size != 0).then(|| at.index.to_string());
                let (op, line) = (Some(op.as_str()), line.as_ref().map(|line| line.line));
                let details = Details { op, line, given: given.as_deref(), ..Details::default() };
                raise_with(py, Class::OutOfRange, error.to_string(), details)
            }
            Error::Input(cause) => unfit_input(py, cause, error.to_string()),
            _ => input(py, error.to_string()),
        },
        Blame::Machine
            if matches!(
                error,
                Error::Memory { .. }
                    | Error::TooLarge { .. }
                    | Error::GpuMemory { .. }
                    | Error::Allocation(_)
                    | Error::Evaluate(_)
            ) =>
        {
            PyMemoryError::new_err(error.to_string())
        }
        Blame::Machine => match error {
            Error::Cuda(error) => gpu(error),
            _ => PyRuntimeError::new_err(error.to_string()),
        },
    }
}
