//! Places in a source text, and diagnostics that point at them.
//!
//! A [`Diagnostic`] has everything that a person needs to see: the text, the place, what is wrong there and what would be
//! right. Its rendering is decided elsewhere.

use std::fmt;
use std::sync::Arc;

/// A stretch of bytes of a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// From a byte up to another, not included.
    pub const fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// From the start of this one to the end of a later one.
    pub const fn to(self, later: Span) -> Span {
        Span { start: self.start, end: later.end }
    }
}

/// A diagnostic about a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence.
    pub message: String,
    pub span: Span,
    /// What to write beside the place: what was expected there.
    pub label: String,
    /// What the user could do about it.
    pub help: Option<String>,
    /// The whole text.
    pub source: Arc<str>,
}

impl Diagnostic {
    /// Line and column of the place, from 1, columns counted in characters.
    pub fn position(&self) -> (usize, usize) {
        let before = &self.source.as_bytes()[..self.span.start.min(self.source.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.position();
        write!(f, "{line}:{column}: {}", self.message)?;
        if !self.label.is_empty() {
            write!(f, " ({})", self.label)?;
        }
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl std::error::Error for Diagnostic {}
