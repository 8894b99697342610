//! NumPy's arrays, through its C API: read in place, and made around our memory.

use std::ffi::c_int;
use std::ptr;

use ::numpy::npyffi::{
    _PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object, npy_intp,
};
use ::numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use ferrofuse::{Argument, ArrayView, DType};
use ir::array::{Dims, Layout, Strides};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use smallvec::SmallVec;

use super::memory::Owner;
use super::{OutputMemory, Place, semantics};
use crate::errors;

/// An array of NumPy, read in place.
pub struct ViewedArray<'py> {
    array: Bound<'py, PyUntypedArray>,
    dtype: DType,
    layout: Layout,
    /// Whether it is a copy of the input.
    is_copy: bool,
}

impl<'py> ViewedArray<'py> {
    /// The array, if the object is one.
    ///
    /// # Errors
    /// For dtypes that are not supported.
    pub fn new(object: &Bound<'py, PyAny>, place: Place<'_>) -> PyResult<Option<ViewedArray<'py>>> {
        let Ok(array) = object.cast::<PyUntypedArray>() else { return Ok(None) };
        if let Some(reason) = rejected(object)? {
            return Err(errors::argument(object.py(), format!("{place}: {reason}")));
        }
        let descr = array.dtype();
        let Some(dtype) = dtype_of(&descr) else {
            let message = format!("{place}: arrays of dtype {descr} are not supported");
            return Err(errors::argument(object.py(), message));
        };
        let size = dtype.size() as isize;
        if array.strides().iter().any(|stride| stride % size != 0) {
            // Fields of records may have strides that are no multiples of the element size.
            let copy = ViewedArray::new(&array.call_method0("copy")?, place)?;
            return Ok(copy.map(|copy| ViewedArray { is_copy: true, ..copy }));
        }
        let sizes: Dims = array.shape().iter().copied().collect();
        let strides: Strides = array.strides().iter().map(|stride| stride / size).collect();
        let layout = Layout { offset: 0, sizes, strides };
        Ok(Some(ViewedArray { array: array.clone(), dtype, layout, is_copy: false }))
    }

    /// The elements, for writing too if NumPy allows it.
    pub fn argument(&self) -> Argument<'_> {
        if !self.is_writable() {
            return self.view().into();
        }
        // SAFETY: the array is alive and writable; arguments of one call may overlap. For other threads see `view`.
        unsafe {
            let data = (*_PyArray_GET_ITEM_DATA(self.array.as_array_ptr())).data;
            Argument::from_raw_parts(data.cast(), self.dtype, self.layout.clone())
        }
    }

    /// Whether NumPy lets its users write to it.
    pub fn is_writable(&self) -> bool {
        // SAFETY: the array is alive.
        let flags = unsafe { (*_PyArray_GET_ITEM_DATA(self.array.as_array_ptr())).flags };
        flags & NPY_ARRAY_WRITEABLE != 0
    }

    /// Whether it is a copy of the input, so that writes to it would be lost.
    pub fn is_copy(&self) -> bool {
        self.is_copy
    }

    /// The array itself.
    pub fn object(&self) -> Py<PyAny> {
        self.array.clone().into_any().unbind()
    }

    /// The elements.
    pub fn view(&self) -> ArrayView<'_> {
        // SAFETY: the array is alive, and NumPy keeps shape, strides and memory of an array consistent. A write during
        // others' reads is the caller's own race, as with every function of NumPy.
        unsafe {
            let data = (*_PyArray_GET_ITEM_DATA(self.array.as_array_ptr())).data;
            ArrayView::from_raw_parts(data.cast(), self.dtype, self.layout.clone())
        }
    }
}

/// Why an array of a subclass of NumPy's is rejected.
///
/// # Errors
/// When reading the class's attributes fails.
pub fn rejected(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    match object.is_instance_of::<PyUntypedArray>() && !object.is_exact_instance_of::<PyUntypedArray>() {
        true => semantics::of_numpy(&object.get_type()),
        false => Ok(None),
    }
}

/// NumPy's number types by kind and size; other packages' by name.
fn dtype_of(descr: &Bound<'_, PyArrayDescr>) -> Option<DType> {
    if descr.is_native_byteorder() == Some(false) {
        return None;
    }
    match (descr.kind(), descr.itemsize()) {
        (b'f', 4) => Some(DType::F32),
        (b'f', 8) => Some(DType::F64),
        (b'f', 2) if descr.num() < 256 => Some(DType::F16),
        (b'i', 1) => Some(DType::I8),
        (b'i', 2) => Some(DType::I16),
        (b'i', 4) => Some(DType::I32),
        (b'i', 8) => Some(DType::I64),
        (b'b', 1) => Some(DType::Bool),
        (b'u', 1) => Some(DType::U8),
        (b'u', 2) => Some(DType::U16),
        (b'u', 4) => Some(DType::U32),
        (b'u', 8) => Some(DType::U64),
        (b'c', 8) => Some(DType::C64),
        (b'c', 16) => Some(DType::C128),
        _ => DType::ALL.into_iter().find(|dtype| descr.to_string() == dtype.numpy_name()),
    }
}

/// An array around an output's memory.
///
/// # Errors
/// When NumPy has no such dtype and `ml_dtypes`, which adds them, is missing.
pub fn array<'py>(memory: &Bound<'py, OutputMemory>) -> PyResult<Bound<'py, PyAny>> {
    let py = memory.py();
    let exported = memory.get().exported();
    let size = exported.dtype.size() as npy_intp;
    let descr = descr_of(py, exported.dtype)?;
    let (sizes, strides) = (&exported.layout.sizes, &exported.layout.strides);
    let mut sizes: SmallVec<[npy_intp; 4]> = sizes.iter().map(|&size| size as npy_intp).collect();
    let mut strides: SmallVec<[npy_intp; 4]> = strides.iter().map(|&stride| stride * size).collect();
    // SAFETY: sizes and strides have one entry per axis and describe the memory, which the new array keeps alive as its
    // base; both calls consume the references passed to them, even if they fail.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            descr.into_dtype_ptr(),
            sizes.len() as c_int,
            sizes.as_mut_ptr(),
            strides.as_mut_ptr(),
            exported.data.cast(),
            if exported.writable { NPY_ARRAY_WRITEABLE } else { 0 },
            ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, made)?;
        let base = match &exported.owner {
            Owner::Numpy(input) => input.clone_ref(py).into_ptr(),
            _ => memory.clone().into_ptr(),
        };
        match PY_ARRAY_API.PyArray_SetBaseObject(py, made.cast(), base) {
            0 => Ok(array),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

fn descr_of(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    match dtype {
        DType::Bool => Ok(::numpy::dtype::<bool>(py)),
        DType::I32 => Ok(::numpy::dtype::<i32>(py)),
        DType::I64 => Ok(::numpy::dtype::<i64>(py)),
        DType::F32 => Ok(::numpy::dtype::<f32>(py)),
        DType::F64 => Ok(::numpy::dtype::<f64>(py)),
        other => named(py, other),
    }
}

/// A dtype by its name in NumPy, or else in `ml_dtypes`.
fn named(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyArrayDescr>> {
    let name = dtype.numpy_name();
    if let Ok(descr) = PyArrayDescr::new(py, name) {
        return Ok(descr);
    }
    let package = py.import("ml_dtypes").map_err(|_| {
        let message = format!(
            "an output is {name}, which NumPy has with the package ml_dtypes only (pip install ml_dtypes)"
        );
        PyImportError::new_err(message)
    })?;
    PyArrayDescr::new(py, package.getattr(name)?)
}
