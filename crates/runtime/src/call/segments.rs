//! Steps of kernels and of the evaluator.

use ir::array::Array;
use kernel::{Access, Kernel};
use reference::evaluate::{EvaluateError, EvaluateOptions, Evaluation as Evaluated, evaluate};
use smallvec::SmallVec;

use super::Call;
use crate::Error;
use crate::device::{Device, KernelLaunch, SlotContents, ViewOf};
use crate::error::IndexFault;
use execution::{ArgumentSource, Evaluation, Launch, Operands};

impl<D: Device> Call<'_, '_, D> {
    pub(super) fn launch(&mut self, launch: &Launch) -> Result<(), Error> {
        let values = &self.extents.formulas;
        let argument = |source: &ArgumentSource| match *source {
            ArgumentSource::Size(formula) => values[formula],
            ArgumentSource::Stride(slot, axis) => self.memory[slot].form().1.strides[axis] as i64,
        };
        let kernel = &self.plan.kernels[launch.kernel];
        let writes = |member: &&Operands| !self.writes_nothing(kernel, member);
        let members: SmallVec<[&Operands; 1]> = launch.members.iter().filter(writes).collect();
        if members.is_empty() {
            return Ok(());
        }
        let sources = members.iter().flat_map(|member| &member.arguments);
        let arguments: SmallVec<[i64; 16]> = sources.map(argument).collect();
        let code = &self.code[launch.kernel];
        let reuse = self.extents.reuse.of(launch.kernel);
        let given = KernelLaunch { kernel, code, members: &members, values, arguments: &arguments, reuse };
        self.device.launch(&given, &mut self.memory)
    }

    /// Whether all that a kernel could write has no elements. Its loops may run for long to find that out.
    fn writes_nothing(&self, kernel: &Kernel, member: &Operands) -> bool {
        let mut buffers = kernel.buffers.values().zip(&member.buffers);
        buffers.all(|(decl, &slot)| decl.access == Access::Read || self.memory[slot].is_empty())
    }

    pub(super) fn evaluate(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        let outputs = match self.evaluated(evaluation)? {
            Ok(Evaluated { outputs, peak_bytes }) => {
                self.report.peak_bytes = self.report.peak_bytes.max(self.own_bytes() + peak_bytes);
                outputs
            }
            Err(EvaluateError::Index { val, at }) => {
                self.note(IndexFault { val: self.plan.origin(val), at });
                return self.clear(&evaluation.outputs);
            }
            Err(error) => return Err(error.into()),
        };
        let arrays: Vec<Array> = outputs.into_iter().map(|output| output.value).collect();
        for (&slot, array) in evaluation.outputs.iter().zip(&arrays) {
            self.device.store(self.memory[slot].view_mut(), &array.view())?;
        }
        Ok(())
    }

    /// Bytes that the call holds at present.
    fn own_bytes(&self) -> usize {
        let own = self.memory.values().filter(|contents| matches!(contents, SlotContents::Own(_)));
        own.map(|contents| contents.bytes() as usize).sum()
    }

    /// The evaluator's results for a segment.
    fn evaluated(&self, evaluation: &Evaluation) -> Result<Result<Evaluated, EvaluateError>, Error> {
        let inputs: Vec<ViewOf<'_, D>> =
            evaluation.inputs.iter().map(|&slot| self.memory[slot].view()).collect();
        let host = self.device.host();
        let live = host.machine.allocator.stats().live_bytes;
        let options = EvaluateOptions {
            workers: &host.workers(),
            bounds: false,
            max_bytes: host.machine.memory_limit().saturating_sub(live),
            sizes: self.known.known().collect(),
        };
        let (graph, view) = (&self.plan.graph, &self.plan.segments[evaluation.segment].view);
        self.device.on_host(&inputs, |inputs| evaluate(graph, view, inputs, &options))
    }
}
