//! Calls on a GPU that are captured once and replayed: one launch for all kernels of a plan.

use std::sync::Arc;

use cuda::{Graph, GraphWords, Stream};
use ir::graph::ExternalOp;

use super::Executable;
use super::on_gpu::{GpuInput, GpuOutput, Mode, Ran, located_on_gpu};
use crate::cuda::{CudaDevice, GpuArgument, GpuTensor, Watched};
use crate::destination::OutputForm;
use crate::prepared::Prepared;
use crate::{CallOptions, Error};
use execution::{ExecutionPlan, Step};

/// A call that was captured: it reads and writes the same tensors at each replay. Numbers of the host are those of the capture.
#[derive(Debug)]
pub struct GpuGraph {
    graph: Graph,
    device: Arc<CudaDevice>,
    outputs: Vec<GpuOutput>,
    /// Where its kernels report indices out of range.
    faults: Vec<GraphWords<Watched>>,
    /// What the work reads besides the caller's tensors, and the kernels that it runs.
    _held: (Vec<Option<GpuTensor>>, Arc<Prepared>),
}

impl GpuGraph {
    /// The outputs that are given back, in their order; their elements are those of the last replay.
    pub fn outputs(&self) -> &[GpuOutput] {
        &self.outputs
    }

    /// The same, to be kept by the caller as long as the graph is replayed.
    pub fn take_outputs(&mut self) -> Vec<GpuOutput> {
        std::mem::take(&mut self.outputs)
    }

    /// Gives the call's work to a stream of its device.
    ///
    /// # Safety
    /// All tensors of the call, outputs among them, live until the work is done, and nothing else writes what it reads, or touches
    /// what it writes, in another order than that of the stream.
    ///
    /// # Errors
    /// An index out of range in an earlier call or replay, and what the driver says.
    pub unsafe fn replay(&mut self, stream: &Stream) -> Result<(), Error> {
        self.device.check()?;
        // SAFETY: the caller's; memory between the kernels is of the graph, and the kernels are held.
        unsafe { self.graph.launch(stream) }?;
        Ok(self.faults.iter_mut().try_for_each(|words| words.launched(stream))?)
    }
}

impl Executable {
    /// Captures a call as [`Executable::run_on_gpu_into`] does it; nothing runs. Where `place` says `None` for what is no view of an
    /// input, memory is made in the order of the stream, as are copies of numbers.
    ///
    /// # Errors
    /// As [`Executable::run_on_gpu_into`], and for what cannot be replayed: a call that draws random numbers or leaves work to the
    /// host; an array of the host, or one whose address is no multiple of 16 bytes.
    pub fn capture_on_gpu<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>,
    ) -> Result<GpuGraph, Error> {
        self.captured(options, stream, inputs, place)
            .map_err(|error| located_on_gpu(error, self.definition(), inputs))
    }

    fn captured<'d>(
        &self,
        options: &CallOptions,
        stream: &Arc<Stream>,
        inputs: &[GpuInput<'_>],
        place: impl FnOnce(&[OutputForm]) -> Result<Vec<Option<GpuArgument<'d>>>, Error>,
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
                // Memory that a graph makes itself would be another at the next replay.
                let tensor = GpuTensor::allocate(stream, form.dtype, form.layout.clone())?;
                let (address, dtype, layout) = (tensor.address(), form.dtype, form.layout.clone());
                made.push(Some(tensor));
                // SAFETY: the tensor has just this layout, and is kept until the graph's owner lets go of it.
                Ok(Some(unsafe { GpuArgument::from_raw_parts(address, dtype, layout, true) }))
            };
            forms.iter().zip(given).map(one).collect()
        };
        let Ran { outputs, graph, faults, copies, prepared, .. } =
            self.on_stream(options, stream, inputs, place, Mode::Captured(&own))?;
        let graph = graph.expect("the work was captured");
        let outputs = outputs.into_iter().zip(made);
        let outputs = outputs.map(|(output, made)| made.map_or(output, GpuOutput::Made)).collect();
        Ok(GpuGraph { graph, device, outputs, faults, _held: (copies, prepared) })
    }

    /// That nothing in a call needs the host, or something that is not there, when a graph of it runs. A graph of our own cannot
    /// copy what lies in a way that kernels do not read.
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

/// That all outputs of a call that the caller captures have memory, or are views: what the call allocates is the graph's.
pub(crate) fn require_placed<D>(forms: &[OutputForm], destinations: &[Option<D>]) -> Result<(), Error> {
    let is_made = |(form, given): (&OutputForm, &Option<D>)| form.input.is_none() && given.is_none();
    match forms.iter().zip(destinations).position(is_made) {
        Some(output) => Err(Error::AllocatesInCapture { output }),
        None => Ok(()),
    }
}
