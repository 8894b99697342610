//! Calls of executables, of a whole definition or of its segments, on Python's arrays; other Python threads run meanwhile.

use std::sync::Arc;
use std::time::Duration;

use cuda::Stream;
use ferrofuse::check::{Comparison, checked};
use ferrofuse::{
    Argument, ArrayView, CallOptions, CallReport, Definition, Error, Executable, Generator, GpuArgument,
    GpuInput, GpuOutput, Interrupt, Machine, OutputForm, Outputs, SegmentedExecutable, StepReport,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::Wanted;
use crate::call::{Call, Destinations, Inputs};
use crate::{errors, signals};

/// The report of a comparison with the evaluator, or of a measured call.
pub type ReportDict<'py> = Bound<'py, PyDict>;

/// Returns destinations of outputs on a GPU, given their forms.
pub type PlaceOnGpu<'p, 'd> =
    &'p mut (dyn FnMut(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error> + Send);

/// An executable form of a definition.
pub trait Runnable: Sync {
    /// The definition.
    fn definition(&self) -> &Definition;
    /// Whether a call on these arguments is known to take microseconds.
    fn is_short(&self, arguments: &[Argument<'_>]) -> bool;
    /// Calls it without writing to inputs.
    fn outputs<'a>(&self, options: &CallOptions, inputs: &[ArrayView<'a>]) -> Result<Outputs<'a>, Error>;
    /// Calls it and writes in-place outputs.
    fn outputs_in_place<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<Outputs<'a>, Error>;
    /// [`Runnable::outputs_in_place`], with a report of where the time went.
    fn outputs_timed<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
    ) -> Result<(Outputs<'a>, CallReport), Error>;
    /// Calls it, writes in-place outputs, and writes the others to memory of the caller's.
    fn outputs_into<'a>(
        &self,
        options: &CallOptions,
        arguments: &'a mut [Argument<'_>],
        destinations: &'a mut [Argument<'_>],
    ) -> Result<(), Error>;
    /// Calls it on tensors of its GPU, and writes in-place outputs; reports where the time went, if requested.
    fn outputs_on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: PlaceOnGpu<'_, 'd>,
        is_timed: bool,
    ) -> Result<(Vec<GpuOutput>, CallReport), Error>;
}

/// The methods of a type that has all of them under the names of an [`Executable`], except whether a call is short.
macro_rules! runnable {
    ($type:ty, $is_short:expr) => {
        impl Runnable for $type {
            fn definition(&self) -> &Definition {
                self.definition()
            }

            fn is_short(&self, arguments: &[Argument<'_>]) -> bool {
                let is_short: fn(&$type, &[Argument<'_>]) -> bool = $is_short;
                is_short(self, arguments)
            }

            fn outputs<'a>(
                &self,
                options: &CallOptions,
                inputs: &[ArrayView<'a>],
            ) -> Result<Outputs<'a>, Error> {
                self.run_with(options, inputs)
            }

            fn outputs_in_place<'a>(
                &self,
                options: &CallOptions,
                arguments: &'a mut [Argument<'_>],
            ) -> Result<Outputs<'a>, Error> {
                self.run_in_place_with(options, arguments)
            }

            fn outputs_timed<'a>(
                &self,
                options: &CallOptions,
                arguments: &'a mut [Argument<'_>],
            ) -> Result<(Outputs<'a>, CallReport), Error> {
                self.run_in_place_timed(options, arguments)
            }

            fn outputs_into<'a>(
                &self,
                options: &CallOptions,
                arguments: &'a mut [Argument<'_>],
                destinations: &'a mut [Argument<'_>],
            ) -> Result<(), Error> {
                self.run_into(options, arguments, destinations)
            }

            fn outputs_on_gpu<'d>(
                &self,
                options: &CallOptions,
                stream: &Arc<Stream>,
                inputs: &[GpuInput<'_>],
                place: PlaceOnGpu<'_, 'd>,
                is_timed: bool,
            ) -> Result<(Vec<GpuOutput>, CallReport), Error> {
                match is_timed {
                    true => self.run_on_gpu_timed(options, stream, inputs, place),
                    false => {
                        let outputs = self.run_on_gpu_into(options, stream, inputs, place)?;
                        Ok((outputs, CallReport::default()))
                    }
                }
            }
        }
    };
}

runnable!(Executable, |executable, arguments| executable.is_short(arguments));
runnable!(SegmentedExecutable, |_, _| false);

/// A call that may write to its inputs.
///
/// # Errors
/// For inputs that do not fit, or that must not be written to.
pub fn writing<'a, 'py>(
    py: Python<'py>,
    inputs: Inputs<'a, 'py>,
    wanted: Wanted<'_>,
) -> PyResult<Call<'a, 'py>> {
    inputs.require_usable(py, wanted)?;
    Call::new(py, inputs, wanted)
}

/// The outputs for arrays of the host and numbers. Runs on a machine's threads if one is given, else on the process's;
/// writes to a list of arrays if there is one, and then returns these.
///
/// # Errors
/// Errors in the inputs or these arrays, and errors of the call.
pub fn run<'py>(
    runnable: &impl Runnable,
    py: Python<'py>,
    inputs: Inputs<'_, 'py>,
    wanted: Wanted<'_>,
    machine: Option<Arc<Machine>>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let call = writing(py, inputs, wanted)?;
    if let Some(out) = out {
        return run_into(runnable, py, &call, out, machine);
    }
    let (stream, arguments) = (call.stream, &mut call.arguments()?);
    // Releasing the interpreter and taking it again would be a considerable part of a short call.
    let ran = match runnable.is_short(arguments) {
        true => {
            let options = CallOptions { stream, machine, interrupt: Interrupt::default() };
            let ran = runnable.outputs_in_place(&options, arguments);
            ran.map_err(|error| (errors::failed(py, &error), error))
        }
        false => signals::interruptible(py, |interrupt| {
            runnable.outputs_in_place(&CallOptions { stream, machine, interrupt }, arguments)
        }),
    };
    call.arrays(py, wanted, call.notify_of_writes(py, ran)?)
}

fn run_into<'py>(
    runnable: &impl Runnable,
    py: Python<'py>,
    call: &Call<'_, 'py>,
    out: &Bound<'py, PyAny>,
    machine: Option<Arc<Machine>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let destinations = Destinations::new(out)?;
    let (stream, arguments, written) = (call.stream, &mut call.arguments()?, &mut destinations.arguments()?);
    let ran = signals::interruptible(py, |interrupt| {
        runnable.outputs_into(&CallOptions { stream, machine, interrupt }, arguments, written)
    });
    call.notify_of_writes(py, ran)?;
    destinations.written()
}

/// As [`run`], with a dict of measurements: the name of the device, `total`, `compile` (milliseconds; 0 for a call that compiles nothing), `peak`
/// (the most bytes held at once), and `steps`, a list of names, milliseconds, milliseconds in libLLVM, and bytes of the
/// tensors that a step reads and writes.
///
/// # Errors
/// As [`run`].
pub fn profile<'py>(
    runnable: &impl Runnable,
    py: Python<'py>,
    inputs: Inputs<'_, 'py>,
    wanted: Wanted<'_>,
    machine: Option<Arc<Machine>>,
    device: &str,
) -> PyResult<(Vec<Bound<'py, PyAny>>, ReportDict<'py>)> {
    let call = writing(py, inputs, wanted)?;
    let (stream, arguments) = (call.stream, &mut call.arguments()?);
    let ran = signals::interruptible(py, |interrupt| {
        runnable.outputs_timed(&CallOptions { stream, machine, interrupt }, arguments)
    });
    let (outputs, report) = call.notify_of_writes(py, ran)?;
    Ok((call.arrays(py, wanted, outputs)?, measured(py, &report, device)?))
}

/// The dict of measurements of [`profile`].
///
/// # Errors
/// When there is no memory.
pub fn measured<'py>(py: Python<'py>, report: &CallReport, device: &str) -> PyResult<ReportDict<'py>> {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let step = |step: &StepReport| {
        let [time, compile] = [step.time, step.compile].map(milliseconds);
        (step.name.clone(), time, compile, step.read, step.written)
    };
    let dict = PyDict::new(py);
    dict.set_item("device", device)?;
    dict.set_item("total", milliseconds(report.total))?;
    dict.set_item("compile", milliseconds(report.compile))?;
    dict.set_item("peak", report.peak_bytes)?;
    dict.set_item("steps", report.steps.iter().map(step).collect::<Vec<_>>())?;
    Ok(dict)
}

/// The outputs, without writing to inputs, and a comparison of each with the evaluator's, which runs on `machine`.
///
/// # Errors
/// As [`run`].
pub fn check<'py>(
    runnable: &impl Runnable,
    py: Python<'py>,
    inputs: Inputs<'_, 'py>,
    wanted: Wanted<'_>,
    machine: &Machine,
) -> PyResult<(Vec<Bound<'py, PyAny>>, Vec<ReportDict<'py>>)> {
    let definition = runnable.definition();
    let call = Call::new(py, inputs, wanted)?;
    let (stream, views) = (call.stream.unwrap_or_else(|| Generator::shared().state()), call.views()?);
    let done = signals::interruptible(py, |interrupt| {
        let options = CallOptions { stream: Some(stream), interrupt, machine: None };
        let outputs = runnable.outputs(&options, &views)?;
        let viewed = outputs.iter().map(|output| output.view());
        let compared = checked(definition, &views, stream, viewed, machine, &options.interrupt)?;
        Ok((outputs, compared))
    });
    let (outputs, compared) = done.map_err(|(raised, error)| call.raised(py, raised, &error))?;
    let dicts: PyResult<Vec<_>> = compared.iter().map(|comparison| comparison_dict(py, comparison)).collect();
    Ok((call.arrays(py, wanted, outputs)?, dicts?))
}

/// The report of a comparison with the evaluator.
///
/// # Errors
/// When Python has no memory.
pub fn comparison_dict<'py>(py: Python<'py>, comparison: &Comparison) -> PyResult<ReportDict<'py>> {
    let dict = PyDict::new(py);
    dict.set_item("mismatches", comparison.mismatches)?;
    dict.set_item("worst_ratio", comparison.worst_ratio)?;
    dict.set_item("at", &comparison.at)?;
    dict.set_item("expected", comparison.expected.map(|scalar| scalar.to_string()))?;
    dict.set_item("got", comparison.got.map(|scalar| scalar.to_string()))?;
    Ok(dict)
}
