//! The `ferrofuse` binary: reads options, passes them to a verb, shows how it ended.
//!
//! Results go to stdout, everything else to stderr. Exit codes: 0 fine, 1 a check failed, 2 the user's mistake, 3 the
//! machine's. `verbs` (one file each) · `definition` (definition files) · `device` (runs kernels) · `gpu_code` (their
//! resources on a GPU) · `arrays` (files of arrays) · `inputs` (data to run on) · `number` (whole numbers as options) ·
//! `planning` (the user's choices) · `given` (what they are for) · `segment_folder` (folders of segments) · `failure` ·
//! `environment`.

mod arrays;
mod definition;
mod device;
mod environment;
mod failure;
mod given;
mod gpu_code;
mod inputs;
mod number;
mod planning;
mod segment_folder;
mod verbs;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};

use failure::{Failure, Outcome, tell};
use ferrofuse::{CpuFacts, Machine, MachineOptions, ObjectCache};
use verbs::{bench, cache, doctor, emit, explain, fuzz, ops, run, segment, test};

/// A fusion compiler for tensor programs.
#[derive(Parser)]
#[command(name = "ferrofuse", version, about = "A fusion compiler for tensor programs", long_about = None)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Where libLLVM is; `none` does without
    #[arg(long, global = true, value_name = "PATH", hide = true)]
    libllvm: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Verb {
    Run(run::Options),
    Explain(explain::Options),
    Segment(segment::Options),
    Emit(emit::Options),
    Ops(ops::Options),
    Bench(bench::Options),
    Cache(cache::Options),
    Doctor(doctor::Options),
    Test(test::Options),
    Fuzz(fuzz::Options),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(words) => return show(&words),
    };
    // A suggested command should be on one line, to be copied. Setting the hook fails only if there already is one, and this
    // is the first.
    let _ = miette::set_hook(Box::new(|_| {
        Box::new(miette::MietteHandlerOpts::new().wrap_lines(false).context_lines(2).build())
    }));
    let mut out = BufWriter::new(io::stdout().lock());
    let outcome = perform(cli, &mut out).and_then(|outcome| Ok(out.flush().map(|()| outcome)?));
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(failure) => {
            // Results before the failure are still results; the failure is reported in any case.
            let _ = out.flush();
            failure.show()
        }
    }
}

/// Shows help, the version, or an error in the command line.
fn show(words: &clap::Error) -> ExitCode {
    let shown = words.print().and_then(|()| io::stdout().flush());
    match shown {
        Err(error) if !words.use_stderr() => Failure::from(error).show(),
        _ => ExitCode::from(if words.use_stderr() { 2 } else { 0 }),
    }
}

fn perform(cli: Cli, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let llvm = environment::llvm_options(cli.libllvm);
    let perf_map = environment::perf_map();
    let nvidia = environment::cuda_libraries();
    let machine = || -> Result<MachineOptions, Failure> {
        let (llvm, facts) = (llvm.clone(), facts()?);
        Ok(MachineOptions { llvm, cache: cache(), facts, perf_map, ..MachineOptions::default() })
    };
    match cli.verb {
        Verb::Run(options) => run::run(&options, machine()?, &nvidia, out),
        Verb::Explain(options) => explain::run(&options, &Arc::new(Machine::new(machine()?)), &nvidia, out),
        Verb::Segment(options) => segment::run(&options, &Machine::new(machine()?), out),
        Verb::Emit(options) => emit::run(&options, &Arc::new(Machine::new(machine()?)), out),
        Verb::Ops(options) => ops::run(&options, out),
        // Compile time is measured, so the cache is not used.
        Verb::Bench(options) => {
            let machine = MachineOptions { llvm, perf_map, ..MachineOptions::default() };
            if options.calibrate {
                return bench::calibrate(&options, machine, environment::facts_path().as_deref(), out);
            }
            bench::run(&options, MachineOptions { facts: facts()?, ..machine }, &nvidia, out)
        }
        Verb::Cache(options) => cache::run(&options, environment::cache_options(), out),
        Verb::Doctor(options) => {
            let kept = doctor::Kept { facts: environment::facts_path(), cache: environment::cache_options() };
            doctor::run(&options, &llvm, &nvidia, kept, out)
        }
        Verb::Fuzz(options) => fuzz::run(&options, &nvidia, out),
        Verb::Test(options) => test::run(&options, environment::bless(), out),
    }
}

/// The measured facts about the machine, if there are any.
fn facts() -> Result<Option<CpuFacts>, Failure> {
    let Some(path) = environment::facts_path() else { return Ok(None) };
    CpuFacts::read(&path).map_err(Failure::user)
}

/// The cache of machine code. If it cannot be used, reports that and does without.
fn cache() -> Option<Arc<ObjectCache>> {
    let options = environment::cache_options()?;
    let folder = options.folder.clone();
    let opened = ObjectCache::open(options);
    opened
        .inspect_err(|error| {
            tell(format_args!("compiled kernels are not kept: {}: {error}", folder.display()))
        })
        .map(Arc::new)
        .ok()
}
