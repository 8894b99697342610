//! Arrays in and out: NumPy's through its C API, all others by DLPack, none copied.
//!
//! What comes in decides what goes out: outputs are of the kind of the first array among the inputs.

mod dlpack;
mod memory;
mod numpy;

use ferrofuse::{Argument, Array, ArrayView, Tensor};
use ir::Scalar;
use ir::define::InputDecl;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::{errors, objects};
pub use memory::Memory;

/// An input of a call, kept alive while the call runs.
pub enum Given<'py> {
    /// An array of NumPy.
    Numpy(numpy::Seen<'py>),
    /// An array of another library.
    Exported(dlpack::Imported),
    /// A number for a scalar input.
    Number(Array),
}

impl<'py> Given<'py> {
    /// What Python gives for an input.
    ///
    /// # Errors
    /// For what is no array, or no number where a scalar is wanted, and for dtypes and devices that are not supported.
    pub fn new(object: &Bound<'py, PyAny>, decl: &InputDecl, place: usize) -> PyResult<Given<'py>> {
        if let Some(array) = numpy::Seen::new(object, place)? {
            return Ok(Given::Numpy(array));
        }
        if let Some(scalar) = objects::number(object)? {
            // A tensor without dimensions takes a number too.
            return match &decl.layout {
                Some(layout) if !layout.shape.is_empty() => Err(wrong(object, place, "an array")),
                _ => number(object.py(), scalar.cast(decl.dtype)),
            };
        }
        match dlpack::Imported::new(object, place)? {
            Some(array) => Ok(Given::Exported(array)),
            None if decl.layout.is_none() => Err(wrong(object, place, "a number")),
            None => Err(wrong(object, place, "an array (of NumPy, or with __dlpack__)")),
        }
    }

    /// The elements, for writing too where they may be written.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Given::Numpy(array) => array.argument(),
            Given::Exported(array) => array.argument(),
            Given::Number(array) => array.view().into(),
        }
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        match self {
            Given::Numpy(array) => array.view(),
            Given::Exported(array) => array.view(),
            Given::Number(array) => array.view(),
        }
    }
}

fn number<'py>(py: Python<'py>, scalar: Scalar) -> PyResult<Given<'py>> {
    let array = Array::full(scalar, &[]);
    array.map(Given::Number).map_err(|error| errors::input(py, error.to_string()))
}

/// The package that an array's class is of.
fn library_of(array: &Bound<'_, PyAny>) -> PyResult<String> {
    let module: String = array.get_type().getattr("__module__")?.extract()?;
    Ok(module.split('.').next().unwrap_or_default().to_owned())
}

fn wrong(object: &Bound<'_, PyAny>, place: usize, expected: &str) -> PyErr {
    let kind =
        object.get_type().qualname().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    errors::argument(object.py(), format!("input {place}: expected {expected}, got {kind}"))
}

/// What outputs are.
pub enum Kind<'py> {
    /// Arrays of NumPy.
    Numpy,
    /// Arrays of the library with this `from_dlpack`.
    From(Bound<'py, PyAny>),
}

impl<'py> Kind<'py> {
    /// The kind of the first array among the inputs; NumPy's without one.
    ///
    /// # Errors
    /// When the library of an array cannot be imported.
    pub fn of(inputs: &Bound<'py, PyList>) -> PyResult<Kind<'py>> {
        for input in inputs.iter() {
            if numpy::is_array(&input) {
                return Ok(Kind::Numpy);
            }
            if input.hasattr("__dlpack__")? {
                return Kind::of_library(&input);
            }
        }
        Ok(Kind::Numpy)
    }

    fn of_library(array: &Bound<'py, PyAny>) -> PyResult<Kind<'py>> {
        let exporter = match library_of(array)?.as_str() {
            "torch" => "torch",
            "cupy" => "cupy",
            "jax" | "jaxlib" => "jax.dlpack",
            _ => return Ok(Kind::Numpy),
        };
        Ok(Kind::From(array.py().import(exporter)?.getattr("from_dlpack")?))
    }

    /// An output as Python's array.
    ///
    /// # Errors
    /// When the library has no such dtype.
    pub fn array(&self, py: Python<'py>, tensor: Tensor) -> PyResult<Bound<'py, PyAny>> {
        let memory = Bound::new(py, Memory::new(tensor))?;
        match self {
            Kind::Numpy => numpy::array(&memory),
            Kind::From(from_dlpack) => from_dlpack.call1((memory,)),
        }
    }
}
