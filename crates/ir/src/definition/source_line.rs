//! Lines as diagnostics name them: of a definition's text, or of the program that made it.

use std::fmt;

/// A line of the text of a definition, or of a program that called the builder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file of the program, without its folders; a text is that of one file, which need not be named.
    pub file: Option<String>,
    /// Its number, from 1.
    pub line: usize,
}

impl SourceLine {
    /// An op on this line, in words.
    pub fn of_op(&self, op: &str) -> String {
        match &self.file {
            None => format!("`{op}` on {self}"),
            Some(_) => format!("`{op}` at {self}"),
        }
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            None => write!(f, "line {}", self.line),
            Some(file) => write!(f, "{file}:{}", self.line),
        }
    }
}
