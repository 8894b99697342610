//! DLPack: arrays of other libraries in, memory of ours out, as capsules of the protocol's first version.
//!
//! The layouts of the structures and the rules of ownership are those of `dlpack.h` (github.com/dmlc/dlpack): whoever
//! takes a capsule renames it and calls the deleter once; a capsule that nobody took calls it itself.

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use ferrofuse::{Argument, ArrayView, DType};
use ir::array::{Dims, Layout, Strides};
use pyo3::exceptions::{PyBufferError, PyException};
use pyo3::ffi;
use pyo3::prelude::*;

use super::library::{self, Library};
use super::memory::Exported;
use crate::errors;

/// The number of the CPU among devices.
pub const CPU: i32 = 1;

/// Host memory that a GPU can reach: the CPU reads it like its own.
const HOST_KINDS: [i32; 3] = [CPU, 3, 11];

const FRESH: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    number: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
struct Element {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    rank: i32,
    element: Element,
    sizes: *mut i64,
    /// In elements; null where the tensor is row-major without gaps.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of another library, given back to it when dropped.
pub struct Imported {
    managed: NonNull<Managed>,
    dtype: DType,
    layout: Layout,
    library: Option<Arc<Library>>,
}

// SAFETY: deleters may be called from any thread that holds the interpreter; the memory is only read.
unsafe impl Send for Imported {}
// SAFETY: as above.
unsafe impl Sync for Imported {}

impl Drop for Imported {
    fn drop(&mut self) {
        // Outputs that share the memory may die where the interpreter is not held; without one nothing is given back.
        Python::try_attach(|_| {
            // SAFETY: the capsule was taken, so the deleter is ours to call, and this is the one call.
            unsafe {
                if let Some(deleter) = self.managed.as_ref().deleter {
                    deleter(self.managed.as_ptr());
                }
            }
        });
    }
}

impl Imported {
    /// The array, if the object exports one.
    ///
    /// # Errors
    /// What the exporter says; dtypes and devices that are not supported.
    pub fn new(object: &Bound<'_, PyAny>, place: usize) -> PyResult<Option<Imported>> {
        let library = library::of(object)?;
        let capsule = match &library {
            Some(library) => library.export(object),
            None if object.hasattr("__dlpack__")? => object.call_method0("__dlpack__"),
            None => return Ok(None),
        };
        let capsule = capsule.map_err(|error| not_exported(object.py(), error, place))?;
        let managed = take(&capsule)?;
        // From here on the guard gives the array back on every way out.
        let mut array = Imported { managed, dtype: DType::Bool, layout: Layout::dense(&[0]), library };
        // SAFETY: the exporter filled in the structure, which lives until its deleter is called.
        let tensor = unsafe { &array.managed.as_ref().tensor };
        if !HOST_KINDS.contains(&tensor.device.kind) {
            let message = format!("input {place}: the array lies on a device that is not the CPU");
            return Err(errors::input(object.py(), message));
        }
        let Some(dtype) = dtype_of(tensor.element) else {
            let Element { code, bits, .. } = tensor.element;
            let message = format!(
                "input {place}: elements of {bits} bits and DLPack's type code {code} are not supported"
            );
            return Err(errors::argument(object.py(), message));
        };
        let layout = layout_of(tensor)
            .ok_or_else(|| PyBufferError::new_err("a DLPack tensor with a negative size"))?;
        (array.dtype, array.layout) = (dtype, layout);
        Ok(Some(array))
    }

    /// The elements, for writing too unless their library has arrays that never change.
    pub fn argument(&self) -> Argument<'_> {
        if self.library().is_some_and(|library| library.is_constant) {
            return self.view().into();
        }
        // SAFETY: as for `view`; DLPack's first version shares memory for reading and writing, and arguments of one call
        // may overlap.
        unsafe { Argument::from_raw_parts(self.data(), self.dtype, self.layout.clone()) }
    }

    /// Whether its library has arrays that never change.
    pub fn is_constant(&self) -> bool {
        self.library().is_some_and(|library| library.is_constant)
    }

    /// The library that it is of, if that is known.
    pub fn library(&self) -> Option<&Arc<Library>> {
        self.library.as_ref()
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: the exporter filled in the structure, which lives until its deleter is called.
        let tensor = unsafe { &self.managed.as_ref().tensor };
        tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize)
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the exporter keeps the memory until its deleter is called, and vouches for sizes and strides.
        unsafe { ArrayView::from_raw_parts(self.data(), self.dtype, self.layout.clone()) }
    }
}

/// Why a library does not give its array, such as one that is sparse or on another device. An interrupt stays one.
fn not_exported(py: Python<'_>, error: PyErr, place: usize) -> PyErr {
    match error.is_instance_of::<PyException>(py) {
        true => errors::input(py, format!("input {place}: {}", error.value(py))),
        false => error,
    }
}

/// The structure of a capsule, which is marked as taken.
fn take(capsule: &Bound<'_, PyAny>) -> PyResult<NonNull<Managed>> {
    let py = capsule.py();
    // SAFETY: the calls accept any object and check it; the name outlives the capsule, being static.
    unsafe {
        let pointer = ffi::PyCapsule_GetPointer(capsule.as_ptr(), FRESH.as_ptr());
        let managed = NonNull::new(pointer.cast::<Managed>()).ok_or_else(|| PyErr::fetch(py))?;
        match ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) {
            0 => Ok(managed),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

fn layout_of(tensor: &Tensor) -> Option<Layout> {
    let rank = usize::try_from(tensor.rank).ok()?;
    let slice = |pointer: *mut i64| match rank {
        0 => &[][..],
        // SAFETY: sizes and strides have as many entries as the tensor has axes.
        _ => unsafe { std::slice::from_raw_parts(pointer, rank) },
    };
    let sizes: Option<Dims> = slice(tensor.sizes).iter().map(|&size| usize::try_from(size).ok()).collect();
    let sizes = sizes?;
    if tensor.strides.is_null() {
        return Some(Layout::dense(&sizes));
    }
    let strides: Strides = slice(tensor.strides).iter().map(|&stride| stride as isize).collect();
    Some(Layout { offset: 0, sizes, strides })
}

/// Type codes: 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool, and one for each float of eight bits.
fn element_of(dtype: DType) -> Element {
    let code = match dtype.short_name() {
        "bool" => 6,
        "i32" | "i64" => 0,
        "u64" => 1,
        "bf16" => 4,
        "c64" | "c128" => 5,
        "f8e4m3" => 10,
        "f8e5m2" => 12,
        "f8e8m0" => 14,
        _ => 2,
    };
    Element { code, bits: dtype.size() as u8 * 8, lanes: 1 }
}

fn dtype_of(element: Element) -> Option<DType> {
    DType::ALL.into_iter().find(|&dtype| element_of(dtype) == element)
}

/// What an exported tensor keeps alive.
struct Context {
    /// Keeps the memory.
    _exported: Arc<Exported>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

/// A capsule that shares an output's memory.
///
/// # Errors
/// When Python has no memory.
pub fn export<'py>(py: Python<'py>, exported: &Arc<Exported>) -> PyResult<Bound<'py, PyAny>> {
    let layout = &exported.layout;
    let mut context = Box::new(Context {
        _exported: Arc::clone(exported),
        sizes: layout.sizes.iter().map(|&size| size as i64).collect(),
        strides: layout.strides.iter().map(|&stride| stride as i64).collect(),
    });
    let tensor = Tensor {
        data: exported.data.cast(),
        device: Device { kind: CPU, number: 0 },
        rank: layout.rank() as i32,
        element: element_of(exported.dtype),
        sizes: context.sizes.as_mut_ptr(),
        strides: context.strides.as_mut_ptr(),
        byte_offset: 0,
    };
    let context = Box::into_raw(context).cast();
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
    // SAFETY: both boxes were leaked by `export`, and come back once.
    unsafe {
        let managed = Box::from_raw(managed);
        drop(Box::from_raw(managed.context.cast::<Context>()));
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
