//! Arrays in and out through a table of C functions, which a class of arrays has as `__dlpack_c_exchange_api__`: the only
//! Python object created is the exported array.
//!
//! An imported array is borrowed: its object is held during the call, and the caller has to make sure that it keeps its
//! elements that long. An output that is a view of it holds a capsule. If the table's functions fail, a capsule is requested
//! too, whose error says why.

use std::ffi::{CStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use ferrofuse::{Argument, ArrayView};
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyType};
use pyo3::{ffi, intern};

use super::Imported;
use super::tensor::{Elements, MAJOR, Tensor, Version, Versioned};
use crate::arrays::Place;
use crate::arrays::library::Library;
use crate::arrays::memory::Exported;
use crate::gpu::OnGpu;

const NAME: &CStr = c"dlpack_exchange_api";

/// The start of a table of any version.
#[repr(C)]
struct TableHead {
    version: Version,
    /// A table of an older version.
    previous: *const Table,
}

/// A table of this version.
#[repr(C)]
struct Table {
    _head: TableHead,
    _allocate: *const c_void,
    _own: *const c_void,
    make: Option<Make>,
    borrow: Option<Borrow>,
    _stream: *const c_void,
}

type Make = unsafe extern "C" fn(*mut Versioned, *mut *mut ffi::PyObject) -> c_int;
type Borrow = unsafe extern "C" fn(*mut ffi::PyObject, *mut Tensor) -> c_int;

/// The functions of a library.
#[derive(Clone, Copy)]
pub struct Exchange {
    make: Make,
    borrow: Borrow,
}

impl Exchange {
    /// The functions of a class, if it has them in a supported version.
    pub fn of(class: &Bound<'_, PyType>) -> Option<Exchange> {
        let capsule = class.getattr(intern!(class.py(), "__dlpack_c_exchange_api__")).ok()?;
        let capsule = capsule.cast_into::<PyCapsule>().ok()?;
        let table = capsule.pointer_checked(Some(NAME)).ok()?;
        let mut table: Option<NonNull<Table>> = Some(table.cast());
        while let Some(known) = table {
            // SAFETY: tables live as long as the process, and in every version begin with version and predecessor.
            let TableHead { version, previous } = unsafe { known.cast::<TableHead>().read() };
            if version.major == MAJOR {
                // SAFETY: a table of this version is as declared here.
                let Table { make, borrow, .. } = unsafe { known.as_ref() };
                return Some(Exchange { make: (*make)?, borrow: (*borrow)? });
            }
            table = NonNull::new(previous.cast_mut());
        }
        None
    }

    /// The layout of an array, if the library can return it.
    ///
    /// # Errors
    /// Interrupts and lack of memory. Other errors also occur with the capsule, whose message is in words.
    fn borrowed(&self, array: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
        let py = array.py();
        let mut tensor = MaybeUninit::uninit();
        // SAFETY: the function is that of the array's class. If it returns 0 it filled in the structure, otherwise it set an
        // error.
        unsafe {
            if (self.borrow)(array.as_ptr(), tensor.as_mut_ptr()) == 0 {
                return Ok(Some(tensor.assume_init()));
            }
        }
        let is_rejection = |error: &PyErr| {
            error.is_instance_of::<PyException>(py) && !error.is_instance_of::<PyMemoryError>(py)
        };
        PyErr::take(py).filter(|error| !is_rejection(error)).map_or(Ok(None), Err)
    }

    /// An array around memory of ours.
    ///
    /// # Errors
    /// When the library has no such dtype.
    pub fn array<'py>(&self, py: Python<'py>, exported: &Arc<Exported>) -> PyResult<Bound<'py, PyAny>> {
        let tensor = Tensor::of(exported);
        let context = Arc::into_raw(Arc::clone(exported)).cast_mut().cast();
        let version = Version { major: MAJOR, minor: 0 };
        let managed = Versioned { version, context, deleter: Some(delete), flags: 0, tensor };
        let mut array = ptr::null_mut();
        // SAFETY: a new structure, which the function owns from here on, whatever it returns; 0 means that it made an array,
        // otherwise it set an error.
        unsafe {
            match (self.make)(Box::into_raw(Box::new(managed)), &mut array) {
                0 => Bound::from_owned_ptr_or_err(py, array),
                _ => Err(PyErr::fetch(py)),
            }
        }
    }
}

/// Frees a structure that [`Exchange::array`] made.
///
/// # Safety
/// `managed` is from there and is not used again.
unsafe extern "C" fn delete(managed: *mut Versioned) {
    // SAFETY: both were leaked there, and are taken back once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Arc::from_raw(managed.context.cast::<Exported>().cast_const()));
    }
}

/// An array of another library, read in place.
pub struct Borrowed<'py> {
    array: Bound<'py, PyAny>,
    elements: Elements,
    library: Arc<Library>,
    /// Whether it is a copy of the input.
    is_copy: bool,
}

impl<'py> Borrowed<'py> {
    /// The array; `None` if the library's functions do not return it.
    ///
    /// # Errors
    /// The library's error about lazy conjugations; dtypes and devices that are not supported; interrupts.
    pub fn new(
        object: &Bound<'py, PyAny>,
        library: &Arc<Library>,
        place: Place<'_>,
    ) -> PyResult<Option<Borrowed<'py>>> {
        let borrowed = library.exchange.map(|exchange| exchange.borrowed(object)).transpose()?.flatten();
        let Some(tensor) = borrowed else { return Ok(None) };
        let elements = Elements::of(object.py(), &tensor, place)?;
        match library.resolved(object, elements.dtype().is_complex())? {
            Some(resolved) => {
                let copy = Borrowed::new(&resolved, library, place)?;
                Ok(copy.map(|copy| Borrowed { is_copy: true, ..copy }))
            }
            None => {
                let (array, library) = (object.clone(), Arc::clone(library));
                Ok(Some(Borrowed { array, elements, library, is_copy: false }))
            }
        }
    }

    /// The elements, writable unless their library's arrays are immutable.
    pub fn argument(&self) -> Argument<'_> {
        if self.library.is_constant {
            return self.view().into();
        }
        // SAFETY: the object is held, and with it the memory, unless another thread gives the object other memory during the
        // call. The documentation of `execute` forbids that; it cannot be prevented here.
        unsafe { self.elements.argument() }
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: as for `argument`.
        unsafe { self.elements.view() }
    }

    /// Whether it is a copy of the input, so that writes to it would be lost.
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// Its place, if in the memory of a GPU.
    pub fn on_gpu(&self) -> Option<OnGpu> {
        self.elements.on_gpu()
    }

    /// The object that keeps the elements alive.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.array
    }

    /// Its library.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// The array in a form that stays valid when its object is dropped or gets other elements.
    ///
    /// # Errors
    /// Errors of the library, and an error if its elements were replaced meanwhile.
    pub fn kept(&self, place: Place<'_>) -> PyResult<Imported> {
        let kept = Imported::new(&self.array, place)?.filter(|kept| kept.elements().are(&self.elements));
        kept.ok_or_else(|| place.replaced())
    }
}
