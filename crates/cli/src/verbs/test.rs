//! `ferrofuse test`: the file tests in a folder.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use testing::filetests::{self, Selection, Verdict};

use crate::failure::{Failure, Outcome};

/// Run the file tests; with BLESS=1 in the environment, rewrite what they expect.
#[derive(Args)]
pub struct Options {
    /// Only tests whose path contains this, as in `parse/` or `softmax`
    filter: Option<String>,
    /// The folder that holds a folder per stage
    #[arg(long, default_value = "tests")]
    folder: PathBuf,
}

/// Runs them and writes the failures.
pub fn run(options: &Options, bless: bool, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if !options.folder.is_dir() {
        return Err(Failure::user(format!("{}: no such folder", options.folder.display())));
    }
    let selection = Selection { filter: options.filter.clone(), bless };
    let runs = filetests::run(&options.folder, &selection).map_err(Failure::user)?;
    if runs.is_empty() {
        return Err(Failure::user(format!("{}: no file test there has that name", options.folder.display())));
    }
    let mut counts = [0; 4];
    for run in &runs {
        let (place, word, detail) = match &run.verdict {
            Verdict::Passed => (0, "", ""),
            Verdict::Blessed => (1, "blessed", ""),
            Verdict::Skipped(reason) => (2, "skipped", reason.as_str()),
            Verdict::Failed(reason) => (3, "FAILED", reason.as_str()),
        };
        counts[place] += 1;
        if !word.is_empty() {
            let detail: String = detail.lines().map(|line| format!("\n    {line}")).collect();
            writeln!(out, "{word} {}{detail}", run.name)?;
        }
    }
    let [passed, blessed, skipped, failed] = counts;
    writeln!(out, "{passed} passed, {blessed} blessed, {skipped} skipped, {failed} failed")?;
    Ok(if failed == 0 { Outcome::Fine } else { Outcome::CheckFailed })
}
