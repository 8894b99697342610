//! Calls on a GPU that are captured once and replayed: one launch for all kernels of a plan.

use std::sync::Arc;

use cuda::{Event, Graph, GraphWords, Stream};
use ir::graph::ExternalOp;

use super::Executable;
use super::on_gpu::{GpuInput, GpuOutput, Mode, Ran, located_on_gpu};
use crate::cuda::{CudaDevice, GpuArgument, GpuTensor, Watched};
use crate::destination::{OutputForm, Place};
use crate::prepared::Prepared;
use crate::{CallOptions, Error};
use execution::{ExecutionPlan, Step};

/// A captured call: it reads and writes the same tensors at each replay. Numbers of the host are those of the capture.
#[derive(Debug)]
pub struct GpuGraph {
    graph: Graph,
    device: Arc<CudaDevice>,
    outputs: Vec<GpuOutput>,
    /// The fault words of its kernels.
    faults: Vec<GraphWords<Watched>>,
    /// Memory that the work reads besides the caller's tensors: copies of numbers.
    copies: Vec<GpuTensor>,
    /// The stream of the capture, in whose order the copies are freed.
    stream: Arc<Stream>,
    /// The end of the last replay, if that was on another stream and there are copies.
    last: Option<Event>,
    /// The kernels that it runs.
    _prepared: Arc<Prepared>,
}

impl GpuGraph {
    /// The outputs that are returned, in order; their elements are those of the last replay.
    pub fn outputs(&self) -> &[GpuOutput] {
        &self.outputs
    }

    /// The same, for the caller to keep as long as the graph is replayed.
    pub fn take_outputs(&mut self) -> Vec<GpuOutput> {
        std::mem::take(&mut self.outputs)
    }

    /// Enqueues the call's work on a stream of its device, which may differ from that of the capture.
    ///
    /// # Safety
    /// All tensors of the call, outputs among them, live until the work is done, and nothing else writes its inputs or
    /// accesses its outputs, except in the stream's order.
    ///
    /// # Errors
    /// An index out of range in an earlier call or replay, and errors of the driver.
    pub unsafe fn replay(&mut self, stream: &Stream) -> Result<(), Error> {
        self.device.check()?;
        // SAFETY: as the caller guarantees; the graph owns the memory between the kernels, and the kernels are kept alive.
        unsafe { self.graph.launch(stream) }?;
        // Replays of one graph run one after the other, so the last one is done last.
        match &self.last {
            _ if self.copies.is_empty() => {}
            _ if stream.number() == self.stream.number() => self.last = None,
            Some(last) => last.again(stream)?,
            None => self.last = Some(Event::record(stream)?),
        }
        Ok(self.faults.iter_mut().try_for_each(|words| words.launched(stream))?)
    }
}

impl Drop for GpuGraph {
    /// Leaves the copies to the last replay until it is done.
    fn drop(&mut self) {
        if let Some(last) = &self.last {
            // The driver rejects it only where it runs nothing any more.
            let _ = self.stream.wait_for(last);
        }
    }
}

impl Executable {
    /// Captures a call of [`Executable::run_on_gpu_into`]; nothing runs. If `place` returns `None` for an output that is no
    /// view of an input, its memory is allocated in the order of the stream, like copies of numbers.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu_into`], and for a call that cannot be replayed: it draws random numbers, has steps for
    /// the host, or takes an array of the host or one whose address is no multiple of 16 bytes.
    pub fn capture_on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<GpuGraph, Error> {
        self.captured(options, stream, inputs, place)
            .map_err(|error| located_on_gpu(error, self.definition(), inputs))
    }

    fn captured<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl Place<GpuArgument<'d>>,
    ) -> Result<GpuGraph, Error> {
        let mut made: Vec<Option<GpuTensor>> = Vec::new();
        let device = self.gpu()?;
        let own = Arc::new(device.new_stream()?);
        let place = |forms: &[OutputForm]| {
            let given = place(forms)?;
            let one = |(form, given): (&OutputForm, Option<GpuArgument<'d>>)| {
                if given.is_some() || form.input.is_some() {
                    made.push(None);
                    return Ok(given);
                }
                // Memory that the graph itself allocates would differ at the next replay.
                let tensor = GpuTensor::allocate(stream, form.dtype, form.layout.clone())?;
                let (address, dtype, layout) = (tensor.address(), form.dtype, form.layout.clone());
                made.push(Some(tensor));
                // SAFETY: the tensor has exactly this layout, and lives until the graph's owner drops it.
                Ok(Some(unsafe { GpuArgument::from_raw_parts(address, dtype, layout, true) }))
            };
            forms.iter().zip(given).map(one).collect()
        };
        let Ran { outputs, graph, faults, copies, prepared, .. } =
            self.on_stream(options, stream, inputs, place, Mode::Captured(&own))?;
        let graph = graph.expect("the work was captured");
        let outputs = outputs.into_iter().zip(made);
        let outputs =
            outputs.map(|(output, made)| made.map_or_else(|| output.into(), GpuOutput::Made)).collect();
        let (copies, stream) = (copies.into_iter().flatten().collect(), Arc::clone(stream));
        Ok(GpuGraph { graph, device, outputs, faults, copies, stream, last: None, _prepared: prepared })
    }

    /// Checks that when a graph of a call runs, it needs neither the host nor anything that may be gone. A graph of our own
    /// would replay an old copy of an input whose address is not aligned.
    pub(super) fn require_capturable(
        &self,
        steps: &ExecutionPlan,
        inputs: &[GpuInput<'_>],
        is_own: bool,
    ) -> Result<(), Error> {
        if self.definition().draws > 0 {
            return Err(Error::DrawsInCapture);
        }
        let of_host = |step: &Step| match step {
            Step::External(step) if step.op == ExternalOp::GroupedMatmul || !step.op.is_product() => {
                Some(step.op.name())
            }
            Step::Evaluate(_) => Some("the evaluator"),
            _ => None,
        };
        if let Some(what) = steps.steps.iter().find_map(of_host) {
            return Err(Error::HostInCapture { what });
        }
        for (place, input) in inputs.iter().enumerate() {
            let what = match input {
                GpuInput::Host(view) if view.numel() != 1 => {
                    "is an array of the host, which a graph that is captured would read when it runs: give one of the GPU"
                }
                GpuInput::Tensor(argument) if is_own && !argument.is_aligned() => {
                    "has an address that is no multiple of 16 bytes, and a graph would have a copy of what is there now: give an \
                     aligned array"
                }
                _ => continue,
            };
            return Err(Error::InputInCapture { input: self.signature.input_name(place).to_owned(), what });
        }
        Ok(())
    }
}

/// Checks that all outputs of a call that the caller captures have memory, or are views: memory that the call allocates
/// belongs to the graph.
pub(crate) fn require_placed<D>(forms: &[OutputForm], destinations: &[Option<D>]) -> Result<(), Error> {
    let is_made = |(form, given): (&OutputForm, &Option<D>)| form.input.is_none() && given.is_none();
    match forms.iter().zip(destinations).position(is_made) {
        Some(output) => Err(Error::AllocatesInCapture { output }),
        None => Ok(()),
    }
}
