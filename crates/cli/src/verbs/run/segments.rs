//! `ferrofuse run` on a folder of segments, which run in order as their files define them.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda::LibraryPaths;
use ferrofuse::{
    ArrayView, CallOptions, CodeTarget, CompileOptions, Executable, Generator, Machine, MachineOptions,
    Outputs, SegmentError, SegmentedExecutable, Stream, output_names, segments, table,
};
use serde::Serialize;

use super::output_report::OutputReport;
use super::{Options, WARM_CALLS, compared};
use crate::device;
use crate::failure::{Failure, Outcome};
use crate::inputs::Inputs;
use crate::planning::{self, runnable};
use crate::segment_folder::SegmentFolder;

/// The report of a run of segments.
#[derive(Serialize)]
struct SegmentsReport {
    segments: Vec<String>,
    #[serde(flatten)]
    outputs: OutputReport,
    first_call_ms: f64,
    call_ms: f64,
}

/// Runs a folder, writes the report, and writes outputs where asked.
pub(super) fn run(
    options: &Options,
    machine: MachineOptions,
    libraries: &LibraryPaths,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    options.choices.require_none("segments have their own: edit index_map.json")?;
    let machine = Arc::new(Machine::new(MachineOptions { threads: options.threads, ..machine }));
    let folder = SegmentFolder::read(&options.file)?;
    let file = folder.file.clone();
    let inputs = Inputs::resolve(&file, &options.request)?;
    let (chain, segments) = chain(folder, options, libraries, &machine)?;
    let (definition, names) = (chain.definition(), output_names(chain.definition()));
    let inputs = inputs.make(machine.memory_limit())?;
    let views: Vec<ArrayView<'_>> = inputs.iter().map(|input| input.view()).collect();
    let files = options.files(&names, definition)?;
    let stream = Stream::new(options.request.seed);
    let calls = if options.time { 1 + WARM_CALLS } else { 1 };
    let (outputs, first, best) = called(&chain, calls, stream, &views)?;
    let comparisons = match options.check {
        true => Some(compared(definition, &views, stream, &outputs, &machine)?),
        false => None,
    };
    if let Some(files) = &files {
        files.write(&outputs)?;
    }
    let outputs = OutputReport::new(&names, &outputs, comparisons.as_deref(), files.as_ref());
    let [first_call_ms, call_ms] = [first, best].map(|time| time.as_secs_f64() * 1e3);
    let report = SegmentsReport { segments, outputs, first_call_ms, call_ms };
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report).expect("a report is plain data"))?;
    } else {
        report.write(options.time.then_some([first, best]), out)?;
    }
    Ok(if report.outputs.matches() { Outcome::Fine } else { Outcome::CheckFailed })
}

/// The segments of a folder, ready to run, and their names.
fn chain(
    folder: SegmentFolder,
    options: &Options,
    libraries: &LibraryPaths,
    machine: &Arc<Machine>,
) -> Result<(SegmentedExecutable, Vec<String>), Failure> {
    let file = folder.file.clone();
    let planned = planning::cut(&file, &options.request, &folder.options, CodeTarget::HOST, machine)?;
    let made = segments(&file.definition, &planned.plan, &planned.hints).map_err(in_segments)?;
    let edited = folder.edited(made)?;
    let compile_options = CompileOptions {
        machine: Arc::clone(machine),
        target: runnable(options.target, machine)?,
        generator: Arc::new(Generator::new(options.request.seed)),
        ..CompileOptions::default()
    };
    let open = if options.check { device::open_for_checks } else { device::open };
    let compile_options = open(options.device, libraries, compile_options)?;
    let names = edited.iter().map(|segment| segment.name.clone()).collect();
    let chain = Executable::from_segments(file.definition.clone(), &edited, compile_options)
        .map_err(Failure::of_call)?;
    Ok((chain, names))
}

/// The outputs of `calls` calls, the time of the first call, and the best time.
fn called<'a>(
    chain: &SegmentedExecutable,
    calls: usize,
    stream: Stream,
    views: &[ArrayView<'a>],
) -> Result<(Outputs<'a>, Duration, Duration), Failure> {
    let options = CallOptions { stream: Some(stream), ..CallOptions::default() };
    let timed = || {
        let begin = Instant::now();
        chain.run_with(&options, views).map(|outputs| (outputs, begin.elapsed())).map_err(Failure::of_call)
    };
    let (outputs, first) = timed()?;
    let mut best = first;
    for _ in 1..calls {
        best = best.min(timed()?.1);
    }
    Ok((outputs, first, best))
}

impl SegmentsReport {
    /// Writes it, with the times of the first call and the best one.
    fn write(&self, times: Option<[Duration; 2]>, out: &mut dyn Write) -> Result<(), Failure> {
        writeln!(out, "{}", self.segments.join(", "))?;
        if let Some([first, best]) = times {
            writeln!(out, "first call {}, best call {}", table::time(first), table::time(best))?;
        }
        writeln!(out)?;
        Ok(self.outputs.write(out)?)
    }
}

fn in_segments(error: SegmentError) -> Failure {
    match error {
        SegmentError::Plan(error) => Failure::of_call(error),
        error => Failure::user(error),
    }
}
