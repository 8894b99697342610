//! One line of kernel text, each error with its line and column. Knows no grammar; `parse.rs` does.

use index::{Scanner, integer};
use thiserror::Error;

/// Why a text is not a kernel, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected, or what is wrong.
    pub message: String,
}

/// A line and how far it has been read.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    text: Scanner<'a>,
    number: usize,
}

impl<'a> Line<'a> {
    /// Line `number` (from 1) of a text.
    pub(super) fn new(text: Scanner<'a>, number: usize) -> Self {
        Self { text, number }
    }

    /// An error at the place that is read next.
    pub(super) fn fail(&self, message: impl Into<String>) -> ParseError {
        self.fail_at(self.text.at(), message)
    }

    /// An error at a byte offset into the line.
    pub(super) fn fail_at(&self, offset: usize, message: impl Into<String>) -> ParseError {
        ParseError { line: self.number, column: self.text.column(offset), message: message.into() }
    }

    /// Reads `mark` if it is next. A mark of letters must end where the word ends.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        self.text.eat(mark)
    }

    /// Reads `mark`, which must be next.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.eat(mark) { Ok(()) } else { Err(self.fail(format!("expected `{mark}`"))) }
    }

    /// Reads a name: a C identifier.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        let mut ahead = self.text.clone();
        let word = ahead.word();
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.fail(format!("expected {what}")));
        }
        self.text = ahead;
        Ok(word)
    }

    /// Reads a number without a sign, at most `most`.
    pub(super) fn count(&mut self, what: &str, most: u32) -> Result<u32, ParseError> {
        let mut ahead = self.text.clone();
        let number = integer(ahead.take_while(|c| c.is_ascii_digit())).filter(|&number: &u32| number <= most);
        let number = number.ok_or_else(|| self.fail(format!("expected {what}, at most {most}")))?;
        self.text = ahead;
        Ok(number)
    }

    /// Reads up to the next `mark` and past it; gives what is before it and the byte offset where that starts.
    pub(super) fn until(&mut self, mark: &str) -> Result<(&'a str, usize), ParseError> {
        let start = self.text.at();
        let end = self.text.text().len();
        let before = self.text.until(mark);
        Ok((before.ok_or_else(|| self.fail_at(end, format!("expected `{mark}`")))?, start))
    }

    /// Reads all that is left; gives it and the byte offset where it starts.
    pub(super) fn rest(&mut self) -> (&'a str, usize) {
        let start = self.text.at();
        (self.text.take_while(|_| true), start)
    }

    /// Nothing may be left.
    pub(super) fn end(self) -> Result<(), ParseError> {
        if self.text.is_done() { Ok(()) } else { Err(self.fail("expected the end of the line")) }
    }
}
