//! `ferrofuse run`: a definition compiled, run on real data, checked against the evaluator, timed.

mod output_report;
mod outputs;
mod report;
mod segments;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use compiler::PlanError;
use cuda::LibraryPaths;
use ferrofuse::{
    ArrayView, Blame, CallReport, CodeTarget, CompileOptions, CpuTarget, Definition, DeviceName, Error,
    Executable, File, Generator, Hints, Interrupt, Machine, MachineOptions, Outputs, PlanOptions, Stream,
    check, of_plan, output_names,
};
use reference::evaluate::Comparison;

use crate::definition;
use crate::device;
use crate::failure::{Failure, Outcome};
use crate::given::GivenDefinition;
use crate::inputs::{Inputs, Request};
use crate::number::threads;
use crate::planning::{self, Choices, runnable};
use output_report::OutputReport;
use outputs::OutputFiles;
use report::Report;
use segments::Chain;

/// Calls that `--time` makes after the first.
const WARM_CALLS: usize = 4;

/// Compile a definition and run it on data.
#[derive(Args)]
pub struct Options {
    /// The definition file, or a folder that `ferrofuse segment` wrote
    file: PathBuf,
    #[command(flatten)]
    request: Request,
    /// Write the outputs here: NAME.npy, or outputs.safetensors for what NumPy lacks
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Compare each output with the evaluator's, within the error bound that it carries
    #[arg(long)]
    check: bool,
    /// Time the kernels and the compilation
    #[arg(long)]
    time: bool,
    /// Number of threads, which compile and run; without it, all that the process may use
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
    /// What runs the kernels: cpu, cuda, cuda:N
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: DeviceName,
    /// The CPU to make code for, one whose code runs here: host, x86-64, avx2, avx512
    #[arg(long, value_name = "NAME", default_value = "host")]
    target: CodeTarget,
    #[command(flatten)]
    choices: Choices,
    /// One JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs, writes the report, and writes outputs where asked.
pub fn run(
    options: &Options,
    machine: MachineOptions,
    libraries: &LibraryPaths,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    if !matches!(options.device, DeviceName::Cpu) && options.target != CodeTarget::HOST {
        return Err(Failure::user("--target is for the CPU: code for a GPU is for the one that runs it"));
    }
    let machine = Arc::new(Machine::new(MachineOptions { threads: options.threads, ..machine }));
    let chosen = GivenDefinition::read(&options.file, &options.choices)?;
    let file = chosen.file().clone();
    let target = runnable(options.target, &machine)?;
    let names = output_names(&file.definition);
    let files = options.files(&names, &file.definition)?;
    let inputs = Inputs::resolve(&file, &options.request)?;
    let hints = Hints::new(inputs.facts().0.known());
    let inputs = inputs.make(machine.memory_limit())?;
    let views: Vec<ArrayView<'_>> = inputs.iter().map(|input| input.view()).collect();
    let (ran, calls) = match chosen {
        GivenDefinition::Whole(file, plan) => {
            let executable = options.executable(&file, &views, plan, target, libraries, &machine)?;
            let calls = called(|| executable.run_timed(&views), options.time);
            (
                Ran::Whole(Box::new(executable)),
                calls.map_err(|error| definition::failure_of_call(&options.file, error))?,
            )
        }
        GivenDefinition::Segments(given) => {
            let chain = Chain::new(given, options, libraries, &machine)?;
            let calls = chain.call(&views, options)?;
            (Ran::Segments(Box::new(chain)), calls)
        }
    };
    let comparisons = match options.check {
        true => Some(compared(
            &file.definition,
            &views,
            Stream::new(options.request.seed),
            &calls.outputs,
            &machine,
        )?),
        false => None,
    };
    if let Some(files) = &files {
        files.write(&calls.outputs)?;
    }
    let outputs = OutputReport::new(&names, &calls.outputs, comparisons.as_deref(), files.as_ref());
    let report = Report::new(&ran, &file.definition, &hints, &calls, outputs);
    report.tell();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report).expect("a report is plain data"))?;
    } else {
        report.write(options.time, out)?;
    }
    Ok(if report.matches() { Outcome::Fine } else { Outcome::CheckFailed })
}

/// What ran.
enum Ran {
    Whole(Box<Executable>),
    Segments(Box<Chain>),
}

impl Options {
    /// The whole definition, compiled for these inputs.
    fn executable(
        &self,
        file: &File,
        views: &[ArrayView<'_>],
        plan: PlanOptions,
        target: CpuTarget,
        libraries: &LibraryPaths,
        machine: &Arc<Machine>,
    ) -> Result<Executable, Failure> {
        let hints = Hints::new(Inputs::resolve(file, &self.request)?.facts().0.known());
        let compile_options = CompileOptions {
            machine: Arc::clone(machine),
            hints,
            target,
            plan,
            generator: Arc::new(Generator::new(self.request.seed)),
            ..CompileOptions::default()
        };
        let open = if self.check { device::open_for_checks } else { device::open };
        let compile_options = open(self.device, libraries, compile_options)?;
        let executable = Executable::for_inputs(file.definition.clone(), compile_options, views);
        executable.map_err(|error| match error {
            Error::Plan(PlanError::Segmentation(_)) => Failure::user(of_plan(&file.definition, error)),
            error => Failure::of_call(error),
        })
    }
    /// The files that outputs go to, if they go to files.
    fn files(&self, names: &[String], definition: &Definition) -> Result<Option<OutputFiles>, Failure> {
        let inputs = planning::files(&self.file, &self.request, &self.choices);
        let folder = self.output.as_ref();
        folder.map(|folder| OutputFiles::new(folder, names, definition, &inputs)).transpose()
    }
}

/// The calls of a run.
struct Calls<'a> {
    /// The outputs of the first.
    outputs: Outputs<'a>,
    /// Time of the first, with compilation for these inputs' strides.
    first: Duration,
    /// For each step its best time, and the best total.
    best: CallReport,
}

/// One call, or with `timed` several.
fn called<'a>(
    call: impl Fn() -> Result<(Outputs<'a>, CallReport), Error>,
    timed: bool,
) -> Result<Calls<'a>, Error> {
    let (outputs, mut best) = call()?;
    let first = best.total;
    for _ in 0..if timed { WARM_CALLS } else { 0 } {
        let (_, again) = call()?;
        best.total = best.total.min(again.total);
        for (best, again) in best.steps.iter_mut().zip(again.steps) {
            best.time = best.time.min(again.time);
        }
    }
    Ok(Calls { outputs, first, best })
}

/// Each output against the evaluator's.
fn compared(
    definition: &Definition,
    views: &[ArrayView<'_>],
    stream: Stream,
    outputs: &Outputs<'_>,
    machine: &Machine,
) -> Result<Vec<Comparison>, Failure> {
    let viewed = outputs.iter().map(|output| output.view());
    let compared = check::checked(definition, views, stream, viewed, machine, &Interrupt::default());
    compared.map_err(|error| match error.blame() {
        Blame::Machine => Failure::machine(format!("--check: {error}")),
        Blame::User => Failure::user(format!("--check: {error}")),
    })
}
