//! Calls on a GPU that are captured once and replayed, with the arrays they were captured with.

use std::sync::{Arc, Mutex, PoisonError};

use cuda::Stream;
use ferrofuse::{CallOptions, Executable, OutputForm};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::arrays::{KindOnGpu, Library, OutputsOnGpu};
use crate::call::Destinations;
use crate::call_on_gpu::{CallOnGpu, Order, placed};
use crate::gpu::OpenDevice;
use crate::{errors, signals};

/// A captured call on arrays of a GPU: one launch for all its kernels. It reads and writes the same arrays at each replay;
/// numbers are those of the capture.
#[pyclass(frozen, module = "ferrofuse", name = "GpuGraph")]
pub struct CapturedCall {
    graph: Mutex<ferrofuse::GpuGraph>,
    device: Arc<OpenDevice>,
    /// The library whose stream it is replayed on; without one that is the device's stream.
    library: Option<Arc<Library>>,
    /// The arrays that the work reads and writes.
    inputs: Py<PyList>,
    outputs: Py<PyList>,
}

#[pymethods]
impl CapturedCall {
    /// Computes the outputs again, from the contents that the inputs have when the GPU runs it: in the order of the current
    /// stream of the inputs' library, else of the device's stream.
    ///
    /// Raises:
    ///     RuntimeError: errors of the driver, also of earlier work.
    fn replay(&self, py: Python<'_>) -> PyResult<()> {
        let stream = self.stream(py)?;
        let mut graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: this object keeps the arrays. Their libraries order other work on them by their current streams.
        unsafe { graph.replay(&stream) }.map_err(|error| errors::failed(py, &error))
    }

    /// The arrays that are read.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.inputs.bind(py).clone()
    }

    /// The arrays that are written at each replay, without those among the inputs.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> Bound<'py, PyList> {
        self.outputs.bind(py).clone()
    }
}

impl CapturedCall {
    fn stream(&self, py: Python<'_>) -> PyResult<Arc<Stream>> {
        match self.library.as_ref().and_then(|library| library.streams.as_ref()) {
            Some(streams) => streams.current(py, &self.device),
            None => Ok(Arc::clone(&self.device.stream)),
        }
    }
}

impl<'py> CallOnGpu<'_, '_, 'py, Executable> {
    /// Captures the call; its outputs are written to a list of arrays if there is one.
    ///
    /// # Errors
    /// Errors in the inputs, and for a call that cannot be replayed.
    pub fn capture(self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<CapturedCall> {
        let CallOnGpu { executable, device, inputs, wanted, .. } = self;
        inputs.require_usable(py, wanted)?;
        let kind = KindOnGpu::of(py, inputs.given(), wanted)?;
        let Order { stream, library, .. } = Order::of(py, &kind, inputs, device)?;
        let destinations = out.map(Destinations::new).transpose()?;
        let written = destinations.as_ref().map(|given| given.on_gpu(py, device.ordinal)).transpose()?;
        let mut outputs = match &destinations {
            None => OutputsOnGpu::new(kind, device),
            Some(destinations) => OutputsOnGpu::written_to(destinations.objects(), device),
        };
        let captured = {
            let given = self.arguments()?;
            let placed = written.as_deref().map(placed);
            let (stream, outputs) = (&stream, &mut outputs);
            signals::interruptible(py, move |interrupt| {
                let options = CallOptions { interrupt, ..CallOptions::default() };
                let place = |forms: &[OutputForm]| placed.map_or_else(|| outputs.made(forms), Ok);
                executable.capture_on_gpu(&options, stream, &given, place)
            })
        };
        if let Some(failure) = outputs.failure() {
            return Err(failure);
        }
        let mut graph = captured.map_err(|(raised, error)| inputs.raised(py, raised, &error))?;
        let made = graph.take_outputs();
        let arrays = match &destinations {
            None => outputs.arrays(py, wanted, made, inputs.given(), inputs.objects(), &stream)?,
            Some(destinations) => {
                destinations.objects().into_iter().map(|array| array.into_bound(py)).collect()
            }
        };
        Ok(CapturedCall {
            graph: Mutex::new(graph),
            device: Arc::clone(device),
            library,
            inputs: PyList::new(py, inputs.objects())?.unbind(),
            outputs: PyList::new(py, arrays)?.unbind(),
        })
    }
}
