//! The GPUs that the process has opened, and arrays of others that work on these still reads.

use std::any::Any;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use cuda::{Cuda, Event, Stream};
use ferrofuse::{CudaDevice, DeviceName};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::environment;

/// The opened GPUs, in the process of this number: a forked child has none of them.
struct Opened {
    process: u32,
    cuda: Arc<Cuda>,
    devices: Vec<Arc<OpenDevice>>,
}

static OPENED: Mutex<Option<Opened>> = Mutex::new(None);

/// A GPU of the process.
pub struct OpenDevice {
    pub ordinal: usize,
    pub gpu: Arc<CudaDevice>,
    /// The stream of calls on arrays of no library that has streams.
    pub stream: Arc<Stream>,
    held: Mutex<Vec<(Event, Vec<Held>)>>,
    /// The library's stream that was last requested: most calls are on one.
    last_stream: Mutex<Option<Arc<Stream>>>,
}

/// The owner of an input's memory; never read.
pub type Held = Box<dyn Any + Send>;

impl OpenDevice {
    /// The GPU of this number.
    ///
    /// # Errors
    /// `RuntimeError` that names what the machine lacks: driver, NVRTC, the device.
    pub fn of(py: Python<'_>, ordinal: usize) -> PyResult<Arc<OpenDevice>> {
        with_opened(py, |opened| opened.device(ordinal))
    }

    /// Keeps arrays until the current work of a stream is done; a later call drops them.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn hold(&self, stream: &Stream, arrays: Vec<Held>) -> PyResult<()> {
        if arrays.is_empty() {
            return Ok(());
        }
        let event = Event::record(stream).map_err(failed)?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).push((event, arrays));
        Ok(())
    }

    /// Drops arrays that no work reads any more.
    pub fn release(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let is_done = |(event, _): &mut (Event, Vec<Held>)| event.is_done().unwrap_or(true);
        let done: Vec<_> = held.extract_if(.., is_done).collect();
        drop(held);
        drop(done); // libraries may call back
    }

    /// A library's stream, by its number; the device's own stream if it is that one.
    ///
    /// # Safety
    /// It is a stream that lives as long as everything that is made on it.
    ///
    /// # Errors
    /// A stream of another device.
    pub unsafe fn stream_of(&self, number: usize) -> PyResult<Arc<Stream>> {
        if number == self.stream.number() {
            return Ok(Arc::clone(&self.stream));
        }
        let mut last = self.last_stream.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = last.as_ref().filter(|stream| stream.number() == number) {
            return Ok(Arc::clone(stream));
        }
        // SAFETY: as the caller guarantees.
        let stream = unsafe { self.gpu.stream_of_caller(number) }.map(Arc::new).map_err(failed)?;
        *last = Some(Arc::clone(&stream));
        Ok(stream)
    }
}

impl Opened {
    fn device(&mut self, ordinal: usize) -> PyResult<Arc<OpenDevice>> {
        if let Some(device) = self.devices.iter().find(|device| device.ordinal == ordinal) {
            return Ok(Arc::clone(device));
        }
        let gpu = Arc::new(CudaDevice::open(&self.cuda, ordinal).map_err(failed)?);
        let stream = Arc::new(gpu.new_stream().map_err(failed)?);
        let device = Arc::new(OpenDevice {
            ordinal,
            gpu,
            stream,
            held: Mutex::default(),
            last_stream: Mutex::default(),
        });
        self.devices.push(Arc::clone(&device));
        Ok(device)
    }
}

/// Calls a function with the opened GPUs and NVIDIA's libraries in this process.
fn with_opened<R>(py: Python<'_>, work: impl FnOnce(&mut Opened) -> PyResult<R>) -> PyResult<R> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if opened.is_none() {
        let paths = environment::cuda_libraries(folders(py)?);
        let cuda = Arc::new(Cuda::open(&paths).map_err(failed)?);
        *opened = Some(Opened { process: process::id(), cuda, devices: Vec::new() });
    }
    let opened = opened.as_mut().expect("it was just opened");
    if opened.process != process::id() {
        let message = "GPUs do not go on in a process that was forked after they were used: start it anew, as \
                       multiprocessing does by the method \"spawn\"";
        return Err(PyRuntimeError::new_err(message));
    }
    work(opened)
}

/// The number of the GPU in whose memory an address is.
///
/// # Errors
/// As [`OpenDevice::of`], and for an address that the driver does not know.
pub fn of_address(py: Python<'_>, address: u64) -> PyResult<usize> {
    with_opened(py, |opened| opened.cuda.device_of(address).map_err(failed))
}

/// An error of the driver as an exception.
pub fn failed(error: cuda::Error) -> PyErr {
    crate::errors::gpu(&error)
}

/// A device by its name, by an object of torch's that prints as one, or by the number of a GPU.
///
/// # Errors
/// `ValueError` for an object that names none.
pub fn named(device: &Bound<'_, PyAny>) -> PyResult<DeviceName> {
    let is_number = device.is_instance_of::<PyInt>() && !device.is_instance_of::<PyBool>();
    let name = if is_number { format!("cuda:{device}") } else { device.str()?.to_string() };
    name.parse().map_err(|message: String| PyValueError::new_err(format!("device: {message}")))
}

/// The folders in which Python packages have NVRTC and cuBLASLt.
fn folders(py: Python<'_>) -> PyResult<Vec<PathBuf>> {
    let path: Vec<PathBuf> = py.import("sys")?.getattr("path")?.extract()?;
    let within = |folder: &PathBuf| {
        ["nvidia/cuda_nvrtc/lib", "nvidia/cublas/lib", "nvidia/cu13/lib", "torch/lib"]
            .map(|package| folder.join(package))
    };
    Ok(path.iter().flat_map(within).filter(|folder| folder.is_dir()).collect())
}
