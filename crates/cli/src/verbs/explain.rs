//! `ferrofuse explain`: the segments of a definition, what they move, and why each boundary is there.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ferrofuse::{CodeTarget, Machine, explain};

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
}

/// Writes the explanation.
pub fn run(options: &Options, machine: &Machine, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let file = definition::read(&options.file)?;
    let planned = planning::plan(&file, &options.request, &options.choices, options.target, machine)?;
    let explanation = explain(&file.definition, &planned.plan, &planned.hints);
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&explanation).expect("an explanation is plain data")
        )?;
    } else {
        write!(out, "{explanation}")?;
    }
    Ok(Outcome::Fine)
}
