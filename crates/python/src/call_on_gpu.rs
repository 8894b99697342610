//! A call on arrays of a GPU: which GPU, which stream orders it, and what libraries are told.

use std::sync::Arc;

use cuda::Stream;
use ferrofuse::check::checked;
use ferrofuse::{
    ArrayView, CallOptions, CallReport, DeviceName, Error, Generator, GpuArgument, GpuInput, GpuTensor,
    Machine, OutputForm,
};
use ir::array::StridedArray;
use pyo3::prelude::*;

use crate::arrays::{Given, InputOnGpu, KindOnGpu, Library, OutputsOnGpu, Place, Wanted};
use crate::call::{Destinations, Inputs};
use crate::gpu::device::{self, OpenDevice};
use crate::runnable::{ReportDict, Runnable, comparison_dict, measured};
use crate::{errors, signals};

/// The device that a call runs on, and where its inputs are.
pub enum CallDevice {
    /// On the host.
    Host,
    /// On a GPU, where its arrays are.
    Gpu(usize),
    /// On a GPU, with copies of arrays of the host.
    Copied(usize),
}

impl CallDevice {
    /// The device for a call with an argument `device`.
    ///
    /// # Errors
    /// For inputs on two devices, or on another device than requested.
    pub fn of(
        py: Python<'_>,
        inputs: &Inputs<'_, '_>,
        device: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CallDevice> {
        let asked = device.map(device::named).transpose()?;
        let Some((first, ordinal)) = inputs.first_on_gpu() else {
            return Ok(match asked {
                Some(DeviceName::Other(_, ordinal)) if inputs.has_arrays() => {
                    CallDevice::Copied(ordinal.unwrap_or(0))
                }
                Some(DeviceName::Other(_, ordinal)) => CallDevice::Gpu(ordinal.unwrap_or(0)),
                Some(DeviceName::Cpu) | None => CallDevice::Host,
            });
        };
        let place = inputs.place(first);
        let is_asked = match asked {
            None | Some(DeviceName::Other(_, None)) => true,
            Some(DeviceName::Cpu) => false,
            Some(DeviceName::Other(_, Some(asked))) => asked == ordinal,
        };
        if !is_asked {
            let asked = device.map(Bound::str).transpose()?.map(|name| name.to_string()).unwrap_or_default();
            let message = format!("{place} lies on cuda:{ordinal}, and device=\"{asked}\" is asked for");
            return Err(errors::input(py, message));
        }
        inputs.require_on_gpu(py, first, ordinal)?;
        Ok(CallDevice::Gpu(ordinal))
    }
}

/// The start of random numbers on a GPU, and the stream that orders the work.
pub struct Order {
    pub stream: Arc<Stream>,
    /// The library whose current stream this is, if there is one: its arrays are already in that order.
    pub library: Option<Arc<Library>>,
    draws: Option<ferrofuse::Stream>,
}

impl Order {
    /// The current stream of the outputs' library, else that of the first input whose library has streams, else the device's
    /// own.
    ///
    /// # Errors
    /// Errors of a library.
    pub fn of(
        py: Python<'_>,
        kind: &KindOnGpu,
        inputs: &Inputs<'_, '_>,
        device: &OpenDevice,
    ) -> PyResult<Order> {
        let has_streams = |library: &&Arc<Library>| library.streams.is_some();
        let of_inputs = || inputs.on_gpu().filter_map(|(_, input)| input.library()).find(has_streams);
        let Some(library) = kind.library().filter(has_streams).or_else(of_inputs) else {
            return Ok(Order { stream: Arc::clone(&device.stream), library: None, draws: None });
        };
        let streams = library.streams.as_ref().expect("it has streams");
        let is_torchs = library.torch.is_some() && inputs.draws() > 0;
        let draws = is_torchs.then(|| streams.draw(py, inputs.draws(), device.ordinal)).transpose()?;
        Ok(Order { stream: streams.current(py, device)?, library: Some(Arc::clone(library)), draws })
    }

    /// Whether an array must be waited for and held: it is ordered by another stream than the call's.
    fn is_foreign(&self, input: &InputOnGpu<'_>) -> bool {
        let own = self.library.as_ref();
        input.library().is_none_or(|library| own.is_none_or(|own| !Arc::ptr_eq(own, library)))
    }
}

/// A call on arrays of a GPU and on numbers.
pub struct CallOnGpu<'c, 'i, 'py, R> {
    pub executable: &'c R,
    pub device: &'c Arc<OpenDevice>,
    pub inputs: &'c Inputs<'i, 'py>,
    pub wanted: Wanted<'c>,
    pub machine: Option<Arc<Machine>>,
}

impl<'i, 'py, R: Runnable> CallOnGpu<'_, 'i, 'py, R> {
    /// The outputs, written to a list of arrays if there is one.
    ///
    /// # Errors
    /// Errors in the inputs, and errors of the call.
    pub fn run(self, py: Python<'py>, out: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        self.given(py, out, false).map(|(outputs, _)| outputs)
    }

    /// As [`CallOnGpu::run`], with the time of each step; waits for the work.
    ///
    /// # Errors
    /// As [`CallOnGpu::run`].
    pub fn profile(self, py: Python<'py>) -> PyResult<(Vec<Bound<'py, PyAny>>, ReportDict<'py>)> {
        let device = format!("cuda:{}", self.device.ordinal);
        let (outputs, report) = self.given(py, None, true)?;
        Ok((outputs, measured(py, &report, &device)?))
    }

    /// The inputs as the runtime takes them.
    ///
    /// # Errors
    /// For an array of the host that cannot be read.
    pub fn arguments(&self) -> PyResult<Vec<GpuInput<'_>>> {
        let given = self.inputs.given().iter().enumerate().map(|(number, given)| match given {
            Given::Gpu(input) => Ok(GpuInput::Tensor(input.argument())),
            host => host.view(self.inputs.place(number)).map(GpuInput::Host),
        });
        given.collect()
    }

    /// Enqueues the work on the stream of the call's arrays.
    fn given(
        self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        is_timed: bool,
    ) -> PyResult<(Vec<Bound<'py, PyAny>>, CallReport)> {
        let CallOnGpu { executable, device, inputs, wanted, .. } = self;
        device.release();
        inputs.require_usable(py, wanted)?;
        let kind = KindOnGpu::of(py, inputs.given(), wanted)?;
        let order = Order::of(py, &kind, inputs, device)?;
        let (stream, draws) = (Arc::clone(&order.stream), order.draws);
        let destinations = out.map(Destinations::new).transpose()?;
        let written = destinations.as_ref().map(|given| given.on_gpu(py, device.ordinal)).transpose()?;
        let arrays = || inputs.on_gpu().chain(written.iter().flatten().copied());
        let foreign = || arrays().filter(|(_, input)| order.is_foreign(input));
        require_own(py, &stream, foreign().next())?;
        foreign().try_for_each(|(_, input)| input.await_on(py, &stream, device))?;
        let mut outputs = match &destinations {
            None => OutputsOnGpu::new(kind, device),
            Some(destinations) => OutputsOnGpu::written_to(destinations.objects(), device),
        };
        let ran = {
            let given = self.arguments()?;
            let (mut placed, machine) = (written.as_deref().map(placed), self.machine.clone());
            let (stream, outputs) = (&stream, &mut outputs);
            signals::interruptible(py, move |interrupt| {
                let options = CallOptions { stream: draws, machine, interrupt };
                let place = &mut |forms: &[OutputForm]| placed.take().map_or_else(|| outputs.made(forms), Ok);
                executable.outputs_on_gpu(&options, stream, &given, place, is_timed)
            })
        };
        let held: Vec<_> = foreign().map(|(_, input)| input.kept(&stream)).collect::<PyResult<Vec<_>>>()?;
        device.hold(&stream, held.into_iter().flatten().collect())?;
        if let Some(failure) = outputs.failure() {
            return Err(failure);
        }
        let (ran, report) = inputs.notify_of_writes(py, ran)?;
        let arrays = match destinations {
            None => outputs.arrays(py, wanted, ran, inputs.given(), inputs.objects(), &stream)?,
            Some(destinations) => destinations.written()?,
        };
        Ok((arrays, report))
    }
}

/// Rejects an array of another stream while a call is captured: the graph cannot wait for work outside of it.
fn require_own(
    py: Python<'_>,
    stream: &Stream,
    foreign: Option<(Place<'_>, &InputOnGpu<'_>)>,
) -> PyResult<()> {
    let Some((place, _)) = foreign else { return Ok(()) };
    match stream.is_capturing().map_err(device::failed)? {
        false => Ok(()),
        true => {
            let message = format!(
                "{place} is made by another stream than the one that is captured: copy it to an array of the \
                 library that captures, before the capture"
            );
            Err(errors::input(py, message))
        }
    }
}

/// Arrays of the caller's, as destinations of outputs.
pub fn placed<'a>(written: &[(Place<'_>, &'a InputOnGpu<'_>)]) -> Vec<Option<GpuArgument<'a>>> {
    written.iter().map(|(_, array)| Some(array.argument())).collect()
}

/// The outputs of a call that writes to no input, and a comparison of each with the evaluator's on copies on the host.
///
/// # Errors
/// As [`CallOnGpu::run`].
pub fn check<'py>(
    executable: &impl Runnable,
    py: Python<'py>,
    device: &Arc<OpenDevice>,
    inputs: &Inputs<'_, 'py>,
    wanted: Wanted<'_>,
    machine: &Machine,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<ReportDict<'py>>)> {
    let kind = KindOnGpu::of(py, inputs.given(), wanted)?;
    let Order { stream, draws, .. } = Order::of(py, &kind, inputs, device)?;
    let draws = draws.unwrap_or_else(|| Generator::shared().state());
    let copy = |(number, given): (usize, &Given<'py>)| match given.on_gpu() {
        Some(input) => input.downloaded(py, device).map(StridedArray::from),
        None => given
            .view(inputs.place(number))?
            .to_array()
            .map(StridedArray::from)
            .map_err(|error| errors::input(py, error.to_string())),
    };
    let copies = inputs.given().iter().enumerate().map(copy).collect::<PyResult<Vec<_>>>()?;
    let views: Vec<ArrayView<'_>> = copies.iter().map(StridedArray::view).collect();
    let done = signals::interruptible(py, |interrupt| {
        let options = CallOptions { stream: Some(draws), interrupt, machine: None };
        let outputs = executable.outputs(&options, &views)?;
        let viewed = outputs.iter().map(|output| output.view());
        let compared = checked(executable.definition(), &views, draws, viewed, machine, &options.interrupt)?;
        let made = outputs.iter().map(|output| GpuTensor::of_host(&stream, &output.view()));
        Ok((made.collect::<Result<Vec<_>, Error>>()?, compared))
    });
    let (made, compared) = done.map_err(|(raised, error)| inputs.raised(py, raised, &error))?;
    let arrays: PyResult<Vec<_>> = made.into_iter().map(|tensor| kind.array(py, tensor, device)).collect();
    let compared: PyResult<Vec<_>> =
        compared.iter().map(|comparison| comparison_dict(py, comparison)).collect();
    Ok((arrays?, compared?))
}
