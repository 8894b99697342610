//! `ferrofuse segment`: the segments of a definition as separate definition files.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ferrofuse::{CodeTarget, Machine, Segment, table};

use crate::failure::{Failure, Outcome};
use crate::given::{self, GivenDefinition};
use crate::inputs::Request;
use crate::planning::{self, Choices};
use crate::segment_folder;

/// Write each segment of a definition as a definition file, with a map of its values to those of the whole.
#[derive(Args)]
pub struct Options {
    /// The definition file
    file: PathBuf,
    /// Write definition.py, seg0.py, … and index_map.json here; `ferrofuse run DIR` runs them
    #[arg(long, value_name = "DIR")]
    output: PathBuf,
    /// The machine: host, x86-64, avx2, avx512, aarch64, sm_80, … sm_100
    #[arg(long, value_name = "NAME", default_value = "host")]
    target: CodeTarget,
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    choices: Choices,
}

/// Writes the folder, and a table of the segments.
pub fn run(options: &Options, machine: &Machine, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let chosen = GivenDefinition::read_file(&options.file, &options.choices)?;
    let definition = chosen.file().definition.clone();
    let segments = given::segments(&options.file, chosen, &options.request, options.target, machine)?;
    let text = fs::read(&options.file).map_err(|error| Failure::of_file(&options.file, &error))?;
    let read = planning::files(&options.file, &options.request, &options.choices);
    segment_folder::write(&options.output, &text, &definition, &segments, &read)?;
    write!(out, "{}", table::columns(&rows(&segments)))?;
    Ok(Outcome::Fine)
}

fn rows(segments: &[Segment]) -> Vec<Vec<String>> {
    let heading = ["segment", "takes", "gives", "bytes", "why"].map(str::to_owned).to_vec();
    let row = |segment: &Segment| {
        let bytes = segment.bytes.map_or_else(|| segment.bytes_formula.clone(), table::bytes);
        let (takes, gives) = (segment.inputs.join(", "), segment.outputs.join(", "));
        vec![segment.name.clone(), takes, gives, bytes, segment.why.clone()]
    };
    std::iter::once(heading).chain(segments.iter().map(row)).collect()
}
