//! The differential check: a program run by every executor, with any choices that fit, against the evaluator.
//!
//! Takes a program and what to choose; gives what was covered, or the first failure: a result beyond the bound that the
//! evaluator carries, bits that differ between thread counts, a fault or a race in the interpreter, an error, a panic, a
//! text that does not read back.

mod failure;
mod text;

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use compiler::SegmentPlan;
use compiler::target::Target;
use ferrofuse::{
    ArrayView, CompileOptions, Decision, Definition, Executor, Hints, Machine, MachineOptions, PlanOptions,
    Schedule, compile,
};
use ir::graph::evaluate::{EvaluateOptions, Evaluated, compare, evaluate};
use ir::kernel::{LaneOrder, Options as InterpreterOptions};

use failure::panic_message;
pub use failure::{Failure, Kind};

use crate::random::{Draws, Placed, Program, schedule, segmentation};

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

/// Checks a program.
///
/// # Errors
/// The first failure.
pub fn check(program: &Program, choice: Choice) -> Result<Covered, Failure> {
    without_panic(|| {
        let definition =
            program.define().map_err(|error| Failure::new(Kind::Refused, format!("the definer: {error}")))?;
        let inputs: Vec<Placed> = program.inputs.iter().map(|(_, input)| input.place()).collect();
        let check = Check::new(definition, inputs)?;
        check.run(&chosen(&check.definition, choice)?)
    })
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

fn without_panic(check: impl FnOnce() -> Result<Covered, Failure>) -> Result<Covered, Failure> {
    match catch_unwind(AssertUnwindSafe(check)) {
        Ok(result) => result,
        Err(panic) => Err(Failure::new(Kind::Panic, panic_message(&*panic))),
    }
}

/// What a choice stands for.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The segmentation and the schedules, where they are not the compiler's.
    pub plan: PlanOptions,
    /// The sizes that the compiler decides for.
    pub hints: Hints,
}

/// The segmentation and the schedules that a choice stands for, or the hints from which the compiler chooses them.
///
/// # Errors
/// When the compiler refuses a segmentation that fits.
pub fn chosen(definition: &Definition, choice: Choice) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    let Choice::Random(seed) = choice else { return Ok(chosen) };
    let mut draws = Draws::new(seed);
    if draws.percent(70) {
        chosen.plan.segmentation = Some(segmentation(definition, &mut draws));
    }
    if draws.percent(25) {
        let symbols = definition.graph.symbols().keys();
        let sizes = [0, 1, 2, 7, 64, 1000, 1 << 14, 1 << 20];
        chosen.hints = Hints::new(symbols.map(|symbol| (symbol, draws.one_of(&sizes))));
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

/// Machines of one and of two threads, shared by all checks.
fn machines() -> &'static [Arc<Machine>; 2] {
    static MACHINES: OnceLock<[Arc<Machine>; 2]> = OnceLock::new();
    let machine = |threads| Arc::new(Machine::new(MachineOptions { threads, ..MachineOptions::default() }));
    MACHINES.get_or_init(|| [1, 2].map(|threads| machine(NonZeroUsize::new(threads))))
}

/// A program with its definition, its inputs in memory, and what the evaluator makes of them.
struct Check {
    definition: Definition,
    placed: Vec<Placed>,
    expected: Vec<Evaluated>,
}

impl Check {
    fn new(definition: Definition, placed: Vec<Placed>) -> Result<Check, Failure> {
        text::check(&definition)?;
        let views: Vec<ArrayView<'_>> = placed.iter().map(Placed::view).collect();
        let expected = evaluate(&definition.graph, &definition.fusion, &views, &EvaluateOptions::default())
            .map_err(|error| Failure::new(Kind::Refused, format!("the evaluator: {error}")))?
            .outputs;
        drop(views);
        Ok(Check { definition, placed, expected })
    }

    fn run(&self, chosen: &Chosen) -> Result<Covered, Failure> {
        let mut covered = Covered::default();
        for order in [LaneOrder::Forward, LaneOrder::Reverse] {
            let seed = u64::from(order == LaneOrder::Reverse);
            let interpreter = InterpreterOptions { seed, lanes: order, step_limit: 1 << 26 };
            let options = CompileOptions {
                executor: Executor::Interpreter,
                plan: chosen.plan.clone(),
                hints: chosen.hints.clone(),
                interpreter,
                machine: Arc::clone(&machines()[0]),
            };
            self.execute(options, &mut covered)?;
        }
        let [one, two] = machines().each_ref().map(|machine| CompileOptions {
            executor: Executor::Compiled,
            plan: chosen.plan.clone(),
            hints: chosen.hints.clone(),
            machine: Arc::clone(machine),
            ..CompileOptions::default()
        });
        let alone = self.execute(one, &mut covered)?;
        let shared = self.execute(two, &mut covered)?;
        match alone.iter().zip(&shared).position(|(alone, shared)| alone != shared) {
            None => Ok(covered),
            Some(output) => {
                let what = format!("output {output} has other bits with two threads than with one");
                Err(Failure::new(Kind::Threads, what))
            }
        }
    }

    /// Runs the definition and compares; the bytes of each output.
    fn execute(&self, options: CompileOptions, covered: &mut Covered) -> Result<Vec<Vec<u8>>, Failure> {
        let executor = options.executor;
        let name = executor.name();
        let failed = |error: ferrofuse::Error| Failure::new(Kind::Error, format!("{name}: {error}"));
        let executable = compile(self.definition.clone(), options).map_err(failed)?;
        let views: Vec<ArrayView<'_>> = self.placed.iter().map(Placed::view).collect();
        // Twice, so that what the first call leaves in memory meets the second.
        executable.run(&views).map_err(failed)?;
        let outputs = executable.run(&views).map_err(failed)?;
        let variant = executable.latest();
        if variant.report.executor != executor {
            // The evaluator would agree with itself.
            let notice = variant.report.notice.clone().unwrap_or_default();
            return Err(Failure::new(Kind::Error, format!("{name} was not run: {notice}")));
        }
        for segment in &variant.report.segments {
            covered.kernels += segment.kernels.len();
            covered.evaluated += usize::from(segment.evaluator_reason.is_some());
        }
        let mut bytes = Vec::new();
        for (number, (output, expected)) in outputs.iter().zip(&self.expected).enumerate() {
            compare_output(name, number, expected, &output.view(), covered)?;
            bytes.push(output.as_bytes().to_vec());
        }
        Ok(bytes)
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
        let bounds = bound.as_slice::<f32>();
        covered.unbounded += bounds.iter().filter(|bound| !bound.is_finite()).count();
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
