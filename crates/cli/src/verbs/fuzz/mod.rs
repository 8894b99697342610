//! `ferrofuse fuzz`: random programs with random choices, every executor against the evaluator, for the requested time.
//!
//! Cases are checked in separate processes (`worker`), so that machine code which crashes or never ends is a failure with
//! its seed and does not end the run (`process`); `workers` keeps them busy and reduces failing programs. Failures are
//! written as definition files.

mod device;
mod process;
mod worker;
mod workers;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use cuda::LibraryPaths;
use ferrofuse::{CompileOptions, DeviceName};
use files::Targets;
use indicatif::{ProgressBar, ProgressStyle};
use ops::call::OpRef;
use serde::Serialize;
use testing::differential::Covered;
use testing::stand_in::use_gpu_of;

use crate::failure::{Failure, Outcome};
use crate::number::{number, positive};
use device::FuzzDevice;
use workers::Checked;

/// Check random programs, with random segmentations and schedules, on every executor.
#[derive(Args)]
pub struct Options {
    /// How long to look
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true, default_value_t = 60)]
    seconds: u64,
    /// The first program; each seed is one
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true, default_value_t = 0)]
    seed: u64,
    /// Check N programs instead of looking for a while
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    cases: Option<u64>,
    /// Write failing programs here, each a definition file
    #[arg(long, value_name = "DIR", default_value = "tests/run")]
    output: PathBuf,
    /// What kernels run on
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: FuzzDevice,
    /// Processes that check; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = positive)]
    jobs: Option<NonZeroUsize>,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Answer requests on stdin, as the processes do that check
    #[arg(long, hide = true)]
    worker: bool,
}

/// The name of the file of a failing case.
fn file_of(seed: u64) -> String {
    format!("found_{seed}.py")
}

/// A failing case.
#[derive(Serialize)]
struct Failed {
    seed: u64,
    what: String,
    file: PathBuf,
}

/// The result of a run.
#[derive(Default, Serialize)]
struct Summary {
    seed: u64,
    cases: u64,
    seconds: f64,
    #[serde(flatten)]
    covered: Covered,
    /// How often each op was called.
    hits: BTreeMap<String, u64>,
    failures: Vec<Failed>,
}

/// Searches for failures and writes the summary.
pub fn run(options: &Options, libraries: &LibraryPaths, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if options.worker {
        if options.device == FuzzDevice::Cuda {
            use_gpu_of(libraries.clone());
        }
        worker::serve(out)?;
        return Ok(Outcome::Fine);
    }
    if options.device == FuzzDevice::Cuda {
        // Without a GPU every program would fail.
        let gpu: DeviceName = "cuda".parse().expect("a kind of device");
        crate::device::open(gpu, libraries, CompileOptions::default())?;
    }
    // A folder that cannot be written to is no news for after the last case.
    Targets::in_folder(&options.output, &[file_of(options.seed)], &[])?;
    let begin = Instant::now();
    let mut summary = Summary { seed: options.seed, ..Summary::default() };
    summary.hits = OpRef::all().map(|op| (op.name().to_owned(), 0)).collect();
    let bar = progress(options);
    let deadline = options.cases.is_none().then(|| begin + Duration::from_secs(options.seconds));
    let end = options.seed.checked_add(options.cases.unwrap_or(0)).filter(|end| *end < u64::MAX);
    let end = end.ok_or_else(|| Failure::user("--seed: seeds are below 18446744073709551615"))?;
    workers::check(
        options.seed..if options.cases.is_some() { end } else { u64::MAX },
        deadline,
        options.jobs.map(NonZeroUsize::get),
        options.device,
        &mut |checked| {
            if let Some(failed) = summary.add(checked, &options.output)? {
                bar.println(format!(
                    "seed {}: {}",
                    failed.seed,
                    failed.what.lines().next().unwrap_or_default()
                ));
                summary.failures.push(failed);
            }
            let place = if options.cases.is_some() { summary.cases } else { begin.elapsed().as_secs() };
            bar.set_position(place);
            bar.set_message(format!("{} programs, {} failures", summary.cases, summary.failures.len()));
            Ok(())
        },
    )?;
    bar.finish_and_clear();
    summary.seconds = begin.elapsed().as_secs_f64();
    summary.failures.sort_by_key(|failed| failed.seed);
    summary.write(options.json, out)?;
    Ok(if summary.failures.is_empty() { Outcome::Fine } else { Outcome::CheckFailed })
}

fn progress(options: &Options) -> ProgressBar {
    let bar = ProgressBar::new(options.cases.unwrap_or(options.seconds));
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {msg}");
    bar.with_style(style.expect("the template is well-formed"))
}

impl Summary {
    /// Counts a case; one that fails is written to a file.
    fn add(&mut self, checked: Checked, folder: &Path) -> Result<Option<Failed>, Failure> {
        let Checked { seed, answer, report } = checked;
        self.cases += 1;
        for op in answer.ops {
            *self.hits.entry(op).or_default() += 1;
        }
        self.covered.add(&answer.covered);
        let (Some((_, failure)), Some(report)) = (answer.failure, report) else { return Ok(None) };
        let name = file_of(seed);
        let file = folder.join(&name);
        let target = Targets::in_folder(folder, &[name], &[])?;
        target.write(|_, out| -> io::Result<()> { out.write_all(report.as_bytes()) })?;
        Ok(Some(Failed { seed, what: failure.to_string(), file }))
    }

    fn write(&self, json: bool, out: &mut dyn Write) -> Result<(), Failure> {
        if json {
            writeln!(out, "{}", serde_json::to_string_pretty(self).expect("a summary is plain data"))?;
            return Ok(());
        }
        writeln!(
            out,
            "{} programs from seed {} in {:.0} s, {} kernels, {} elements compared, largest error {:.3} of its bound",
            self.cases,
            self.seed,
            self.seconds,
            self.covered.kernels,
            self.covered.elements,
            self.covered.worst_ratio
        )?;
        let mut hits: Vec<(&String, &u64)> = self.hits.iter().collect();
        hits.sort_by_key(|(_, hits)| **hits);
        let rarest: Vec<String> = hits.iter().take(8).map(|(op, hits)| format!("{op} {hits}")).collect();
        writeln!(out, "rarest ops: {}", rarest.join(", "))?;
        for failed in &self.failures {
            writeln!(out, "seed {}: {}\n    {}", failed.seed, failed.what, failed.file.display())?;
        }
        writeln!(out, "{} failures", self.failures.len())?;
        Ok(())
    }
}
