//! `ferrofuse explain`: the segments of a definition, what they move, and why each boundary is there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use ferrofuse::{
    CodeTarget, Explanation, File, Machine, Segmentation, explain, greedy, html, svg, table, unfused,
};
use files::Targets;
use ir::graph::{Fusion, Graph, Tasks};
use serde::Serialize;

use crate::definition;
use crate::failure::{Failure, Outcome};
use crate::inputs::Request;
use crate::planning::{self, Choices};

/// Say which segments a definition becomes, what they move and why; runs nothing.
#[derive(Args)]
pub struct Options {
    /// The definition file
    file: PathBuf,
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    choices: Choices,
    /// The machine: host, x86-64, avx2, avx512, aarch64, sm_80, … sm_100
    #[arg(long, value_name = "NAME", default_value = "host")]
    target: CodeTarget,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the segment graph into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the picture and the tables into this HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Compare with pairwise merging, or with no fusion at all
    #[arg(long, value_name = "HOW")]
    compare: Option<Baseline>,
}

/// What a plan is compared with.
#[derive(Clone, Copy, ValueEnum)]
enum Baseline {
    /// Producers and consumers merged pair by pair, nothing computed twice to save bytes
    Greedy,
    /// Each operation by itself
    Unfused,
}

/// The totals of a plan to compare with.
#[derive(Serialize)]
struct Compared {
    with: &'static str,
    segments: usize,
    bytes: u64,
    traffic_ratio: f64,
}

/// An explanation, and what it is compared with.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    explanation: Explanation,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Compared>,
}

/// Writes the explanation.
pub fn run(options: &Options, machine: &Machine, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let file = definition::read(&options.file)?;
    let targets = options.targets()?;
    let planned = planning::plan(&file, &options.request, &options.choices, options.target, machine)?;
    let explanation = explain(&file.definition, &planned.plan, &planned.hints);
    let compared = options.compare.map(|with| compare(with, options, &file, machine)).transpose()?;
    let drawn = options.svg.iter().map(|_| svg(&explanation));
    let page = options.html.iter().map(|_| html(&explanation, &options.file.display().to_string()));
    let texts: Vec<String> = drawn.chain(page).collect();
    targets.write(|place, out| -> io::Result<()> { out.write_all(texts[place].as_bytes()) })?;
    let report = Report { explanation, compared };
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report).expect("an explanation is plain data"))?;
        return Ok(Outcome::Fine);
    }
    write!(out, "{}", report.explanation)?;
    if let Some(Compared { with, segments, bytes, traffic_ratio }) = report.compared {
        let moved = table::bytes(bytes);
        writeln!(out, "{with}: {segments} segments, {moved} moved, traffic ratio {traffic_ratio:.3}")?;
    }
    Ok(Outcome::Fine)
}

impl Options {
    /// Where the picture and the page go, in this order.
    fn targets(&self) -> Result<Targets, Failure> {
        let outputs: Vec<&Path> = self.svg.iter().chain(&self.html).map(PathBuf::as_path).collect();
        let inputs = planning::files(&self.file, &self.request, &self.choices);
        Ok(Targets::new(&outputs, &inputs)?)
    }
}

fn compare(with: Baseline, options: &Options, file: &File, machine: &Machine) -> Result<Compared, Failure> {
    let (with, segmentation): (_, fn(&Graph, &Fusion, &Tasks) -> Segmentation) = match with {
        Baseline::Greedy => ("greedy", greedy),
        Baseline::Unfused => ("unfused", unfused),
    };
    let planned = planning::baseline(file, &options.request, segmentation, options.target, machine)?;
    let explanation = explain(&file.definition, &planned.plan, &planned.hints);
    let Explanation { segments, bytes, traffic_ratio, .. } = explanation;
    Ok(Compared { with, segments: segments.len(), bytes, traffic_ratio })
}
