//! The executables of a definition on the host and on each GPU, and the choice of one for a call.

use std::sync::{Arc, Mutex, PoisonError};

use ferrofuse::{CompileOptions, Executor};
use pyo3::prelude::*;

use crate::arrays::Wanted;
use crate::call::Inputs;
use crate::call_on_gpu::{self, CallDevice, CallOnGpu};
use crate::gpu::OpenDevice;
use crate::machine;
use crate::runnable::{self, ReportDict, Runnable};

/// How the executable for a device is made.
type Make<R> = Box<dyn Fn(CompileOptions) -> PyResult<R> + Send + Sync>;

/// The executable for the host and, once a call was there, for each GPU.
pub struct OnDevices<R> {
    host: R,
    /// By the number of the GPU.
    on_gpus: Mutex<Vec<(usize, Arc<R>)>>,
    options: CompileOptions,
    make: Make<R>,
}

impl<R: Runnable> OnDevices<R> {
    /// The executable for the host, compiled with these options, and how it is made for another device.
    pub fn new(
        host: R,
        options: CompileOptions,
        make: impl Fn(CompileOptions) -> PyResult<R> + Send + Sync + 'static,
    ) -> OnDevices<R> {
        OnDevices { host, on_gpus: Mutex::default(), options, make: Box::new(make) }
    }

    /// The executable for the host.
    pub fn host(&self) -> &R {
        &self.host
    }

    /// The executable for a GPU.
    ///
    /// # Errors
    /// The error of making it.
    pub fn on_gpu(&self, device: &OpenDevice) -> PyResult<Arc<R>> {
        let mut on_gpus = self.on_gpus.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, runnable)) = on_gpus.iter().find(|(ordinal, _)| *ordinal == device.ordinal) {
            return Ok(Arc::clone(runnable));
        }
        let executor = Executor::from(Arc::clone(&device.gpu));
        let options = CompileOptions { executor, ..self.options.clone() };
        let runnable = Arc::new((self.make)(options)?);
        on_gpus.push((device.ordinal, Arc::clone(&runnable)));
        Ok(runnable)
    }

    /// The outputs; written to a list of arrays if there is one.
    ///
    /// # Errors
    /// Errors in the inputs, and errors of the call.
    pub fn run<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        wanted: Wanted<'_>,
        out: Option<&Bound<'py, PyAny>>,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let machine = machine::of_call(threads)?;
        let inputs = match wanted.is_of_graph() {
            true => Inputs::of_graph(self.host.definition(), inputs)?,
            false => Inputs::new(self.host.definition(), inputs)?,
        };
        match CallDevice::of(py, &inputs, wanted.device)? {
            CallDevice::Host => {
                machine::report_once(py)?;
                runnable::run(&self.host, py, inputs, wanted, machine, out)
            }
            CallDevice::Copied(ordinal) => {
                let executable = self.on_gpu(&*OpenDevice::of(py, ordinal)?)?;
                runnable::run(&*executable, py, inputs, wanted, machine, out)
            }
            CallDevice::Gpu(ordinal) => {
                let device = &OpenDevice::of(py, ordinal)?;
                let executable = &*self.on_gpu(device)?;
                CallOnGpu { executable, device, inputs: &inputs, wanted, machine }.run(py, out)
            }
        }
    }

    /// The outputs, and a dict of measurements.
    ///
    /// # Errors
    /// As [`OnDevices::run`].
    pub fn profile<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        wanted: Wanted<'_>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, ReportDict<'py>)> {
        let machine = machine::of_call(None)?;
        let inputs = Inputs::new(self.host.definition(), inputs)?;
        match CallDevice::of(py, &inputs, wanted.device)? {
            CallDevice::Host => {
                machine::report_once(py)?;
                runnable::profile(&self.host, py, inputs, wanted, machine, "cpu")
            }
            CallDevice::Copied(ordinal) => {
                let executable = self.on_gpu(&*OpenDevice::of(py, ordinal)?)?;
                runnable::profile(&*executable, py, inputs, wanted, machine, &format!("cuda:{ordinal}"))
            }
            CallDevice::Gpu(ordinal) => {
                let device = &OpenDevice::of(py, ordinal)?;
                let executable = &*self.on_gpu(device)?;
                CallOnGpu { executable, device, inputs: &inputs, wanted, machine }.profile(py)
            }
        }
    }

    /// The outputs, without writing to inputs, and a comparison of each with the evaluator's.
    ///
    /// # Errors
    /// As [`OnDevices::run`].
    pub fn check<'py>(
        &self,
        py: Python<'py>,
        inputs: &Bound<'py, PyAny>,
        wanted: Wanted<'_>,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<ReportDict<'py>>)> {
        let (inputs, machine) = (Inputs::new(self.host.definition(), inputs)?, machine::of_process());
        match CallDevice::of(py, &inputs, wanted.device)? {
            CallDevice::Host => {
                machine::report_once(py)?;
                runnable::check(&self.host, py, inputs, wanted, &machine)
            }
            CallDevice::Copied(ordinal) => {
                let executable = self.on_gpu(&*OpenDevice::of(py, ordinal)?)?;
                runnable::check(&*executable, py, inputs, wanted, &machine)
            }
            CallDevice::Gpu(ordinal) => {
                let device = OpenDevice::of(py, ordinal)?;
                let executable = self.on_gpu(&device)?;
                call_on_gpu::check(&*executable, py, &device, &inputs, wanted, &machine)
            }
        }
    }
}
