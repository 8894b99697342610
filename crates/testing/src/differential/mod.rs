//! The differential check: a program run by every executor, with any valid choices, against the evaluator.
//!
//! Takes a program and choices; returns what was covered, or the first failure: a result beyond the evaluator's bound,
//! another error than the evaluator's for an index out of range, bits that differ between thread counts, a fault or a race
//! in the interpreter, an error, a panic, a text that does not read back.

mod chosen;
mod covered;
mod failure;
mod faults;
mod gpu;
mod machines;
mod strides;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use ferrofuse::{
    ArrayView, CallOptions, CompileOptions, Definition, Executable, Executor, ExecutorKind, Machine, Stream,
};
use ir::array::{Array, ArrayError, Layout};
use ir::graph::Output;
use llvm::CpuTarget;
use reference::evaluate::{EvaluateError, EvaluateOptions, Evaluated};

pub use chosen::{Choice, Chosen, Device, chosen};
pub use covered::Covered;
use failure::panic_message;
pub use failure::{Failure, Kind};
use faults::ExpectedFault;
use machines::machine;
pub(crate) use machines::targets;

use crate::random::{Placed, Program, WritableInputs, place};
use crate::stand_in::gpu;
use ferrofuse::check::meaning;

/// Checks a program with these choices.
///
/// # Errors
/// The first failure.
pub fn check(program: &Program, choice: Choice) -> Result<Covered, Failure> {
    Check::of(program)?.choose(choice)
}

/// Checks a definition on inputs, with these choices.
///
/// # Errors
/// The first failure.
pub fn check_definition(
    definition: Definition,
    inputs: Vec<Placed>,
    chosen: &Chosen,
) -> Result<Covered, Failure> {
    without_panic(|| Check::new(definition, inputs)?.run(chosen))
}

/// The result of a check; a panic in it is a failure.
pub(crate) fn without_panic<T>(check: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(result) => result,
        Err(panic) => Err(Failure::new(Kind::Panic, panic_message(&*panic))),
    }
}

/// A program with its definition, its inputs in memory, and the evaluator's results: ready for any choices.
pub struct Check {
    definition: Definition,
    placed: Vec<Placed>,
    expected: Meant,
}

/// The evaluator's result for a program on its inputs.
enum Meant {
    /// These outputs.
    Outputs(Vec<Evaluated>),
    /// An index out of range.
    Fault(ExpectedFault),
}

impl Check {
    /// A program, its text checked and its results evaluated.
    ///
    /// # Errors
    /// When the program is invalid, or its text does not read back.
    pub fn of(program: &Program) -> Result<Check, Failure> {
        without_panic(|| {
            let definition = program
                .define()
                .map_err(|error| Failure::new(Kind::Rejected, format!("the builder: {error}")))?;
            Check::new(definition, place(&program.inputs))
        })
    }

    /// Runs it with these choices.
    ///
    /// # Errors
    /// The first failure.
    pub fn choose(&self, choice: Choice) -> Result<Covered, Failure> {
        without_panic(|| self.run(&chosen(&self.definition, &self.views(), choice)?))
    }

    fn new(definition: Definition, placed: Vec<Placed>) -> Result<Check, Failure> {
        text::check(&definition)?;
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let options = EvaluateOptions::default();
        let expected = match meaning(&definition, &views, &options) {
            Ok(evaluation) => Meant::Outputs(evaluation.outputs),
            Err(EvaluateError::Index { .. } | EvaluateError::Input(_)) => {
                Meant::Fault(ExpectedFault::new(&definition, &views)?)
            }
            Err(error) => return Err(Failure::new(Kind::Rejected, format!("the evaluator: {error}"))),
        };
        drop(views);
        Ok(Check { definition, placed, expected })
    }

    fn run(&self, chosen: &Chosen) -> Result<Covered, Failure> {
        match chosen.device {
            Device::Cpu(target, threads) => self.run_on_cpu(chosen, target, threads),
            Device::Gpu(order) => self.run_on_gpu(chosen, order),
        }
    }

    /// The kernel interpreter, then machine code on one and on more threads.
    fn run_on_cpu(&self, chosen: &Chosen, target: CpuTarget, threads: usize) -> Result<Covered, Failure> {
        let mut covered = Covered::default();
        if let Some(executable) = self.compiled(ExecutorKind::Interpreter, chosen, target)? {
            self.execute(&executable, chosen, machine(1), &mut covered)?;
        }
        let Some(executable) = self.compiled(ExecutorKind::Compiled, chosen, target)? else {
            return Ok(covered);
        };
        let alone = self.execute(&executable, chosen, machine(1), &mut covered)?;
        let shared = self.execute(&executable, chosen, machine(threads), &mut covered)?;
        match alone.iter().zip(&shared).position(|(alone, shared)| alone != shared) {
            None => Ok(covered),
            Some(output) => {
                let what = format!("output {output} has other bits with {threads} threads than with one");
                Err(Failure::new(Kind::Threads, what))
            }
        }
    }

    /// The definition compiled for an executor; `None` if its sizes are rejected, as they should be.
    fn compiled(
        &self,
        executor: ExecutorKind,
        chosen: &Chosen,
        target: CpuTarget,
    ) -> Result<Option<Executable>, Failure> {
        self.compiled_for(executor, chosen, target, &self.views())
    }

    /// The same for these inputs.
    fn compiled_for(
        &self,
        executor: ExecutorKind,
        chosen: &Chosen,
        target: CpuTarget,
        views: &[ArrayView<'_>],
    ) -> Result<Option<Executable>, Failure> {
        let options = CompileOptions {
            executor: opened(executor)?,
            target,
            plan: chosen.plan.clone(),
            hints: chosen.hints.clone(),
            interpreter: chosen.interpreter,
            machine: machine(1),
            generator: Arc::default(),
        };
        let (name, wrong) = (executor.name(), |what: String| Err(Failure::new(Kind::Error, what)));
        let executable =
            match (Executable::for_inputs(self.definition.clone(), options, views), &self.expected) {
                (Ok(executable), _) => executable,
                (Err(error), Meant::Fault(fault)) => return fault.check(name, Err(error)).map(|()| None),
                (Err(error), Meant::Outputs(_)) => return wrong(format!("{name}: {error}")),
            };
        let report = &executable.latest().expect("compiled").report;
        if report.executor != executor {
            // Otherwise the evaluator would be compared with itself.
            return wrong(format!("{name} was not run: {}", report.notice.clone().unwrap_or_default()));
        }
        Ok(Some(executable))
    }

    /// The inputs in dense form.
    fn dense(&self) -> Result<Vec<Array>, ArrayError> {
        self.placed.iter().map(|placed| placed.view().to_array()).collect()
    }

    fn views(&self) -> Vec<ArrayView<'_>> {
        self.placed.iter().map(Placed::view).collect()
    }

    /// Runs the definition and compares; returns the bytes of each output.
    fn execute(
        &self,
        executable: &Executable,
        chosen: &Chosen,
        machine: Arc<Machine>,
        covered: &mut Covered,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let variant = executable.latest().expect("compiled");
        let name = variant.report.executor.name();
        executable.generator().set_state(Stream::default());
        let options = CallOptions { machine: Some(machine), ..CallOptions::default() };
        let ran = executable.run_with(&options, &self.views());
        let expected = match &self.expected {
            Meant::Outputs(outputs) => outputs,
            Meant::Fault(fault) => return fault.check(name, ran.map(drop)).map(|()| Vec::new()),
        };
        let outputs = ran.map_err(|error| Failure::new(Kind::Error, format!("{name}: {error}")))?;
        self.execute_in_place(executable, expected, covered)?;
        for segment in &variant.report.segments {
            covered.kernels += segment.kernels.len();
            covered.evaluated += usize::from(segment.evaluator_reason.is_some());
        }
        let mut bytes = Vec::new();
        for (number, (output, expected)) in outputs.iter().zip(expected).enumerate() {
            covered.compare(name, number, expected, &output.view())?;
            self.check_strides(executable, chosen, number, output)?;
            let dense = output.to_array().map_err(|error| Failure::new(Kind::Error, error.to_string()))?;
            bytes.push(dense.as_bytes().to_vec());
        }
        Ok(bytes)
    }

    /// Checks that an output is dense in memory in the order of the plan, unless it is a view; and that it repeats where the
    /// definition does, unless it is a copy of an input.
    fn check_strides(
        &self,
        executable: &Executable,
        chosen: &Chosen,
        number: usize,
        output: &ferrofuse::Output<'_>,
    ) -> Result<(), Failure> {
        let variant = executable.latest().expect("compiled");
        if variant.report.executor == ExecutorKind::Evaluator {
            return Ok(());
        }
        let plan = &variant.plan;
        let Output { alias, order, .. } = &plan.fusion.outputs()[number];
        let wrong = |wanted: String| {
            let executor = variant.report.executor.name();
            let what = format!(
                "{executor}, output {number}: strides should be {wanted}, but are {:?}",
                output.strides()
            );
            Err(Failure::new(Kind::Mismatch, what))
        };
        let wanted = match order.is_empty() {
            true => Layout::dense(output.sizes()),
            false => Layout::ordered(output.sizes(), order.iter().map(|&axis| axis.into())),
        };
        if alias.is_none() && plan.views[number].is_none() && wanted.strides[..] != *output.strides() {
            return wrong(format!("{:?}", wanted.strides));
        }
        // A segmentation of the user's may make a value of an input, although it is a view op.
        if plan.views[number].is_none() && chosen.plan.segmentation.is_some() {
            return Ok(());
        }
        let is_copy = plan.views[number].as_ref().is_some_and(|view| plan.fusion.is_input(view.source));
        let repeated = strides::repeated(&self.definition, &self.views());
        let is_real = |axis: &&u8| output.sizes()[usize::from(**axis)] > 1;
        let full = |axis: &&u8| output.strides()[usize::from(**axis)] != 0;
        match repeated[number].iter().filter(is_real).find(full) {
            Some(axis) if !is_copy && output.sizes().iter().all(|&size| size != 0) => {
                wrong(format!("0 on axis {axis}"))
            }
            _ => Ok(()),
        }
    }

    /// Calls the executable so that it writes in-place outputs to inputs, and compares their contents afterwards. Nothing
    /// else in their memory may have changed.
    fn execute_in_place(
        &self,
        executable: &Executable,
        expected: &[Evaluated],
        covered: &mut Covered,
    ) -> Result<(), Failure> {
        let outputs = self.definition.fusion.outputs();
        if outputs.iter().all(|output| output.alias.is_none()) {
            return Ok(());
        }
        executable.generator().set_state(Stream::default());
        let mut inputs = WritableInputs::new(&self.placed);
        let mut arguments = inputs.arguments();
        let failed = |error: String| Failure::new(Kind::Error, format!("in place: {error}"));
        let given = executable.run_in_place(&mut arguments).map_err(|error| failed(error.to_string()))?;
        let given = given.iter().map(|output| output.to_array().map_err(|error| failed(error.to_string())));
        let given = given.collect::<Result<Vec<Array>, Failure>>()?;
        let mut given = given.iter();
        let mut written: Vec<usize> = Vec::new();
        // The last output first: it may have overwritten what an earlier one wrote to memory that inputs share.
        for (number, (output, expected)) in outputs.iter().zip(expected).enumerate().rev() {
            let Some(input) = output.alias.map(|input| input as usize) else {
                let output = given.next_back().expect("one for each output that is given back");
                covered.compare("in place", number, expected, &output.view())?;
                continue;
            };
            if !written.iter().any(|&later| inputs.share_memory(later, input)) {
                covered.compare("in place", number, expected, &inputs.view(input))?;
            }
            written.push(input);
        }
        if inputs.are_others_intact(&written) {
            return Ok(());
        }
        Err(Failure::new(Kind::Mismatch, "in place: memory changed that is no element of a written input"))
    }
}

/// The executor of a kind, on the tests' GPU if it is a device.
fn opened(kind: ExecutorKind) -> Result<Executor, Failure> {
    Ok(match kind {
        ExecutorKind::Compiled => Executor::Compiled,
        ExecutorKind::Device(_) => gpu().map_err(|error| Failure::new(Kind::Error, error))?.into(),
        ExecutorKind::Interpreter => Executor::Interpreter,
        ExecutorKind::Evaluator => Executor::Evaluator,
    })
}
