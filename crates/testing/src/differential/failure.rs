//! The failures of a differential check.

use std::any::Any;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of failure.
    pub kind: Kind,
    /// Its place and description.
    pub what: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// The program is invalid: the builder or the evaluator rejects it.
    Rejected,
    /// The printed definition reads back differently.
    Text,
    /// An executor reported an error, a fault or a race.
    Error,
    /// A result is beyond its bound.
    Mismatch,
    /// Other bits with another number of threads.
    Threads,
    /// A panic.
    Panic,
    /// The process that checked it ended.
    Crash,
    /// It was not checked in time.
    Late,
}

impl Failure {
    /// A failure with its description.
    pub fn new(kind: Kind, what: impl Into<String>) -> Failure {
        Failure { kind, what: what.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.what)
    }
}

impl std::error::Error for Failure {}

/// The message of a panic.
pub(super) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "no message".to_owned())
}
