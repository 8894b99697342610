//! Memory of an output, owned by Python from now on: what arrays made of it keep alive.

use std::sync::Arc;

use ferrofuse::{DType, Tensor};
use ir::array::Layout;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::dlpack;

/// An output's memory. Arrays are made of it by `from_dlpack` of any library.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct Memory {
    exported: Arc<Exported>,
}

/// A tensor and how to reach its elements for writing.
pub struct Exported {
    /// The element at index zero.
    pub data: *mut u8,
    /// Element type.
    pub dtype: DType,
    /// Sizes and strides, in elements.
    pub layout: Layout,
    /// What owns the elements; nobody looks into it any more.
    _tensor: Tensor,
}

// SAFETY: the pointer leads into the tensor, which may go to other threads; nothing here reads or writes through it.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

impl Memory {
    /// Takes a tensor over.
    pub fn new(mut tensor: Tensor) -> Memory {
        let (dtype, layout) = (tensor.dtype(), tensor.view().layout().clone());
        Memory { exported: Arc::new(Exported { data: tensor.as_mut_ptr(), dtype, layout, _tensor: tensor }) }
    }

    /// What it holds.
    pub fn exported(&self) -> &Arc<Exported> {
        &self.exported
    }
}

#[pymethods]
impl Memory {
    /// The memory as a DLPack capsule. It is new memory, so that whatever is asked for beside it holds.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::export(py, &self.exported)
    }

    /// The CPU.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CPU, 0)
    }
}
