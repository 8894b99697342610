//! The memory of an output, its own or an input's, which arrays made from it keep alive.

use std::sync::Arc;

use ferrofuse::{Array, ArrayView, Buffer, DType, GpuTensor, Tensor};
use ir::array::Layout;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::dlpack;

/// An output's memory. `from_dlpack` of any library makes arrays from it.
#[pyclass(frozen, module = "ferrofuse._native")]
pub struct OutputMemory {
    exported: Arc<Exported>,
}

/// Elements and their layout.
pub struct Exported {
    /// The element at index zero.
    pub data: *mut u8,
    pub dtype: DType,
    /// Sizes and strides, in elements.
    pub layout: Layout,
    /// Whether users of an array may write: false if it is read-only or if several indices share an element.
    pub writable: bool,
    /// The number of the GPU whose memory they are in; `None` for host memory.
    pub gpu: Option<usize>,
    /// The owner of the elements.
    pub owner: Owner,
}

/// An owner that keeps elements alive; never read.
pub enum Owner {
    /// Our memory.
    Buffer { _buffer: Buffer },
    /// Our memory, a copy.
    Copy { _array: Array },
    /// An input that is NumPy's array.
    Numpy(Py<PyAny>),
    /// An input that is another library's array.
    Imported { _imported: Arc<dlpack::Imported> },
    /// Memory of a GPU.
    Gpu { _tensor: GpuTensor },
    /// An input on a GPU, by its object.
    Object { _object: Py<PyAny> },
}

// SAFETY: the pointer is into memory that the owner keeps alive, which may move to other threads; nothing here reads or
// writes through it.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

impl OutputMemory {
    /// Takes ownership of a tensor.
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

    /// Takes ownership of an array.
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

    /// A view of memory that an input keeps alive.
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

    /// Takes ownership of memory of a GPU.
    pub fn of(exported: Exported) -> OutputMemory {
        OutputMemory { exported: Arc::new(exported) }
    }

    /// The elements and their layout.
    pub fn exported(&self) -> &Arc<Exported> {
        &self.exported
    }
}

#[pymethods]
impl OutputMemory {
    /// The memory as a DLPack capsule; only requested if its flags are right for the consumer.
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

/// Whether an axis repeats elements, of which an empty array has none.
pub fn repeats(layout: &Layout) -> bool {
    let repeats = |(&size, &stride): (&usize, &isize)| size > 1 && stride == 0;
    !layout.sizes.contains(&0) && layout.sizes.iter().zip(&layout.strides).any(repeats)
}
