//! Memory of an output, of its own or an input's: what arrays made of it keep alive.

use std::sync::Arc;

use ferrofuse::{Array, ArrayView, Buffer, DType, GpuTensor, Tensor};
use ir::array::Layout;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::dlpack;

/// An output's memory. Arrays are made of it by `from_dlpack` of any library.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct OutputMemory {
    exported: Arc<Exported>,
}

/// Elements and how to reach them.
pub struct Exported {
    /// The element at index zero.
    pub data: *mut u8,
    pub dtype: DType,
    /// Sizes and strides, in elements.
    pub layout: Layout,
    /// Whether an array may let its users write: false if it is read only or if indices share an element.
    pub writable: bool,
    /// The number of the GPU whose memory they are in; `None` for host memory.
    pub gpu: Option<usize>,
    /// What keeps the elements.
    pub owner: Owner,
}

/// What keeps elements alive; never read.
pub enum Owner {
    /// Memory of ours.
    Buffer { _buffer: Buffer },
    /// Memory of ours, a copy.
    Copy { _array: Array },
    /// An array of NumPy that came in.
    Numpy(Py<PyAny>),
    /// An array of another library that came in.
    Imported { _imported: Arc<dlpack::Imported> },
    /// Memory of a GPU.
    Gpu { _tensor: GpuTensor },
    /// An array on a GPU that came in, by its object.
    Object { _object: Py<PyAny> },
}

// SAFETY: the pointer leads into what the owner keeps, which may go to other threads; nothing here reads or writes
// through it.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

impl OutputMemory {
    /// Takes a tensor over.
    pub fn new(tensor: Tensor) -> OutputMemory {
        let (mut buffer, dtype, layout) = tensor.into_parts();
        let (data, writable) = (buffer.as_mut_ptr(), !repeats(&layout));
        OutputMemory::of(Exported {
            data,
            dtype,
            layout,
            writable,
            gpu: None,
            owner: Owner::Buffer { _buffer: buffer },
        })
    }

    /// Takes an array over.
    pub fn copy(mut array: Array) -> OutputMemory {
        let (dtype, layout) = (array.dtype(), array.view().layout().clone());
        let data = array.as_mut_bytes().as_mut_ptr();
        OutputMemory::of(Exported {
            data,
            dtype,
            layout,
            writable: true,
            gpu: None,
            owner: Owner::Copy { _array: array },
        })
    }

    /// Sees what an input keeps.
    pub fn viewed(view: &ArrayView<'_>, writable: bool, owner: Owner) -> OutputMemory {
        let layout = Layout { offset: 0, ..view.layout().clone() };
        let writable = writable && !repeats(&layout);
        OutputMemory::of(Exported {
            data: view.as_ptr().cast_mut(),
            dtype: view.dtype(),
            layout,
            writable,
            gpu: None,
            owner,
        })
    }

    /// Takes memory of a GPU over.
    pub fn of(exported: Exported) -> OutputMemory {
        OutputMemory { exported: Arc::new(exported) }
    }

    /// What it holds.
    pub fn exported(&self) -> &Arc<Exported> {
        &self.exported
    }
}

#[pymethods]
impl OutputMemory {
    /// The memory as a DLPack capsule, asked for only where what it says holds for whoever takes it.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        _args: &Bound<'py, PyTuple>,
        _kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::export(py, &self.exported)
    }

    /// Where it is.
    fn __dlpack_device__(&self) -> (i32, i32) {
        dlpack::Device::new(self.exported.gpu).pair()
    }
}

/// Whether an axis repeats elements.
pub fn repeats(layout: &Layout) -> bool {
    layout.sizes.iter().zip(&layout.strides).any(|(&size, &stride)| size > 1 && stride == 0)
}
