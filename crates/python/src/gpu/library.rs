//! What is asked of a library that has streams: the one that it is on, memory of its own, and its random numbers. The answers are
//! written in Python (`ferrofuse/gpu_libraries.py`).

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

    /// The stream that it is on by now.
    ///
    /// # Errors
    /// What the library says.
    pub fn current(&self, py: Python<'_>, device: &OpenDevice) -> PyResult<Arc<Stream>> {
        let number =
            self.functions.bind(py).call_method1(intern!(py, "stream"), (device.ordinal,))?.extract()?;
        // SAFETY: the library keeps its streams.
        unsafe { device.stream_of(number) }
    }

    /// An array with unspecified elements in memory of the library's, and where it is.
    ///
    /// # Errors
    /// What the library says.
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

    /// Where its random numbers begin, which go on by these draws.
    ///
    /// # Errors
    /// What the library says.
    pub fn draw(&self, py: Python<'_>, draws: u32, ordinal: usize) -> PyResult<ferrofuse::Stream> {
        let taken = self.functions.bind(py).call_method1(intern!(py, "draw"), (draws, ordinal))?;
        let (seed, offset) = taken.extract()?;
        Ok(ferrofuse::Stream { seed, offset })
    }
}
