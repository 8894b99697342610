//! File tests: a definition and the expected text of a stage, in one file.
//!
//! `tests/STAGE/NAME.py` has options on a first line `# test: …`, the definition (or the option `file=PATH`), then a line
//! `# ---- expect` and the expected text as comments. Blessing rewrites the text below that line. A stage is a small file in
//! `stages` that implements the trait [`Stage`](stages::Stage).

mod case;
mod difference;
mod stages;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use case::Case;
use files::{Failed, Targets};
use stages::{Outcome, Stage};

/// The tests to run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only tests whose path below the folder contains this.
    pub filter: Option<String>,
    /// Rewrite the expectations of those that fail.
    pub bless: bool,
}

/// The result of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The text is as expected.
    Passed,
    /// The file was rewritten.
    Blessed,
    /// Not run, and why.
    Skipped(String),
    /// The difference, or the error.
    Failed(String),
}

/// A test that was run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Its path below the folder, as in `parse/softmax.py`.
    pub name: String,
    pub verdict: Verdict,
}

/// Runs the file tests below a folder, in order of path.
///
/// # Errors
/// When the folder or a file in it cannot be read, or a blessed file cannot be written.
pub fn run(folder: &Path, selection: &Selection) -> io::Result<Vec<Run>> {
    let mut runs = Vec::new();
    for stage in stages::all() {
        for path in files(&folder.join(stage.name()))? {
            let name = format!("{}/{}", stage.name(), file_name(&path));
            if selection.filter.as_ref().is_some_and(|filter| !name.contains(filter)) {
                continue;
            }
            let verdict = run_one(&*stage, &path, selection.bless)?;
            runs.push(Run { name, verdict });
        }
    }
    Ok(runs)
}

/// The test files of a stage; a stage without a folder has none.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    let mut files: Vec<PathBuf> =
        entries.into_iter().filter(|path| path.extension().is_some_and(|e| e == "py")).collect();
    files.sort();
    Ok(files)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn run_one(stage: &dyn Stage, path: &Path, bless: bool) -> io::Result<Verdict> {
    let text = fs::read_to_string(path)?;
    let mut case = match Case::parse(&text) {
        Ok(case) => case,
        Err(diagnostic) => return Ok(Verdict::Failed(diagnostic)),
    };
    if let (Some(file), Some(root)) = (&case.options.file, path.ancestors().nth(3)) {
        case.source = fs::read_to_string(root.join(file))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {file}: {error}", path.display())))?;
    }
    let made = match stage.run(&case) {
        Outcome::Text(made) => made,
        Outcome::Skipped(reason) => return Ok(Verdict::Skipped(reason)),
        Outcome::Broken(reason) => return Ok(Verdict::Failed(reason)),
    };
    if case.expects(&made) {
        return Ok(Verdict::Passed);
    }
    if bless {
        let target = Targets::new(&[path], &[]).map_err(unwritten)?;
        let write =
            |_, out: &mut dyn Write| -> io::Result<()> { out.write_all(case.blessed(&made).as_bytes()) };
        target.write(write).map_err(unwritten)?;
        return Ok(Verdict::Blessed);
    }
    Ok(Verdict::Failed(difference::difference(&case.expected, &case::tidied(&made))))
}

fn unwritten(failed: Failed<io::Error>) -> io::Error {
    io::Error::new(failed.error.kind(), format!("{}: {}", failed.path.display(), failed.error))
}
