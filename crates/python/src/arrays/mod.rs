//! Arrays in and out: NumPy's through its C API, all others by DLPack, none copied.
//!
//! What comes in decides what goes out: outputs are of the kind of the first array among the inputs. Those that are views of
//! inputs share their memory where the library can say how it lies and that it is read only, and are copies elsewhere.

mod dlpack;
mod library;
mod memory;
mod numpy;

use std::sync::Arc;

use ferrofuse::{Argument, Array, ArrayView, Output};
use ir::Scalar;
use ir::define::InputDecl;
use pyo3::prelude::*;

use crate::{errors, objects};
use library::Library;
pub use memory::Memory;
use memory::Owner;

/// An input of a call, kept alive while the call runs.
pub enum Given<'py> {
    /// An array of NumPy.
    Numpy(numpy::Seen<'py>),
    /// An array of another library, of which the object is held.
    Borrowed(dlpack::Borrowed<'py>),
    /// An array of another library, which was exported.
    Exported(Arc<dlpack::Imported>),
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
        let rank = decl.layout.as_ref().map(|layout| layout.shape.len());
        // A tensor without dimensions takes a number too; an array that may be written to stays what it is.
        let may_be_number = rank.is_none() || (rank == Some(0) && library::of(object)?.is_none());
        if may_be_number && let Some(scalar) = objects::number(object)? {
            return number(object.py(), scalar.cast(decl.dtype));
        }
        if let Some(library) = library::of(object)?
            && let Some(array) = dlpack::Borrowed::new(object, &library, place)?
        {
            return Ok(Given::Borrowed(array));
        }
        match dlpack::Imported::new(object, place)? {
            Some(array) => Ok(Given::Exported(Arc::new(array))),
            None if rank.is_none() => Err(wrong(object, place, "a number")),
            None if objects::number(object)?.is_some() => Err(wrong(object, place, "an array")),
            None => Err(wrong(object, place, "an array (of NumPy, or with __dlpack__)")),
        }
    }

    /// The elements, for writing too where they may be written.
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Given::Numpy(array) => array.argument(),
            Given::Borrowed(array) => array.argument(),
            Given::Exported(array) => array.argument(),
            Given::Number(array) => array.view().into(),
        }
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        match self {
            Given::Numpy(array) => array.view(),
            Given::Borrowed(array) => array.view(),
            Given::Exported(array) => array.view(),
            Given::Number(array) => array.view(),
        }
    }

    /// Whether its users may write to it; of a number there are none.
    fn is_writable(&self) -> bool {
        match self {
            Given::Numpy(array) => array.is_writable(),
            Given::Borrowed(array) => !array.library().is_constant,
            Given::Exported(array) => !array.is_constant(),
            Given::Number(_) => false,
        }
    }

    /// What keeps its memory when the call is over; of a number nothing does.
    fn owner(&self, place: usize) -> PyResult<Option<Owner>> {
        let imported = |array| Some(Owner::Imported { _imported: array });
        match self {
            Given::Numpy(array) => Ok(Some(Owner::Numpy(array.object()))),
            Given::Borrowed(array) => array.kept(place).map(Arc::new).map(imported),
            Given::Exported(array) => Ok(imported(Arc::clone(array))),
            Given::Number(_) => Ok(None),
        }
    }
}

fn number<'py>(py: Python<'py>, scalar: Scalar) -> PyResult<Given<'py>> {
    let array = Array::full(scalar, &[]);
    array.map(Given::Number).map_err(|error| errors::input(py, error.to_string()))
}

fn wrong(object: &Bound<'_, PyAny>, place: usize, expected: &str) -> PyErr {
    let kind =
        object.get_type().qualname().map_or_else(|_| "something else".to_owned(), |name| name.to_string());
    errors::argument(object.py(), format!("input {place}: expected {expected}, got {kind}"))
}

/// What outputs are.
pub enum Kind {
    /// Arrays of NumPy.
    Numpy,
    /// Arrays of another library.
    Of(Arc<Library>),
}

impl Kind {
    /// The kind of the first array among the inputs, else of the first that became a number; NumPy's without one.
    ///
    /// # Errors
    /// When the library of an array has not what it should have.
    pub fn of(given: &[Given<'_>], inputs: &[Bound<'_, PyAny>]) -> PyResult<Kind> {
        for given in given {
            match given {
                Given::Numpy(_) => return Ok(Kind::Numpy),
                Given::Borrowed(array) => return Ok(Kind::Of(Arc::clone(array.library()))),
                Given::Exported(array) => return Ok(array.library().cloned().map_or(Kind::Numpy, Kind::Of)),
                Given::Number(_) => {}
            }
        }
        for input in inputs {
            if let Some(library) = library::of(input)? {
                return Ok(Kind::Of(library));
            }
        }
        Ok(Kind::Numpy)
    }

    /// Whether torch is the caller.
    pub fn is_torch(&self) -> bool {
        matches!(self, Kind::Of(library) if library.is_torch)
    }

    /// An output of a call on these inputs as Python's array.
    ///
    /// # Errors
    /// When the library has no such dtype, or there is no memory for a copy.
    pub fn array<'py>(
        &self,
        py: Python<'py>,
        output: Output<'_>,
        given: &[Given<'py>],
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = match output {
            Output::Made(tensor) if self.can_say(&tensor.view()) => Memory::new(tensor),
            Output::View { input, view } => self.seen(py, &view, &given[input], input)?,
            Output::Made(tensor) => copy(py, &tensor.view())?,
        };
        match self {
            Kind::Numpy => numpy::array(&Bound::new(py, memory)?),
            Kind::Of(library) => library.import(py, memory),
        }
    }

    /// A view of an input, or a copy where no array of this kind can be one.
    fn seen(
        &self,
        py: Python<'_>,
        view: &ArrayView<'_>,
        given: &Given<'_>,
        place: usize,
    ) -> PyResult<Memory> {
        let writable = given.is_writable();
        if (writable || matches!(self, Kind::Numpy))
            && self.can_say(view)
            && let Some(owner) = given.owner(place)?
        {
            return Ok(Memory::seen(view, writable, owner));
        }
        copy(py, view)
    }

    /// Whether an array of this kind can lie in memory like this.
    fn can_say(&self, view: &ArrayView<'_>) -> bool {
        match self {
            Kind::Numpy => true,
            Kind::Of(library) if library.has_strides => view.strides().iter().all(|&stride| stride >= 0),
            Kind::Of(_) => view.strides().iter().all(|&stride| stride > 0),
        }
    }
}

/// A copy of a view in memory of its own.
fn copy(py: Python<'_>, view: &ArrayView<'_>) -> PyResult<Memory> {
    view.to_array().map(Memory::copy).map_err(|error| errors::input(py, error.to_string()))
}
