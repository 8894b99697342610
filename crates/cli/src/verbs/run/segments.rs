//! `ferrofuse run` on a folder of segments: one after the other, as their files define them.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use ferrofuse::{
    ArrayView, CallOptions, CodeTarget, CompileOptions, Generator, Machine, MachineOptions, SegmentError,
    Stream, from_segments, output_names, segments, table,
};
use serde::Serialize;

use super::output_report::OutputReport;
use super::{Options, WARM_CALLS, compared, failure};
use crate::failure::{Failure, Outcome};
use crate::inputs::Inputs;
use crate::planning::{self, runnable};
use crate::segment_folder::SegmentFolder;

/// What a run of segments did.
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
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    options.choices.require_none("segments have their own: edit index_map.json")?;
    let folder = SegmentFolder::read(&options.file)?;
    let machine = Arc::new(Machine::new(MachineOptions { threads: options.threads, ..machine }));
    let file = folder.file.clone();
    let names = output_names(&file.definition);
    let inputs = Inputs::resolve(&file, &options.request)?;
    let planned = planning::planned(&file, &options.request, &folder.options, CodeTarget::HOST, &machine)?;
    let made = segments(&file.definition, &planned.plan, &planned.hints).map_err(in_segments)?;
    let edited = folder.edited(made)?;
    let compile_options = CompileOptions {
        machine: Arc::clone(&machine),
        target: runnable(options.target, &machine)?,
        generator: Arc::new(Generator::new(options.request.seed)),
        ..CompileOptions::default()
    };
    let chain = from_segments(&file.definition, &edited, compile_options).map_err(in_segments)?;
    let inputs = inputs.make(machine.memory_limit())?;
    let views: Vec<ArrayView<'_>> = inputs.iter().map(|input| input.view()).collect();
    let files = options.files(&names, &file.definition)?;
    let stream = Stream::new(options.request.seed);
    let call_options = CallOptions { stream: Some(stream), ..CallOptions::default() };
    let timed = || {
        let begin = Instant::now();
        chain.run_with(&call_options, &views).map(|outputs| (outputs, begin.elapsed())).map_err(failure)
    };
    let (outputs, first) = timed()?;
    let mut best = first;
    for _ in 0..if options.time { WARM_CALLS } else { 0 } {
        best = best.min(timed()?.1);
    }
    let comparisons = match options.check {
        true => Some(compared(&file.definition, &views, stream, &outputs, &machine)?),
        false => None,
    };
    if let Some(files) = &files {
        files.write(&outputs)?;
    }
    let report = SegmentsReport {
        segments: edited.iter().map(|segment| segment.name.clone()).collect(),
        outputs: OutputReport::new(&names, &outputs, comparisons.as_deref(), files.as_ref()),
        first_call_ms: first.as_secs_f64() * 1e3,
        call_ms: best.as_secs_f64() * 1e3,
    };
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report).expect("a report is plain data"))?;
    } else {
        writeln!(out, "{}", report.segments.join(", "))?;
        if options.time {
            writeln!(out, "first call {}, best call {}", table::time(first), table::time(best))?;
        }
        writeln!(out)?;
        report.outputs.write(out)?;
    }
    Ok(if report.outputs.matches() { Outcome::Fine } else { Outcome::CheckFailed })
}

fn in_segments(error: SegmentError) -> Failure {
    match error {
        SegmentError::Plan(error) => failure(error),
        error => Failure::user(error),
    }
}
