//! The requests to a library that has streams: its current stream, its own memory, and its random numbers. Python code
//! answers them (`ferrofuse/gpu_libraries.py`).

use std::sync::Arc;

use cuda::Stream;
use ferrofuse::OutputForm;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::OnGpu;
use super::OpenDevice;

/// A library with streams.
pub struct Streams {
    functions: Py<PyAny>,
}

impl Streams {
    /// torch's or CuPy's, by name.
    ///
    /// # Errors
    /// When the library cannot be imported.
    pub fn of(py: Python<'_>, name: &str) -> PyResult<Streams> {
        let class = py.import("ferrofuse.gpu_libraries")?.getattr("OF")?.get_item(name)?;
        Ok(Streams { functions: class.call0()?.unbind() })
    }

    /// Its current stream.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn current(&self, py: Python<'_>, device: &OpenDevice) -> PyResult<Arc<Stream>> {
        let number =
            self.functions.bind(py).call_method1(intern!(py, "stream"), (device.ordinal,))?.extract()?;
        // SAFETY: the library keeps its streams alive.
        unsafe { device.stream_of(number) }
    }

    /// An array with unspecified elements in the library's memory, and its address.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn empty<'py>(
        &self,
        py: Python<'py>,
        form: &OutputForm,
        ordinal: usize,
    ) -> PyResult<(Bound<'py, PyAny>, OnGpu)> {
        let layout = &form.layout;
        let (sizes, strides) = (PyTuple::new(py, &layout.sizes)?, PyTuple::new(py, &layout.strides)?);
        let given = (sizes, strides, form.dtype.numpy_name(), ordinal);
        let made = self.functions.bind(py).call_method1(intern!(py, "empty"), given)?;
        let (array, address) = made.extract()?;
        Ok((array, OnGpu { ordinal, address, dtype: form.dtype, layout: layout.clone() }))
    }

    /// The start of its random numbers; advances its generator by these draws.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn draw(&self, py: Python<'_>, draws: u32, ordinal: usize) -> PyResult<ferrofuse::Stream> {
        let taken = self.functions.bind(py).call_method1(intern!(py, "draw"), (draws, ordinal))?;
        let (seed, offset) = taken.extract()?;
        Ok(ferrofuse::Stream { seed, offset })
    }
}
