//! Our class of arrays in a GPU's memory: the outputs of calls without a library that has its own arrays.

use std::sync::Arc;

use cuda::{Event, Stream};
use ferrofuse::{Array, DeviceName, GpuTensor};
use ir::array::{Layout, StridedArray};
use pyo3::exceptions::{PyAttributeError, PyBufferError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{self, Device, Exported, Given, OutputMemory, Owner, Place, export, repeats};
use crate::data_type::DataType;
use crate::errors;
use crate::gpu::device::{self, failed};
use crate::gpu::{OnGpu, OpenDevice};

/// DLPack's numbers for the default stream, the per-thread stream, and a consumer that waits by itself.
const LEGACY: i64 = 1;
const NO_WAIT: i64 = -1;

/// An array in the memory of a GPU. Libraries take it by DLPack or by `__cuda_array_interface__`, and `numpy()` copies it to the
/// host.
#[pyclass(frozen, module = "ferrofuse")]
pub struct GpuArray {
    exported: Arc<Exported>,
    /// The stream whose work computes its elements.
    stream: Arc<Stream>,
    device: Arc<OpenDevice>,
}

impl GpuArray {
    /// Takes ownership of a tensor, whose elements work of a stream computes.
    pub fn new(tensor: GpuTensor, device: &Arc<OpenDevice>) -> GpuArray {
        let layout = Layout { offset: 0, sizes: tensor.sizes().into(), strides: tensor.strides().into() };
        let (address, dtype) = (tensor.address(), tensor.dtype());
        let (stream, at) =
            (Arc::clone(tensor.stream()), OnGpu { ordinal: device.ordinal, address, dtype, layout });
        GpuArray::around(at, true, Owner::Gpu { _tensor: tensor }, stream, device)
    }

    /// An array at a place that an owner keeps alive.
    pub fn around(
        at: OnGpu,
        writable: bool,
        owner: Owner,
        stream: Arc<Stream>,
        device: &Arc<OpenDevice>,
    ) -> GpuArray {
        let OnGpu { ordinal, address, dtype, layout } = at;
        let writable = writable && !repeats(&layout);
        let (data, gpu) = (address as *mut u8, Some(ordinal));
        let exported = Exported { data, dtype, layout, writable, gpu, owner };
        GpuArray { exported: Arc::new(exported), stream, device: Arc::clone(device) }
    }

    /// Its place.
    pub fn place(&self) -> OnGpu {
        let Exported { data, dtype, layout, .. } = &*self.exported;
        OnGpu { ordinal: self.device.ordinal, address: *data as u64, dtype: *dtype, layout: layout.clone() }
    }

    /// Whether its users may write to it.
    pub fn is_writable(&self) -> bool {
        self.exported.writable
    }

    /// The stream that computes its elements and that its memory is freed in.
    pub fn stream(&self) -> &Arc<Stream> {
        &self.stream
    }

    /// Its memory, for libraries that take it.
    pub fn memory(&self) -> &Arc<Exported> {
        &self.exported
    }

    /// The elements on the host, after all earlier work.
    ///
    /// # Errors
    /// Errors of the driver, and lack of memory.
    pub fn downloaded(&self) -> PyResult<Array> {
        let Exported { dtype, layout, .. } = &*self.exported;
        let memory = |error: ferrofuse::ArrayError| PyMemoryError::new_err(error.to_string());
        let (first, elements) = match layout.span() {
            Some((first, last)) => (first as i64, (last - first + 1) as usize),
            None => (0, 0),
        };
        let mut array = Array::zeros(*dtype, &[elements]).map_err(memory)?;
        let from = self.place().address.wrapping_add_signed(first * dtype.size() as i64);
        // SAFETY: the array's owner keeps its elements alive, and these are the first to the last element that an index
        // reaches.
        unsafe { self.stream.download(array.as_mut_bytes(), from) }.map_err(failed)?;
        let layout = Layout { offset: -first as isize, ..layout.clone() };
        StridedArray::new(array, layout).map_err(memory)?.view().to_array().map_err(memory)
    }

    /// Reports an index out of range that calls finished so far have found.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.device.gpu.check().map_err(|error| errors::failed(py, &error))
    }

    /// Makes a consumer's stream, by its number in DLPack, wait for the elements.
    fn await_by(&self, consumer: i64) -> PyResult<()> {
        if consumer == NO_WAIT {
            return Ok(());
        }
        let number = usize::try_from(consumer).ok().filter(|&number| number != 0).ok_or_else(|| {
            PyBufferError::new_err(format!("stream {consumer} is none that DLPack has for CUDA"))
        })?;
        // SAFETY: the protocol guarantees that the consumer's stream lives.
        let consumer = unsafe { self.device.stream_of(number) }?;
        let event = Event::record(&self.stream).map_err(failed)?;
        consumer.wait_for(&event).map_err(failed)
    }
}

#[pymethods]
impl GpuArray {
    /// Sizes of the axes.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.exported.layout.sizes)
    }

    /// Strides of the axes, in elements.
    fn stride<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.exported.layout.strides)
    }

    /// Element type.
    #[getter]
    fn dtype(&self) -> DataType {
        DataType::new(Some(self.exported.dtype))
    }

    /// How many axes it has.
    #[getter]
    fn ndim(&self) -> usize {
        self.exported.layout.rank()
    }

    /// The GPU, as in "cuda:0".
    #[getter]
    fn device(&self) -> String {
        format!("cuda:{}", self.device.ordinal)
    }

    /// A copy on the host, as NumPy's array. Waits for the work that computes the elements; raises an index out of range
    /// that it found.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = py.detach(|| self.downloaded())?;
        self.check(py)?;
        arrays::numpy::array(&Bound::new(py, OutputMemory::copy(array))?)
    }

    /// That of its only element; of several, NumPy's error.
    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.numpy(py)?.is_truthy()
    }

    /// `numpy()`, for NumPy's functions.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            let message = format!("an array on {} is copied to be one of the host's", self.device());
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        let array = self.numpy(py)?;
        dtype.map_or(Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }

    /// Waits for the work that computes the elements; raises an index out of range that it found.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stream.synchronize()).map_err(failed)?;
        self.check(py)
    }

    /// A capsule that shares the memory. Work of the consumer's stream waits for the elements; None is the default stream.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = max_version; // the first version is one that every consumer takes
        if dl_device.is_some_and(|asked| asked != self.__dlpack_device__()) || copy == Some(true) {
            let message = format!("the array stays on {}: numpy() gives a copy on the host", self.device());
            return Err(PyBufferError::new_err(message));
        }
        self.await_by(stream.unwrap_or(LEGACY))?;
        export(py, &self.exported)
    }

    /// The GPU, as DLPack numbers it.
    fn __dlpack_device__(&self) -> (i32, i32) {
        Device::new(Some(self.device.ordinal)).pair()
    }

    /// The description that CuPy, Numba and others read; arrays of bfloat16 and eight-bit floats have none.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let OnGpu { address, dtype, layout, .. } = self.place();
        let typestr = dtype.typestr().ok_or_else(|| {
            PyAttributeError::new_err(format!("__cuda_array_interface__ has no type for {dtype}"))
        })?;
        let strides = layout.strides.iter().map(|stride| stride * dtype.size() as isize);
        let dict = PyDict::new(py);
        dict.set_item("version", 3)?;
        dict.set_item("shape", self.shape(py)?)?;
        dict.set_item("typestr", typestr)?;
        dict.set_item("data", (address, !self.is_writable()))?;
        dict.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
        dict.set_item("stream", self.stream.number())?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let Exported { dtype, layout, .. } = &*self.exported;
        let (sizes, name) = (layout.sizes.as_slice(), dtype.numpy_name());
        format!("GpuArray(shape={sizes:?}, dtype={name}, device='{}')", self.device())
    }
}

/// A copy on a GPU of an array of the host; for an array that is on a GPU an array of this class in the same memory, which
/// is not moved to another GPU.
#[pyfunction]
#[pyo3(signature = (array, device = None))]
pub fn to_gpu(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<GpuArray> {
    let asked = match device.map(device::named).transpose()? {
        None => None,
        Some(DeviceName::Other(_, number)) => number,
        Some(DeviceName::Cpu) => {
            return Err(PyTypeError::new_err("device: expected \"cuda\" or \"cuda:N\", got \"cpu\""));
        }
    };
    let given = Given::new(array, Place::Argument)?;
    if let Some(input) = given.on_gpu() {
        let own = input.at.ordinal;
        if let Some(other) = asked.filter(|asked| *asked != own) {
            let message =
                format!("the array lies on cuda:{own}, and is not brought from there to cuda:{other}");
            return Err(errors::input(py, message));
        }
        let device = OpenDevice::of(py, own)?;
        input.await_on(py, &device.stream, &device)?;
        let stream = Arc::clone(&device.stream);
        return Ok(GpuArray::around(input.at.clone(), input.writable, input.owner(), stream, &device));
    }
    let ordinal = asked.unwrap_or(0);
    let view = given.view(Place::Argument)?;
    let device = OpenDevice::of(py, ordinal)?;
    let tensor = GpuTensor::of_host(&device.stream, &view).map_err(|error| errors::failed(py, &error))?;
    Ok(GpuArray::new(tensor, &device))
}
