//! `ferrofuse ops`: every op of the definition language, as declared in the tables.

use std::io::Write;

use clap::Args;
use ferrofuse::{OpEntry, op_entries};

use crate::failure::{Failure, Outcome};

/// List every op: signature, dtypes, typing rule, error bound, meaning.
#[derive(Args)]
pub struct Options {
    /// One JSON array instead of text
    #[arg(long)]
    json: bool,
}

/// Writes the list.
pub fn run(options: &Options, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let entries: Vec<OpEntry> = op_entries().collect();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&entries).expect("entries are plain data"))?;
        return Ok(Outcome::Fine);
    }
    let mut kind = "";
    for entry in &entries {
        if entry.kind != kind {
            kind = entry.kind;
            writeln!(out, "# {kind}\n")?;
        }
        write_entry(entry, out)?;
    }
    Ok(Outcome::Fine)
}

fn write_entry(entry: &OpEntry, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "{}", entry.signature)?;
    writeln!(out, "    {}", entry.doc)?;
    if let Some(expression) = entry.expression {
        writeln!(out, "    = {expression}")?;
    }
    if let Some(rule) = entry.rule {
        writeln!(out, "    result: {rule}")?;
    }
    for bounds in entry.error.iter().collect::<Vec<_>>().chunk_by(|(_, a), (_, b)| a == b) {
        let dtypes: Vec<&str> = bounds.iter().map(|(dtype, _)| **dtype).collect();
        writeln!(out, "    {}: {}", dtypes.join(" "), bounds[0].1)?;
    }
    writeln!(out)
}
