//! Arrays in and out as capsules: whoever takes one renames it and calls the deleter once; one that nobody took calls it
//! itself.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use ferrofuse::{Argument, ArrayView};
use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;

use super::tensor::{Elements, Tensor};
use crate::arrays::Place;
use crate::arrays::library::{self, Library};
use crate::arrays::memory::Exported;
use crate::errors;

const FRESH: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of another library, given back to it when dropped.
pub struct Imported {
    elements: Elements,
    library: Option<Arc<Library>>,
    _taken: Taken,
}

/// What was in a capsule.
struct Taken(NonNull<Managed>);

// SAFETY: deleters may be called from any thread that holds the interpreter. The memory is one that any thread may read and
// write, as its library's own functions do; who writes to it while others read has a race of their own making.
unsafe impl Send for Imported {}
// SAFETY: as above.
unsafe impl Sync for Imported {}

impl Drop for Taken {
    fn drop(&mut self) {
        // Outputs that share the memory may die where the interpreter is not held; without one nothing is given back.
        Python::try_attach(|_| {
            // SAFETY: the capsule was taken, so the deleter is ours to call, and this is the one call.
            unsafe {
                if let Some(deleter) = self.0.as_ref().deleter {
                    deleter(self.0.as_ptr());
                }
            }
        });
    }
}

impl Taken {
    /// Takes the structure of a capsule, which is marked as taken.
    fn of(capsule: &Bound<'_, PyAny>) -> PyResult<Taken> {
        let py = capsule.py();
        // SAFETY: the calls accept any object and check it; the name outlives the capsule, being static.
        unsafe {
            let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), FRESH.as_ptr());
            let managed = NonNull::new(pointer.cast::<Managed>()).ok_or_else(|| PyErr::fetch(py))?;
            match ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) {
                0 => Ok(Taken(managed)),
                _ => Err(PyErr::fetch(py)),
            }
        }
    }
}

impl Imported {
    /// The array, if the object exports one.
    ///
    /// # Errors
    /// What the exporter says; dtypes and devices that are not supported.
    pub fn new(object: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<Option<Imported>> {
        let py = object.py();
        let library = library::of(object)?;
        let capsule = match &library {
            Some(library) => library.export(object),
            None if object.hasattr("__dlpack__")? => object.call_method0("__dlpack__"),
            None => return Ok(None),
        };
        let taken = Taken::of(&capsule.map_err(|error| not_exported(py, error, place))?)?;
        // SAFETY: the exporter filled in the structure, which lives until its deleter is called.
        let elements = Elements::of(py, unsafe { &taken.0.as_ref().tensor }, place)?;
        Ok(Some(Imported { elements, library, _taken: taken }))
    }

    /// The elements, for writing too unless their library has arrays that never change.
    pub fn argument(&self) -> Argument<'_> {
        if self.is_constant() {
            return self.view().into();
        }
        // SAFETY: the exporter keeps the memory until its deleter is called.
        unsafe { self.elements.argument() }
    }

    /// Whether its library has arrays that never change.
    pub fn is_constant(&self) -> bool {
        self.library().is_some_and(|library| library.is_constant)
    }

    /// The library that it is of, if that is known.
    pub fn library(&self) -> Option<&Arc<Library>> {
        self.library.as_ref()
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: as for `argument`.
        unsafe { self.elements.view() }
    }

    /// Where they are.
    pub(super) fn elements(&self) -> &Elements {
        &self.elements
    }
}

/// Why a library does not give its array, such as one that is sparse or on another device. An interrupt stays one.
fn not_exported(py: Python<'_>, error: PyErr, place: Place<'_>) -> PyErr {
    match error.is_instance_of::<PyException>(py) {
        true => errors::input(py, format!("{place}: {}", error.value(py))),
        false => error,
    }
}

/// A capsule that shares an output's memory.
///
/// # Errors
/// When Python has no memory.
pub fn export<'py>(py: Python<'py>, exported: &Arc<Exported>) -> PyResult<Bound<'py, PyAny>> {
    let tensor = Tensor::of(exported);
    let context = Arc::into_raw(Arc::clone(exported)).cast_mut().cast();
    let managed = Box::into_raw(Box::new(Managed { tensor, context, deleter: Some(delete) }));
    // SAFETY: a fresh structure under a static name; where no capsule comes of it, it is deleted here.
    unsafe {
        let capsule = ffi::PyCapsule_New(managed.cast(), FRESH.as_ptr(), Some(drop_untaken));
        if capsule.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Frees what [`export`] made.
///
/// # Safety
/// `managed` is from [`export`] and is not used again.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both were leaked by `export`, and come back once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Arc::from_raw(managed.context.cast::<Exported>().cast_const()));
    }
}

/// Frees what a capsule holds that nobody took.
///
/// # Safety
/// Called by Python with the capsule that dies.
unsafe extern "C" fn drop_untaken(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that was taken has another name, and is left alone.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, FRESH.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, FRESH.as_ptr());
            if !ptr::eq(managed, ptr::null()) {
                delete(managed.cast());
            }
        }
    }
}
