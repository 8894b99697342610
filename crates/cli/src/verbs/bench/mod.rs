//! `ferrofuse bench`: the standard workloads beside a copy, at their own or many sizes; or how they are cut into segments.

mod bandwidth;
mod calibrate;
mod cases;
mod gpu_bandwidth;
mod measure;
mod measure_gpu;
mod moves;
mod plot;
mod segments;
mod workloads;

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use cuda::LibraryPaths;
use ferrofuse::{CodeTarget, CompileOptions, CudaDevice, DeviceName, Machine, MachineOptions, table};
use files::Targets;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::device;
use crate::failure::{Failure, Outcome};
use crate::inputs::size;
use crate::number::threads;
use crate::planning::runnable;
pub use calibrate::calibrate;
use cases::Case;
use measure::{Row, measure};
use measure_gpu::measure_on_gpu;

/// Bandwidth of the standard workloads as a fraction of a copy.
#[derive(Args)]
pub struct Options {
    /// Workloads; without any, all of them
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Other sizes: 64 to 65536 columns of 16 Mi elements, and 1 to 64 rows of 4096; without workloads, four of them
    #[arg(long)]
    sweep: bool,
    /// The value of a size symbol instead of the workload's own, as in `i0=64`
    #[arg(long = "size", value_name = "SYMBOL=N", value_parser = size, conflicts_with = "sweep")]
    sizes: Vec<(String, i64)>,
    /// The same inputs in each call, so that those that fit in a cache are found there; as the copy's are
    #[arg(long)]
    warm: bool,
    /// Nothing run: how each workload is cut into segments, and what that should cost
    #[arg(long, conflicts_with_all = ["sweep", "svg", "warm"])]
    segments: bool,
    /// Measure what the cost model has to know of this CPU, and keep it where `doctor` says
    #[arg(long, conflicts_with_all = ["ids", "sweep", "sizes", "warm", "segments", "svg", "device", "target", "json"])]
    pub calibrate: bool,
    /// Draw the fractions into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// What to run on: cpu, cuda, cuda:N
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: DeviceName,
    /// The CPU to make code for: host, x86-64, avx2, avx512; with --segments any machine, such as h200
    #[arg(long, value_name = "NAME", default_value = "host")]
    target: CodeTarget,
    /// Number of threads; without it, all that the process may use
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
    /// One JSON object a line instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures or plans, and prints; with `json` each row as soon as it is known.
pub fn run(
    options: &Options,
    given: MachineOptions,
    libraries: &LibraryPaths,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let machine = Arc::new(Machine::new(MachineOptions { threads: options.threads, ..given }));
    let cases = cases::choose(&options.ids, options.sweep, &options.sizes)?;
    if options.segments {
        options.require_no_device()?;
        let rows = each(&cases, options.json, out, |case| segments::plan(case, &machine, options.target))?;
        return print(options.json, &segments::lines(&rows), out);
    }
    let target = runnable(options.target, &machine)?;
    let compile_options = CompileOptions { machine: Arc::clone(&machine), ..CompileOptions::default() };
    let compile_options = device::open(options.device, libraries, compile_options)?;
    let picture: Vec<&Path> = options.svg.iter().map(PathBuf::as_path).collect();
    let picture = Targets::new(&picture, &[])?;
    let rows = each(&cases, options.json, out, |case| match compile_options.executor.device() {
        None => measure(case, &machine, target, options.warm),
        Some(device) => {
            let gpu = device.downcast::<CudaDevice>();
            let no_gpu =
                || Failure::user(format!("nothing is measured on devices of the kind `{}`", device.kind()));
            measure_on_gpu(case, &gpu.ok_or_else(no_gpu)?, &compile_options, options.warm)
        }
    })?;
    picture.write(|_, out| -> io::Result<()> { out.write_all(plot::svg(&rows).as_bytes()) })?;
    print(options.json, &lines(&rows), out)
}

impl Options {
    /// Rejects a device where nothing is run.
    fn require_no_device(&self) -> Result<(), Failure> {
        match self.device {
            DeviceName::Cpu => Ok(()),
            _ => Err(Failure::user_with_help(
                "--device: --segments runs nothing",
                "--target NAME says what machine to plan for, as h200",
            )),
        }
    }
}

/// A row of each case, under a progress bar.
fn each<R: Serialize>(
    cases: &[Case],
    json: bool,
    out: &mut dyn Write,
    row: impl Fn(&Case) -> Result<R, Failure>,
) -> Result<Vec<R>, Failure> {
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} {msg}");
    let bar = ProgressBar::new(cases.len() as u64).with_style(style.expect("the template is well-formed"));
    let mut rows = Vec::new();
    for case in cases {
        bar.set_message(case.to_string());
        let row = row(case)?;
        if json {
            writeln!(out, "{}", serde_json::to_string(&row).expect("a row is plain data"))?;
            out.flush()?;
        }
        rows.push(row);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(rows)
}

fn print(json: bool, lines: &[Vec<String>], out: &mut dyn Write) -> Result<Outcome, Failure> {
    if !json {
        write!(out, "{}", table::columns(lines))?;
    }
    Ok(Outcome::Fine)
}

fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let header = [
        "workload",
        "size",
        "ms",
        "GB/s",
        "fraction",
        "of GB/s",
        "kernels",
        "traffic",
        "compile ms",
        "first ms",
        "call us",
    ];
    let line = |row: &Row| {
        vec![
            row.workload.clone(),
            row.size(),
            format!("{:.3}", row.ms),
            format!("{:.1}", row.gbps),
            format!("{:.2}", row.fraction),
            format!("{:.1}", row.peer_gbps()),
            row.kernels.to_string(),
            format!("{:.3}", row.traffic_ratio),
            format!("{:.1}", row.compile_ms),
            format!("{:.1}", row.first_call_ms),
            format!("{:.1}", row.call_us),
        ]
    };
    [vec![header.map(str::to_owned).to_vec()], rows.iter().map(line).collect()].concat()
}
