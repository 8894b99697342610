//! Definition files from disk, and their errors as a report with the line and a mark under the place.

use std::fs;
use std::path::Path;

use ferrofuse::{Diagnostic, File};
use miette::{LabeledSpan, NamedSource, SourceCode};

use crate::failure::{Failure, Fault};

/// Longer lines are cut around the place that is shown.
const WIDEST: usize = 160;

/// Reads a definition file.
///
/// # Errors
/// When the file cannot be read, or holds no definition: the first thing that is wrong, with its place.
pub fn read(path: &Path) -> Result<File, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::user(format!("{}: {error}", path.display())))?;
    let text = frontend::text::decode(&bytes).map_err(|diagnostic| report(path, diagnostic))?;
    ferrofuse::read(text).map_err(|diagnostic| report(path, diagnostic))
}

/// A diagnostic of a file, for the screen.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct SourceDiagnostic {
    message: String,
    help: Option<String>,
    label: LabeledSpan,
    source_code: NamedSource<String>,
}

impl miette::Diagnostic for SourceDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source_code)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
}

fn report(path: &Path, diagnostic: Diagnostic) -> Failure {
    let Diagnostic { message, span, label, help, source } = diagnostic;
    let start = floor(&source, span.start.min(source.len()));
    let end = floor(&source, span.end.clamp(start, source.len()));
    let (text, start, end) = window(&source, start, end);
    let label = LabeledSpan::new(Some(label).filter(|label| !label.is_empty()), start, end - start);
    let source_code = NamedSource::new(path.display().to_string(), text).with_language("Python");
    Failure::Reported(Fault::User, SourceDiagnostic { message, help, label, source_code }.into())
}

/// The text with the place in it; of lines too wide for a screen only what is around the place.
fn window(source: &str, start: usize, end: usize) -> (String, usize, usize) {
    let first = source[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let last = source[start..].find('\n').map_or(source.len(), |newline| start + newline);
    let end = end.min(last);
    if last - first <= WIDEST {
        // The lines before keep their numbers; those after are shown as they are, cut where they are wide.
        let after: Vec<&str> = source[last..].lines().take(3).collect();
        let after = after.join("\n");
        let narrow =
            after.lines().chain(source[..first].lines().rev().take(2)).all(|line| line.len() <= WIDEST);
        if narrow {
            return (format!("{}{after}\n", &source[..last]), start, end);
        }
        return (source[first..last].to_owned(), start - first, end - first);
    }
    let from = floor(source, first.max(start.saturating_sub(WIDEST / 2)));
    let to = floor(source, last.min(start + WIDEST / 2));
    (source[from..to].to_owned(), start - from, end.min(to) - from)
}

/// The nearest boundary of a letter at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
}
