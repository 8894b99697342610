//! Steps that kernels and the evaluator do.

use ir::array::{Array, ArrayView};
use ir::kernel::{Access, Kernel};
use reference::evaluate::{EvaluateError, EvaluateOptions, copy, evaluate};
use smallvec::SmallVec;

use super::Call;
use crate::compile::Code;
use crate::error::IndexFault;
use crate::launch::Host;
use crate::plan::{ArgumentSource, Evaluation, Launch};
use crate::{Error, interpret, launch};

impl Call<'_> {
    pub(super) fn launch(&mut self, launch: &Launch) -> Result<(), Error> {
        let formulas = &self.extents.formulas;
        let argument = |source: &ArgumentSource| match *source {
            ArgumentSource::Size(formula) => formulas[formula],
            ArgumentSource::Stride(slot, axis) => self.memory[slot].strides()[axis] as i64,
        };
        let arguments: SmallVec<[i64; 16]> = launch.arguments.iter().map(argument).collect();
        let kernel = &self.plan.kernels[launch.kernel];
        if self.writes_nothing(kernel, launch) {
            return Ok(());
        }
        match &self.code[launch.kernel] {
            Code::Machine(code) => {
                let host = Host { machine: self.machine, interrupt: self.interrupt };
                launch::run(kernel, code, launch, formulas, &arguments, &mut self.memory, host)
            }
            Code::Program(options) => {
                interpret::run(kernel, &arguments, &launch.buffers, &mut self.memory, options)
            }
        }
    }

    /// Whether all that a launch could change is without elements. Its loops may run for long to see that.
    fn writes_nothing(&self, kernel: &Kernel, launch: &Launch) -> bool {
        let mut buffers = kernel.buffers.values().zip(&launch.buffers);
        buffers.all(|(decl, &slot)| decl.access == Access::Read || self.memory[slot].bytes() == 0)
    }

    pub(super) fn evaluate(&mut self, evaluation: &Evaluation) -> Result<(), Error> {
        let inputs: Vec<ArrayView<'_>> =
            evaluation.inputs.iter().map(|&slot| self.memory[slot].view()).collect();
        let options = EvaluateOptions {
            workers: &self.workers(),
            bounds: false,
            max_bytes: self.machine.memory_limit().saturating_sub(self.machine.allocator.stats().live_bytes),
            sizes: self.known.known().collect(),
        };
        let view = &self.plan.segments[evaluation.segment].view;
        let outputs = match evaluate(&self.plan.graph, view, &inputs, &options) {
            Ok(evaluation) => evaluation.outputs,
            Err(EvaluateError::Index { val, at }) => {
                self.note(IndexFault { val: self.plan.origin(val), at });
                return self.clear(&evaluation.outputs);
            }
            Err(error) => return Err(error.into()),
        };
        let workers = self.workers();
        let arrays: Vec<Array> = outputs.into_iter().map(|output| output.value).collect();
        for (&slot, array) in evaluation.outputs.iter().zip(&arrays) {
            let copied = copy(&mut self.memory[slot].view_mut(), &array.view(), &workers);
            copied.expect("a segment's outputs have the sizes that were evaluated");
        }
        Ok(())
    }
}
