//! One line of kernel text, read from left to right: words, marks and stretches up to a mark, each error with its
//! column. Knows no grammar; `parse.rs` does.

use index::integer;
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
    text: &'a str,
    number: usize,
    at: usize,
}

impl<'a> Line<'a> {
    /// Line `number` (from 1) of a text; a comment at its end is left away.
    pub(super) fn new(text: &'a str, number: usize) -> Self {
        let code = text.split('#').next().unwrap_or_default().trim_end();
        Self { text: code, number, at: 0 }
    }

    /// Whether nothing is left to read.
    pub(super) fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.text.len()
    }

    /// An error at the place that is read next.
    pub(super) fn fail(&mut self, message: impl Into<String>) -> ParseError {
        self.skip_blanks();
        self.fail_at(self.at, message)
    }

    /// An error at a byte offset into the line.
    pub(super) fn fail_at(&self, offset: usize, message: impl Into<String>) -> ParseError {
        let before = self.text.char_indices().take_while(|&(at, _)| at < offset).count();
        ParseError { line: self.number, column: before + 1, message: message.into() }
    }

    /// Reads `mark` if it is next. A mark of letters must end where the word ends.
    pub(super) fn eat(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        let Some(rest) = self.left().strip_prefix(mark) else { return false };
        let is_word = mark.ends_with(is_word_char);
        if is_word && rest.starts_with(is_word_char) {
            return false;
        }
        self.at += mark.len();
        true
    }

    /// Reads `mark`, which must be next.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), ParseError> {
        if self.eat(mark) { Ok(()) } else { Err(self.fail(format!("expected `{mark}`"))) }
    }

    /// Reads a name: a C identifier.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, ParseError> {
        self.skip_blanks();
        let left = self.left();
        let word = &left[..left.find(|c| !is_word_char(c)).unwrap_or(left.len())];
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.fail(format!("expected {what}")));
        }
        self.at += word.len();
        Ok(word)
    }

    /// Reads a number without a sign, at most `most`.
    pub(super) fn count(&mut self, what: &str, most: u32) -> Result<u32, ParseError> {
        self.skip_blanks();
        let left = self.left();
        let digits = &left[..left.find(|c: char| !c.is_ascii_digit()).unwrap_or(left.len())];
        let number = integer(digits).filter(|&number: &u32| number <= most);
        let number = number.ok_or_else(|| self.fail(format!("expected {what}, at most {most}")))?;
        self.at += digits.len();
        Ok(number)
    }

    /// Reads up to the next `mark` and past it; gives what is before it and the byte offset where that starts.
    pub(super) fn until(&mut self, mark: &str) -> Result<(&'a str, usize), ParseError> {
        self.skip_blanks();
        let (start, left) = (self.at, self.left());
        let length =
            left.find(mark).ok_or_else(|| self.fail_at(self.text.len(), format!("expected `{mark}`")))?;
        self.at += length + mark.len();
        Ok((left[..length].trim_end(), start))
    }

    /// Reads all that is left; gives it and the byte offset where it starts.
    pub(super) fn rest(&mut self) -> (&'a str, usize) {
        self.skip_blanks();
        let (start, left) = (self.at, self.left());
        self.at = self.text.len();
        (left, start)
    }

    /// Nothing may be left.
    pub(super) fn end(mut self) -> Result<(), ParseError> {
        if self.is_done() { Ok(()) } else { Err(self.fail("expected the end of the line")) }
    }

    fn left(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let left = self.left();
        self.at += left.len() - left.trim_start().len();
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
