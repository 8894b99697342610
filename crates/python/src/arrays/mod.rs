//! Arrays in and out: NumPy's through its C API, all others by DLPack, copied only if strides in elements cannot describe
//! them.
//!
//! Inputs decide the kind of outputs: that of the first array among the inputs. Outputs that are views of inputs share their
//! memory if the library can express the layout and read-only memory, and are copies otherwise.

mod dlpack;
pub mod library;
mod memory;
mod number;
pub mod numpy;
mod nvfuser;
mod on_gpu;
mod semantics;
mod torch;

use std::fmt;
use std::sync::Arc;

use ferrofuse::{Argument, Array, ArrayView, Definition, Output};
use ir::definition::InputDecl;
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::errors;
pub use dlpack::{Device, Imported, export};
pub use library::Library;
pub use memory::{Exported, OutputMemory, Owner, repeats};
pub use number::{constant, require_no_array, single_constant};
pub use nvfuser::other_tensor;
pub use on_gpu::{GpuArray, Holder, InputOnGpu, KindOnGpu, OutputsOnGpu, to_gpu};
pub use torch::ElementsAt;
use torch::Torch;

/// Why no output can be written to an array that had to be copied for reading.
const AT_ODD_DISTANCES: &str = "its elements lie at distances that are no multiple of their size, as fields of packed \
     records do: give a copy of it";
const LAZY: &str =
    "its conjugation or sign is not carried out yet: give resolve_conj() or resolve_neg() of it";
/// The request for another library's arrays if no array comes in.
const WITHOUT_ARRAYS: &str = "a call without arrays, with device= given or ferrofuse.compat installed,";
const COPIED: &str = "its library gives a copy of it";

/// The purpose of an array in a call, for diagnostics.
#[derive(Clone, Copy)]
pub enum Place<'d> {
    /// The input of this number of a definition.
    Input(&'d Definition, usize),
    /// The destination of the output of this number.
    Output(usize),
    /// An argument that is copied to a GPU.
    Argument,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Input(definition, number) => f.write_str(&definition.input_name(*number)),
            Place::Output(number) => write!(f, "out[{number}]"),
            Place::Argument => f.write_str("array"),
        }
    }
}

impl Place<'_> {
    /// The error about an array that another thread gave other memory.
    fn replaced(self) -> PyErr {
        PyBufferError::new_err(format!("{self}: its memory was replaced while the call ran"))
    }

    /// The declaration of an input.
    fn declared(&self) -> Option<&InputDecl> {
        match self {
            Place::Input(definition, number) => Some(&definition.input_decls()[*number]),
            Place::Output(_) | Place::Argument => None,
        }
    }

    /// The error about an object of the wrong kind, with a remark at its end.
    ///
    /// # Errors
    /// When Python cannot print it.
    fn mismatch(self, object: &Bound<'_, PyAny>, expected: &str, remark: &str) -> PyResult<PyErr> {
        let class = object.get_type().qualname()?;
        let given = match object.getattr("shape").and_then(|shape| shape.extract::<Vec<usize>>()) {
            Ok(sizes) if !sizes.is_empty() => format!("{class} of shape {sizes:?}"),
            _ if constant(object)?.is_some() => format!("{class} {}", object.str()?),
            _ => class.to_string(),
        };
        Ok(errors::mismatch(object.py(), &self.to_string(), expected, &given, remark))
    }
}

/// An input of a call, kept alive while the call runs.
pub enum Given<'py> {
    /// An array of NumPy.
    Numpy(numpy::ViewedArray<'py>),
    /// An array of another library whose object is held.
    Borrowed(dlpack::Borrowed<'py>),
    /// An array of another library, which was exported.
    Exported(Arc<dlpack::Imported>),
    /// An array of a GPU.
    Gpu(InputOnGpu<'py>),
    /// A number for a scalar input.
    Number(Array),
}

impl<'py> Given<'py> {
    /// An object that Python passes for an input, or as a destination.
    ///
    /// # Errors
    /// For an object that is no array, or no number for a scalar input, and for dtypes and devices that are not supported.
    pub fn new(object: &Bound<'py, PyAny>, place: Place<'_>) -> PyResult<Given<'py>> {
        let scalar = place.declared().filter(|decl| decl.layout.is_none());
        if let Some(decl) = scalar {
            return match number::of(object, decl.dtype, place)? {
                Some(number) => Ok(Given::Number(number)),
                None => Err(number::rejected(object, decl.dtype, place)?),
            };
        }
        if let Some(array) = numpy::ViewedArray::new(object, place)? {
            return Ok(Given::Numpy(array));
        }
        if let Some(array) = InputOnGpu::of_ours(object) {
            return Ok(Given::Gpu(array));
        }
        let library = library::of(object)?;
        if let Some(reason) = library.as_ref().and_then(|library| library.rejected.as_ref()) {
            return Err(errors::input(object.py(), format!("{place}: {reason}")));
        }
        // A tensor without dimensions accepts a number too; an array that may be written to is taken as an array.
        let has_no_axes =
            |decl: &&InputDecl| decl.layout.as_ref().is_some_and(|layout| layout.shape.is_empty());
        if let Some(decl) = place.declared().filter(has_no_axes)
            && library.is_none()
            && let Some(number) = number::of(object, decl.dtype, place)?
        {
            return Ok(Given::Number(number));
        }
        let given = Given::exported(object, library.as_ref(), place);
        let Some(torch) = library.as_ref().and_then(|library| library.torch.as_ref()) else { return given };
        // An object without plain elements is not exported, or exported with a null address.
        if given.as_ref().is_ok_and(|given| !given.is_at_null()) {
            return given;
        }
        torch.kind(object)?.map_or(given, |kind| Err(errors::input(object.py(), format!("{place} {kind}"))))
    }

    /// An array imported by DLPack.
    fn exported(
        object: &Bound<'py, PyAny>,
        library: Option<&Arc<Library>>,
        place: Place<'_>,
    ) -> PyResult<Given<'py>> {
        if let Some(library) = library
            && let Some(array) = dlpack::Borrowed::new(object, library, place)?
        {
            return Ok(match array.on_gpu() {
                None => Given::Borrowed(array),
                Some(at) => {
                    let (writable, is_copy) = (!array.library().is_constant, array.is_copy());
                    let holder = Holder::Borrowed(array.object().clone(), Arc::clone(array.library()));
                    Given::Gpu(InputOnGpu { at, writable, is_copy, holder })
                }
            });
        }
        match dlpack::Imported::new(object, place)?.map(Arc::new) {
            Some(array) => Ok(match array.on_gpu() {
                None => Given::Exported(array),
                Some(at) => {
                    let (writable, is_copy) = (!array.is_constant(), array.is_copy());
                    Given::Gpu(InputOnGpu { at, writable, is_copy, holder: Holder::Imported(array) })
                }
            }),
            None => {
                if let Some(array) = InputOnGpu::named(object, place)? {
                    return Ok(Given::Gpu(array));
                }
                let remark = nvfuser::tensor_expected(object, place)?;
                Err(place.mismatch(object, "an array (of NumPy, or with __dlpack__)", &remark)?)
            }
        }
    }

    /// Why no output can be written to the given object: writes to a copy of it would be lost.
    ///
    /// # Errors
    /// Errors of its library.
    pub fn unwritable(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        match (self.torch(), self) {
            (Some(_), _) if self.is_copy() => Ok(Some(LAZY)),
            (Some(torch), _) => torch.unwritable(object),
            (None, Given::Numpy(_)) => Ok(self.is_copy().then_some(AT_ODD_DISTANCES)),
            (None, _) => Ok(self.is_copy().then_some(COPIED)),
        }
    }

    /// Whether it is a copy of the input.
    fn is_copy(&self) -> bool {
        match self {
            Given::Numpy(array) => array.is_copy(),
            Given::Borrowed(array) => array.is_copy(),
            Given::Exported(array) => array.is_copy(),
            Given::Gpu(array) => array.is_copy,
            Given::Number(_) => false, // it is read only
        }
    }

    /// Tells its library that it was written to.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn wrote(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        self.torch().map_or(Ok(()), |torch| torch.wrote(object))
    }

    /// torch, if it is a torch tensor.
    pub fn torch(&self) -> Option<&Torch> {
        let library = match self {
            Given::Numpy(_) | Given::Number(_) => None,
            Given::Borrowed(array) => Some(array.library()),
            Given::Exported(array) => array.library(),
            Given::Gpu(array) => array.library(),
        };
        library?.torch.as_ref()
    }

    /// Whether it requires a gradient, which autograd cannot trace through a call.
    ///
    /// # Errors
    /// Errors of its library.
    pub fn requires_gradient(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.torch().map_or(Ok(false), |torch| torch.requires_gradient(object))
    }

    /// The elements, for writing too if that is allowed.
    ///
    /// # Errors
    /// For an array of a GPU.
    pub fn argument(&self, place: Place<'_>) -> PyResult<Argument<'_>> {
        match self {
            Given::Numpy(array) => Ok(array.argument()),
            Given::Borrowed(array) => Ok(array.argument()),
            Given::Exported(array) => Ok(array.argument()),
            Given::Number(array) => Ok(array.view().into()),
            Given::Gpu(array) => Err(array.not_of_host(place)),
        }
    }

    /// The elements.
    ///
    /// # Errors
    /// For an array of a GPU.
    pub fn view(&self, place: Place<'_>) -> PyResult<ArrayView<'_>> {
        match self {
            Given::Numpy(array) => Ok(array.view()),
            Given::Borrowed(array) => Ok(array.view()),
            Given::Exported(array) => Ok(array.view()),
            Given::Number(array) => Ok(array.view()),
            Given::Gpu(array) => Err(array.not_of_host(place)),
        }
    }

    /// The array, if it is one of a GPU.
    pub fn on_gpu(&self) -> Option<&InputOnGpu<'py>> {
        match self {
            Given::Gpu(array) => Some(array),
            _ => None,
        }
    }

    /// Whether its library reports a null address.
    fn is_at_null(&self) -> bool {
        match self {
            Given::Borrowed(array) => array.view().as_ptr().is_null(),
            Given::Exported(array) => array.view().as_ptr().is_null(),
            Given::Gpu(array) => array.at.address == 0,
            Given::Numpy(_) | Given::Number(_) => false,
        }
    }

    /// Whether its users may write to it; a number has none.
    fn is_writable(&self) -> bool {
        match self {
            Given::Numpy(array) => array.is_writable(),
            Given::Borrowed(array) => !array.library().is_constant,
            Given::Exported(array) => !array.is_constant(),
            Given::Gpu(array) => array.writable,
            Given::Number(_) => false,
        }
    }

    /// The owner of its memory after the call; a number has none.
    fn owner(&self, place: Place<'_>) -> PyResult<Option<Owner>> {
        let imported = |array| Some(Owner::Imported { _imported: array });
        match self {
            Given::Numpy(array) => Ok(Some(Owner::Numpy(array.object()))),
            Given::Borrowed(array) => array.kept(place).map(Arc::new).map(imported),
            Given::Exported(array) => Ok(imported(Arc::clone(array))),
            Given::Number(_) | Given::Gpu(_) => Ok(None),
        }
    }
}

/// What a call requests of its outputs.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The library, the caller's `like`.
    pub like: Option<&'a Bound<'a, PyAny>>,
    /// The device that the call names.
    pub device: Option<&'a Bound<'a, PyAny>>,
    /// Takes the number of an output that is a view of an input, and the view, and returns what is returned in its place.
    pub instead_of_views: Option<&'a Bound<'a, PyAny>>,
}

impl<'a> Wanted<'a> {
    /// Outputs like these, on this device.
    pub fn of(like: Option<&'a Bound<'a, PyAny>>, device: Option<&'a Bound<'a, PyAny>>) -> Wanted<'a> {
        Wanted { like, device, instead_of_views: None }
    }

    /// The library's name if no array comes in: torch for a call that names a device, and for a compiled graph.
    ///
    /// # Errors
    /// When the package's options cannot be read.
    pub fn without_arrays(&self, py: Python<'_>) -> PyResult<String> {
        if self.device.is_some() || self.is_of_graph() {
            return Ok("torch".to_owned());
        }
        py.import("ferrofuse.nvfuser.options")?.getattr("without_arrays")?.extract()
    }

    /// Whether a compiled graph calls.
    pub fn is_of_graph(&self) -> bool {
        self.instead_of_views.is_some()
    }

    /// What is returned for an output that is a view.
    ///
    /// # Errors
    /// Errors of the caller's function.
    pub fn for_view<'py>(&self, number: usize, view: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = view.py();
        let Some(instead) = self.instead_of_views else { return Ok(view) };
        instead.call1((number, view)).map(|made| made.unbind().into_bound(py))
    }
}

/// The kind of outputs.
pub enum Kind {
    /// Arrays of NumPy.
    Numpy,
    /// Arrays of another library.
    Of(Arc<Library>),
}

impl Kind {
    /// The requested kind, else that of the first array among the inputs, else that of the first array that became a number,
    /// else that of calls without arrays.
    ///
    /// # Errors
    /// When a library lacks an expected attribute, and for a `like` that names no library.
    pub fn of(
        py: Python<'_>,
        given: &[Given<'_>],
        inputs: &[Bound<'_, PyAny>],
        wanted: Wanted<'_>,
    ) -> PyResult<Kind> {
        let kind = |library: Option<_>| library.map_or(Kind::Numpy, Kind::Of);
        if let Some(like) = wanted.like {
            return library::like(like).map(kind);
        }
        for given in given {
            match given {
                Given::Numpy(_) => return Ok(Kind::Numpy),
                Given::Borrowed(array) => return Ok(Kind::Of(Arc::clone(array.library()))),
                Given::Exported(array) => return Ok(array.library().cloned().map_or(Kind::Numpy, Kind::Of)),
                Given::Number(_) | Given::Gpu(_) => {}
            }
        }
        for input in inputs {
            if let Some(library) = library::of(input)? {
                return Ok(Kind::Of(library));
            }
        }
        library::named(py, &wanted.without_arrays(py)?, WITHOUT_ARRAYS).map(kind)
    }

    /// Whether torch is the caller.
    pub fn is_torch(&self) -> bool {
        matches!(self, Kind::Of(library) if library.torch.is_some())
    }

    /// An output of a call of a definition on these inputs as Python's array.
    ///
    /// # Errors
    /// When the library has no such dtype, or there is no memory for a copy.
    pub fn array<'py>(
        &self,
        py: Python<'py>,
        output: Output<'_>,
        given: &[Given<'py>],
        inputs: &[Bound<'py, PyAny>],
        definition: &Definition,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place = |number| Place::Input(definition, number);
        if let Output::View { input, view } = &output
            && self.is_torch()
            && let Some(torch) = given[*input].torch().filter(|_| !given[*input].is_copy())
        {
            let first = given[*input].view(place(*input))?.as_ptr() as usize;
            let viewed = torch.view(&inputs[*input], first, &ElementsAt::from(view))?;
            return viewed.ok_or_else(|| place(*input).replaced());
        }
        let memory = match output {
            Output::Made(tensor) if self.can_say(tensor.strides()) => OutputMemory::new(tensor),
            Output::View { input, view } => self.viewed(py, &view, &given[input], place(input))?,
            Output::Made(tensor) => copy(py, &tensor.view())?,
        };
        match self {
            Kind::Numpy => numpy::array(&Bound::new(py, memory)?),
            Kind::Of(library) => library.import(py, memory),
        }
    }

    /// A view of an input, or a copy if no array of this kind can be such a view.
    fn viewed(
        &self,
        py: Python<'_>,
        view: &ArrayView<'_>,
        given: &Given<'_>,
        place: Place<'_>,
    ) -> PyResult<OutputMemory> {
        let writable = given.is_writable();
        if (writable || matches!(self, Kind::Numpy))
            && self.can_say(view.strides())
            && let Some(owner) = given.owner(place)?
        {
            return Ok(OutputMemory::viewed(view, writable, owner));
        }
        copy(py, view)
    }

    /// Whether an array of this kind can have such strides.
    fn can_say(&self, strides: &[isize]) -> bool {
        match self {
            Kind::Numpy => true,
            Kind::Of(library) if library.has_strides => strides.iter().all(|&stride| stride >= 0),
            Kind::Of(_) => strides.iter().all(|&stride| stride > 0),
        }
    }
}

/// A copy of a view in separate memory.
fn copy(py: Python<'_>, view: &ArrayView<'_>) -> PyResult<OutputMemory> {
    view.to_array().map(OutputMemory::copy).map_err(|error| errors::input(py, error.to_string()))
}
