//! Definition files from disk, and their errors as a report with the line and a mark under the place.

use std::fs;
use std::ops::Range;
use std::path::Path;

use ferrofuse::{Diagnostic, Error, File, SavedDefinition};
use ir::Span;
use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

use crate::failure::{Failure, Fault};

/// Longer lines are cut to the part around the place of the error.
const WIDEST: usize = 160;

/// The number of lines shown before and after.
const CONTEXT: usize = 2;

/// Reads a definition file. Of one that Python's `save` wrote, the definition alone.
///
/// # Errors
/// When the file cannot be read, or holds no definition: the first error, with its place.
pub fn read(path: &Path) -> Result<File, Failure> {
    read_saved(path).map(|(file, _)| file)
}

/// Reads a definition file, and what its user chose if Python's `save` wrote it.
///
/// # Errors
/// As [`read`].
pub fn read_saved(path: &Path) -> Result<(File, SavedDefinition), Failure> {
    if path.is_dir() {
        let folder = path.display();
        let message = format!("{folder}: is a directory, where a definition file is expected");
        let help =
            format!("of a folder of segments give one file, as {folder}/definition.py or {folder}/seg0.py");
        return Err(Failure::user_with_help(message, help));
    }
    let bytes = fs::read(path).map_err(|error| Failure::of_file(path, &error))?;
    let text = frontend::text::decode(&bytes).map_err(|diagnostic| report(path, diagnostic))?;
    let saved = match SavedDefinition::is_saved(text) {
        true => SavedDefinition::read(text).map_err(|error| Failure::of_file(path, &error))?,
        false => SavedDefinition { definition: text.to_owned(), ..SavedDefinition::default() },
    };
    let file = ferrofuse::read(&saved.definition).map_err(|diagnostic| report(path, diagnostic))?;
    Ok((file, saved))
}

/// The failure of a call of the definition in this file, with the line if the error is of one op.
pub fn failure_of_call(path: &Path, error: Error) -> Failure {
    let (Error::Index { line: Some(line), .. } | Error::TooLarge { line: Some(line), .. }) = &error else {
        return Failure::of_call(error);
    };
    let text = fs::read_to_string(path).unwrap_or_default();
    let start: usize = text.split_inclusive('\n').take(line.line - 1).map(str::len).sum();
    let Some(code) = text[start..].lines().next().filter(|_| line.file.is_none()) else {
        return Failure::of_call(error);
    };
    let span = Span::new(start + code.len() - code.trim_start().len(), start + code.trim_end().len());
    let said = error.to_string();
    let message = said.strip_prefix(&format!("{line}: ")).unwrap_or(&said).to_owned();
    report(path, Diagnostic { message, span, label: "here".to_owned(), help: None, source: text.into() })
}

/// A diagnostic of a file, for the screen.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct SourceDiagnostic {
    message: String,
    help: Option<String>,
    label: LabeledSpan,
    excerpt: Excerpt,
}

/// A part of a file that starts at a line and a column, both from 0.
#[derive(Debug)]
struct Excerpt {
    file: String,
    text: String,
    line: usize,
    column: usize,
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = self.text.read_span(span, before, after)?;
        let before = &self.text[..floor(&self.text, found.span().offset())];
        let characters = before.rsplit('\n').next().map_or(0, |start| start.chars().count());
        let column = characters + if found.line() == 0 { self.column } else { 0 };
        let (line, count) = (found.line() + self.line, found.line_count());
        let contents = MietteSpanContents::new_named(
            self.file.clone(),
            found.data(),
            *found.span(),
            line,
            column,
            count,
        );
        Ok(Box::new(contents.with_language("Python")))
    }
}

impl miette::Diagnostic for SourceDiagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn std::fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(self.label.clone())))
    }
}

fn report(path: &Path, diagnostic: Diagnostic) -> Failure {
    let Diagnostic { message, span, label, help, source } = diagnostic;
    let start = floor(&source, span.start.min(source.len()));
    let end = floor(&source, span.end.clamp(start, source.len()));
    let shown = window(&source, start, end);
    let text = source[shown.clone()].to_owned() + "\n";
    let skipped = &source[..shown.start];
    let line = skipped.matches('\n').count();
    let column = skipped.rsplit('\n').next().map_or(0, |start| start.chars().count());
    let excerpt = Excerpt { file: path.display().to_string(), text, line, column };
    let end = end.min(shown.end).max(start);
    let label = Some(label).filter(|label| !label.is_empty());
    let label = LabeledSpan::new(label, start - shown.start, end - start);
    Failure::Reported(Fault::User, SourceDiagnostic { message, help, label, excerpt }.into())
}

/// The lines around a place; if one of them is too wide for a screen, only the part of the line around the place.
fn window(source: &str, start: usize, end: usize) -> Range<usize> {
    let line_start = |byte: usize| source[..byte].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = |byte: usize| source[byte..].find('\n').map_or(source.len(), |newline| byte + newline);
    let first = (0..CONTEXT).fold(line_start(start), |first, _| line_start(first.saturating_sub(1)));
    let last = (0..CONTEXT).fold(line_end(end), |last, _| line_end(source.len().min(last + 1)));
    if source[first..last].lines().all(|line| line.len() <= WIDEST) {
        return first..last;
    }
    let (first, last) = (line_start(start), line_end(start));
    if last - first <= WIDEST {
        return first..last;
    }
    floor(source, first.max(start.saturating_sub(WIDEST / 2)))..floor(source, last.min(start + WIDEST / 2))
}

/// The nearest character boundary at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
}
