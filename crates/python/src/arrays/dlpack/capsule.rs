//! Arrays in and out as capsules. A consumer renames the capsule that it takes and calls the deleter once; a capsule that
//! nobody took calls the deleter itself.
//!
//! Capsules are requested with the flags of version 1: whether the array is writable, and whether it is a copy. Exported
//! capsules are of the first version, which every library accepts.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use ferrofuse::{Argument, ArrayView};
use pyo3::exceptions::{PyBufferError, PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{ffi, intern};

use super::tensor::{Device, Elements, IS_COPIED, MAJOR, READ_ONLY, Tensor, Version, Versioned};
use crate::arrays::Place;
use crate::arrays::library::{self, Library};
use crate::arrays::memory::Exported;
use crate::errors;
use crate::gpu::{OnGpu, OpenDevice};

/// The stream number that means no synchronisation.
const NO_WAIT: i64 = -1;

const FRESH: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";
const FRESH_VERSIONED: &CStr = c"dltensor_versioned";
const TAKEN_VERSIONED: &CStr = c"used_dltensor_versioned";

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of another library, released to it when dropped.
pub struct Imported {
    elements: Elements,
    library: Option<Arc<Library>>,
    is_copy: bool,
    is_constant: bool,
    _taken: Taken,
}

/// The contents of a capsule.
enum Taken {
    Unversioned(NonNull<Managed>),
    Versioned(NonNull<Versioned>),
}

// SAFETY: deleters may be called from any thread that holds the interpreter. Any thread may read and write the memory, as
// its library's own functions do; a write during others' reads is the caller's own race.
unsafe impl Send for Imported {}
// SAFETY: as above.
unsafe impl Sync for Imported {}

impl Drop for Taken {
    fn drop(&mut self) {
        // Outputs that share the memory may be dropped where the interpreter is not held; after its end nothing is released.
        Python::try_attach(|_| {
            // SAFETY: the capsule was taken, so this is the one call of the deleter.
            unsafe {
                match self {
                    Taken::Unversioned(managed) => {
                        managed.as_ref().deleter.inspect(|delete| delete(managed.as_ptr()));
                    }
                    Taken::Versioned(managed) => {
                        managed.as_ref().deleter.inspect(|delete| delete(managed.as_ptr()));
                    }
                }
            }
        });
    }
}

impl Taken {
    /// Takes the structure of a capsule, and marks the capsule as taken.
    fn of(capsule: &Bound<'_, PyAny>) -> PyResult<Taken> {
        // SAFETY: the call accepts any object and checks it.
        let is_versioned = unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), FRESH_VERSIONED.as_ptr()) } == 1;
        match is_versioned {
            true => take(capsule, FRESH_VERSIONED, TAKEN_VERSIONED).map(Taken::Versioned)?.known(),
            false => take(capsule, FRESH, TAKEN).map(Taken::Unversioned),
        }
    }

    /// Itself, if this code knows the structure of its version.
    fn known(self) -> PyResult<Taken> {
        if let Taken::Versioned(managed) = &self {
            // SAFETY: the exporter filled in the structure, which in every version begins with the version.
            let major = unsafe { managed.cast::<Version>().read() }.major;
            if major != MAJOR {
                return Err(PyBufferError::new_err(format!(
                    "a DLPack tensor of the unknown version {major}"
                )));
            }
        }
        Ok(self)
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: the exporter filled in the structure, which lives until its deleter is called.
        unsafe {
            match self {
                Taken::Unversioned(managed) => &managed.as_ref().tensor,
                Taken::Versioned(managed) => &managed.as_ref().tensor,
            }
        }
    }

    fn has(&self, flag: u64) -> bool {
        match self {
            Taken::Unversioned(_) => false,
            // SAFETY: as for `tensor`.
            Taken::Versioned(managed) => unsafe { managed.as_ref() }.flags & flag != 0,
        }
    }
}

/// Takes the contents of a capsule, and renames it.
fn take<T>(capsule: &Bound<'_, PyAny>, fresh: &'static CStr, taken: &'static CStr) -> PyResult<NonNull<T>> {
    let py = capsule.py();
    // SAFETY: the calls accept any object and check it; the name outlives the capsule, being static.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), fresh.as_ptr());
        let managed = NonNull::new(pointer.cast::<T>()).ok_or_else(|| {
            drop(PyErr::take(py));
            PyBufferError::new_err("`__dlpack__` returned no capsule, or one whose array was taken already")
        })?;
        match ffi::PyCapsule_SetName(capsule.as_ptr(), taken.as_ptr()) {
            0 => Ok(managed),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// The capsule of an array of any library, with flags if the library supports them. A GPU's array is requested for its
/// device's stream: work enqueued there later sees the elements; for libraries with streams the caller waits instead.
fn asked<'py>(object: &Bound<'py, PyAny>, library: Option<&Library>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    let plain = PyDict::new(py);
    if let Some(ordinal) = gpu_of(object)? {
        let stream = match library.and_then(|library| library.streams.as_ref()) {
            Some(_) => NO_WAIT,
            None => OpenDevice::of(py, ordinal)?.stream.number() as i64,
        };
        plain.set_item(intern!(py, "stream"), stream)?;
    }
    let versioned = plain.copy()?;
    versioned.set_item(intern!(py, "max_version"), (MAJOR, 0))?;
    match object.call_method(intern!(py, "__dlpack__"), (), Some(&versioned)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            object.call_method(intern!(py, "__dlpack__"), (), Some(&plain))
        }
        asked => asked,
    }
}

/// The number of the GPU that an array is on, as its library reports it.
fn gpu_of(object: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let py = object.py();
    let Some(device) = object.getattr_opt(intern!(py, "__dlpack_device__"))? else { return Ok(None) };
    let device = device.call0()?.extract::<(i32, i32)>();
    Ok(device.ok().and_then(|device| Device::from(device).gpu()))
}

impl Imported {
    /// The array, if the object exports one.
    ///
    /// # Errors
    /// Errors of the exporter; dtypes and devices that are not supported.
    pub fn new(object: &Bound<'_, PyAny>, place: Place<'_>) -> PyResult<Option<Imported>> {
        let py = object.py();
        let library = library::of(object)?;
        let resolved = library.as_ref().map(|library| library.resolved(object, true)).transpose()?.flatten();
        let array = resolved.as_ref().unwrap_or(object);
        let capsule = match library.as_ref().and_then(|library| library.export.as_ref()) {
            Some(export) => export.bind(py).call1((array,)),
            None if object.hasattr("__dlpack__")? => asked(array, library.as_deref()),
            None => return Ok(None),
        };
        let taken = capsule.and_then(|capsule| Taken::of(&capsule));
        let taken = taken.map_err(|error| not_exported(array, error, place))?;
        let elements = Elements::of(py, taken.tensor(), place)?;
        let is_copy = resolved.is_some() || taken.has(IS_COPIED);
        let is_constant = taken.has(READ_ONLY) || library.as_ref().is_some_and(|library| library.is_constant);
        Ok(Some(Imported { elements, library, is_copy, is_constant, _taken: taken }))
    }

    /// The elements, writable if that is allowed.
    pub fn argument(&self) -> Argument<'_> {
        if self.is_constant() {
            return self.view().into();
        }
        // SAFETY: the exporter keeps the memory until its deleter is called.
        unsafe { self.elements.argument() }
    }

    /// Whether it must not be written to.
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// Whether it is a copy of the input, so that writes to it would be lost.
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Its place, if in the memory of a GPU.
    pub fn on_gpu(&self) -> Option<OnGpu> {
        self.elements.on_gpu()
    }

    /// Its library, if known.
    pub fn library(&self) -> Option<&Arc<Library>> {
        self.library.as_ref()
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: as for `argument`.
        unsafe { self.elements.view() }
    }

    /// The place of the elements.
    pub(super) fn elements(&self) -> &Elements {
        &self.elements
    }
}

/// Why a library does not export its array, for example because it is sparse or on another device. An interrupt is passed
/// on.
fn not_exported(array: &Bound<'_, PyAny>, error: PyErr, place: Place<'_>) -> PyErr {
    let py = array.py();
    match error.is_instance_of::<PyException>(py) {
        true if is_deleted(array) => errors::input(py, format!("{place}: the array has been deleted")),
        true => errors::input(py, format!("{place}: {}", error.value(py))),
        false => error,
    }
}

/// Whether it is an array of JAX whose memory was given to another, or freed.
fn is_deleted(array: &Bound<'_, PyAny>) -> bool {
    array.call_method0("is_deleted").and_then(|deleted| deleted.is_truthy()).unwrap_or(false)
}

/// A capsule that shares an output's memory.
///
/// # Errors
/// When Python has no memory.
pub fn export<'py>(py: Python<'py>, exported: &Arc<Exported>) -> PyResult<Bound<'py, PyAny>> {
    let tensor = Tensor::of(exported);
    let context = Arc::into_raw(Arc::clone(exported)).cast_mut().cast();
    let managed = Box::into_raw(Box::new(Managed { tensor, context, deleter: Some(delete) }));
    // SAFETY: a new structure under a static name; if no capsule is made of it, it is deleted here.
    unsafe {
        let capsule = ffi::PyCapsule_New(managed.cast(), FRESH.as_ptr(), Some(drop_untaken));
        if capsule.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}

/// Frees a structure that [`export`] made.
///
/// # Safety
/// `managed` is from [`export`] and is not used again.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: both were leaked by `export`, and are taken back once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Arc::from_raw(managed.context.cast::<Exported>().cast_const()));
    }
}

/// Frees the contents of a capsule that nobody took.
///
/// # Safety
/// Called by Python with the capsule that is destroyed.
unsafe extern "C" fn drop_untaken(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule that was taken has another name, and is not touched.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, FRESH.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, FRESH.as_ptr());
            if !managed.is_null() {
                delete(managed.cast());
            }
        }
    }
}
