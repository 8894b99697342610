//! The differential check: a program run by every executor, with any choices that fit, against the evaluator.
//!
//! Takes a program and what to choose; gives what was covered, or the first failure: a result beyond the bound that the
//! evaluator carries, another answer than its error where an index is out of range, bits that differ between thread counts, a fault or a race in the interpreter, an error, a panic, a
//! text that does not read back.

mod failure;
mod faults;
mod text;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use compiler::SegmentPlan;
use compiler::target::Target;
use ferrofuse::{
    Argument, ArrayView, CompileOptions, Decision, Definition, Executable, Executor, Hints, Machine,
    MachineOptions, PlanOptions, Schedule, Side, Stream,
};
use ir::array::Layout;
use ir::graph::Output;
use ir::graph::evaluate::{EvaluateError, EvaluateOptions, Evaluated, compare, evaluate};
use ir::kernel::{LaneOrder, Options as InterpreterOptions};

use failure::panic_message;
pub use failure::{Failure, Kind};
use faults::ExpectedFault;

use crate::random::{Draws, Placed, Program, Writable, schedule, segmentation};

/// Who chooses segments and schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The compiler.
    Default,
    /// Chance, from this seed.
    Random(u64),
}

/// What one check covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Covered {
    /// Kernels that were run.
    pub kernels: usize,
    /// Segments that the evaluator ran.
    pub evaluated: usize,
    /// Elements that were compared.
    pub elements: usize,
    /// Elements of which the bound is not finite, so that anything matches.
    pub unbounded: usize,
    /// The largest error over its bound.
    pub worst_ratio: f64,
}

impl Covered {
    /// This and another check together.
    pub fn add(&mut self, other: &Covered) {
        self.kernels += other.kernels;
        self.evaluated += other.evaluated;
        self.elements += other.elements;
        self.unbounded += other.unbounded;
        self.worst_ratio = self.worst_ratio.max(other.worst_ratio);
    }
}

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

fn without_panic<T>(check: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(result) => result,
        Err(panic) => Err(Failure::new(Kind::Panic, panic_message(&*panic))),
    }
}

/// What a choice stands for.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The segmentation and the schedules, where they are not the compiler's.
    pub plan: PlanOptions,
    /// The sizes that the compiler decides for.
    pub hints: Hints,
    /// In which order the interpreter takes blocks and lanes.
    pub interpreter: InterpreterOptions,
}

impl Default for Chosen {
    fn default() -> Chosen {
        let interpreter = InterpreterOptions { seed: 0, lanes: LaneOrder::Forward, step_limit: 1 << 26 };
        Chosen { plan: PlanOptions::default(), hints: Hints::default(), interpreter }
    }
}

/// The segmentation and the schedules that a choice stands for, or the hints from which the compiler chooses them.
///
/// # Errors
/// When the compiler refuses a segmentation that fits.
pub fn chosen(definition: &Definition, choice: Choice) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    let Choice::Random(seed) = choice else { return Ok(chosen) };
    let mut draws = Draws::new(seed);
    chosen.interpreter.seed = seed;
    chosen.interpreter.lanes = draws.one_of(&[LaneOrder::Forward, LaneOrder::Reverse]);
    if draws.percent(70) {
        chosen.plan.segmentation = Some(segmentation(definition, &mut draws));
    }
    if draws.percent(25) {
        let symbols = definition.graph.symbols().keys();
        let sizes = [0, 1, 2, 7, 64, 1000, 1 << 14, 1 << 20];
        // Arrays of a block are as large as the hints make its chunks, and the interpreter keeps them.
        let mut room = 1 << 20;
        chosen.hints = Hints::new(symbols.map(|symbol| {
            let size = draws.one_of(&sizes).min(room);
            room /= size.max(1);
            (symbol, size)
        }));
    } else {
        chosen.plan.schedules = schedules(definition, &chosen.plan, &mut draws)?;
    }
    Ok(chosen)
}

/// A random schedule for each segment that has a kernel.
fn schedules(
    definition: &Definition,
    options: &PlanOptions,
    draws: &mut Draws,
) -> Result<Vec<(usize, Schedule)>, Failure> {
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let layouts = vec![ferrofuse::Layout::Dense; fusion.inputs().len()];
    let target = Target::cpu(256);
    let plan = compiler::plan(graph, fusion, &layouts, &target, &Hints::default(), options)
        .map_err(|error| Failure::new(Kind::Error, format!("a segmentation that fits: {error}")))?;
    let drawn = |(number, segment): (usize, &SegmentPlan)| match &segment.decision {
        Decision::Kernels(kernels) => Some((number, schedule(&kernels.witness, draws))),
        Decision::Evaluate { .. } | Decision::Library(_) => None,
    };
    Ok(plan.segments.iter().enumerate().filter_map(drawn).collect())
}

/// Machines of one and of two threads, shared by all checks. Buffers of the first end at pages that fault, those of the
/// second begin at them.
fn machines() -> &'static [Arc<Machine>; 2] {
    static MACHINES: OnceLock<[Arc<Machine>; 2]> = OnceLock::new();
    let machine = |(threads, side)| {
        let threads = NonZeroUsize::new(threads);
        Arc::new(Machine::new(MachineOptions { threads, guard: Some(side), ..MachineOptions::default() }))
    };
    MACHINES.get_or_init(|| [(1, Side::After), (2, Side::Before)].map(machine))
}

/// A program with its definition, its inputs in memory, and what the evaluator makes of them: ready for any choices.
pub struct Check {
    definition: Definition,
    placed: Vec<Placed>,
    expected: Meant,
}

/// What the evaluator makes of a program on its inputs.
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
    /// When it is no program, or its text does not read back.
    pub fn of(program: &Program) -> Result<Check, Failure> {
        without_panic(|| {
            let definition = program
                .define()
                .map_err(|error| Failure::new(Kind::Refused, format!("the definer: {error}")))?;
            Check::new(definition, program.inputs.iter().map(|(_, input)| input.place()).collect())
        })
    }

    /// Runs it with these choices.
    ///
    /// # Errors
    /// The first failure.
    pub fn choose(&self, choice: Choice) -> Result<Covered, Failure> {
        without_panic(|| self.run(&chosen(&self.definition, choice)?))
    }

    fn new(definition: Definition, placed: Vec<Placed>) -> Result<Check, Failure> {
        text::check(&definition)?;
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let options = EvaluateOptions::default();
        let expected = match evaluate(&definition.graph, &definition.fusion, &views, &options) {
            Ok(evaluation) => Meant::Outputs(evaluation.outputs),
            Err(EvaluateError::Index { .. } | EvaluateError::Input(_)) => {
                Meant::Fault(ExpectedFault::new(&definition, &views)?)
            }
            Err(error) => return Err(Failure::new(Kind::Refused, format!("the evaluator: {error}"))),
        };
        drop(views);
        Ok(Check { definition, placed, expected })
    }

    /// The kernel interpreter, then machine code on one and on two threads.
    fn run(&self, chosen: &Chosen) -> Result<Covered, Failure> {
        let mut covered = Covered::default();
        let [one, two] = machines();
        self.execute(&self.compiled(Executor::Interpreter, chosen)?, one, &mut covered)?;
        let executable = self.compiled(Executor::Compiled, chosen)?;
        let alone = self.execute(&executable, one, &mut covered)?;
        let shared = self.execute(&executable, two, &mut covered)?;
        match alone.iter().zip(&shared).position(|(alone, shared)| alone != shared) {
            None => Ok(covered),
            Some(output) => {
                let what = format!("output {output} has other bits with two threads than with one");
                Err(Failure::new(Kind::Threads, what))
            }
        }
    }

    /// The definition made ready for an executor.
    fn compiled(&self, executor: Executor, chosen: &Chosen) -> Result<Executable, Failure> {
        let options = CompileOptions {
            executor,
            plan: chosen.plan.clone(),
            hints: chosen.hints.clone(),
            interpreter: chosen.interpreter,
            machine: Arc::clone(&machines()[0]),
            generator: Arc::default(),
        };
        let executable = Executable::for_inputs(self.definition.clone(), options, &self.views())
            .map_err(|error| Failure::new(Kind::Error, format!("{}: {error}", executor.name())))?;
        let report = &executable.latest().report;
        if report.executor != executor {
            // The evaluator would agree with itself.
            let notice = report.notice.clone().unwrap_or_default();
            let what = format!("{} was not run: {notice}", executor.name());
            return Err(Failure::new(Kind::Error, what));
        }
        Ok(executable)
    }

    fn views(&self) -> Vec<ArrayView<'_>> {
        self.placed.iter().map(Placed::view).collect()
    }

    /// Runs the definition and compares; the bytes of each output.
    fn execute(
        &self,
        executable: &Executable,
        machine: &Machine,
        covered: &mut Covered,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let variant = executable.latest();
        let name = variant.report.executor.name();
        executable.generator().set_state(Stream::default());
        let ran = executable.run_on(machine, &self.views());
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
            compare_output(name, number, expected, &output.view(), covered)?;
            self.check_order(name, number, output)?;
            bytes.push(output.as_bytes().to_vec());
        }
        Ok(bytes)
    }

    /// An output lies in memory without gaps in the order that the definition asks for.
    fn check_order(&self, executor: &str, number: usize, output: &ferrofuse::Tensor) -> Result<(), Failure> {
        let Output { alias, order, .. } = &self.definition.fusion.outputs()[number];
        let wanted = match order.is_empty() {
            true => Layout::dense(output.sizes()),
            false => Layout::ordered(output.sizes(), order.iter().map(|&axis| axis.into())),
        };
        if alias.is_some() || wanted.strides[..] == *output.strides() {
            return Ok(());
        }
        let what = format!(
            "{executor}, output {number}: strides should be {:?}, but are {:?}",
            wanted.strides,
            output.strides()
        );
        Err(Failure::new(Kind::Mismatch, what))
    }

    /// Calls the executable so that it writes to inputs, where it is to, and compares what they hold then.
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
        let mut placed: Vec<Writable> = self.placed.iter().map(Placed::writable).collect();
        let arguments: Vec<Argument<'_>> = placed.iter_mut().map(|input| input.view_mut().into()).collect();
        let given = executable.run_in_place(&arguments);
        let given = given.map_err(|error| Failure::new(Kind::Error, format!("in place: {error}")))?;
        drop(arguments);
        let mut given = given.iter();
        for (number, (output, expected)) in outputs.iter().zip(expected).enumerate() {
            let actual = match output.alias {
                Some(input) => placed[input as usize].view(),
                None => given.next().expect("one for each output that is given back").view(),
            };
            compare_output("in place", number, expected, &actual, covered)?;
        }
        Ok(())
    }
}

fn compare_output(
    executor: &str,
    number: usize,
    expected: &Evaluated,
    actual: &ArrayView<'_>,
    covered: &mut Covered,
) -> Result<(), Failure> {
    let found = compare(expected, actual)
        .map_err(|error| Failure::new(Kind::Mismatch, format!("{executor}, output {number}: {error}")))?;
    covered.elements += expected.value.numel();
    covered.worst_ratio = covered.worst_ratio.max(found.worst_ratio);
    if let Some(bound) = &expected.bound
        && let Ok(bound) = bound.view().to_array()
    {
        // A bound is an f32, that of a complex number one for each part.
        let bounds =
            bound.as_bytes().chunks_exact(4).map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap()));
        covered.unbounded += bounds.filter(|bound| !bound.is_finite()).count();
    }
    if found.matches() {
        return Ok(());
    }
    let what = format!(
        "{executor}, output {number} at {:?}: expected {:?}, got {:?}, {} times the bound; {} of {} elements are beyond it",
        found.at,
        found.expected.map(|scalar| scalar.to_string()),
        found.got.map(|scalar| scalar.to_string()),
        found.worst_ratio,
        found.mismatches,
        expected.value.numel()
    );
    Err(Failure::new(Kind::Mismatch, what))
}
