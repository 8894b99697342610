//! How a verb ends without success: whose fault it is, and the report that the user sees.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use ferrofuse::{Blame, Error, SegmentError};
use files::Failed;
use miette::{Diagnostic, Report};

use crate::arrays::{FileError, Problem};

/// Whose fault a failure is; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user's: 2.
    User,
    /// The machine's, for lack of memory or disk: 3.
    Machine,
}

/// A verb that could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// With a report for the user.
    Reported(Fault, Report),
    /// The reader of the results is gone, as in `ferrofuse ops | head`.
    Closed,
}

/// How a verb ends that did its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well: 0.
    Fine,
    /// A check failed: 1.
    CheckFailed,
}

/// A sentence for the user, and optionally a hint.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{message}")]
struct Sentence {
    message: String,
    #[help]
    help: Option<String>,
}

impl Failure {
    /// The user's mistake, in a sentence.
    pub fn user(message: impl fmt::Display) -> Failure {
        Failure::sentence(Fault::User, message, None)
    }

    /// The user's mistake, in a sentence, with a hint.
    pub fn user_with_help(message: impl fmt::Display, help: impl fmt::Display) -> Failure {
        Failure::sentence(Fault::User, message, Some(help.to_string()))
    }

    /// A lack of the machine, in a sentence.
    pub fn machine(message: impl fmt::Display) -> Failure {
        Failure::sentence(Fault::Machine, message, None)
    }

    /// What a call says, and whose fault that is.
    pub fn of_call(error: Error) -> Failure {
        match error.blame() {
            Blame::User => Failure::user(error),
            Blame::Machine => Failure::machine(error),
        }
    }

    /// What segments say, and whose fault that is.
    pub fn of_segments(error: SegmentError) -> Failure {
        match error {
            SegmentError::Plan(error) => Failure::of_call(error),
            error => Failure::user(error),
        }
    }

    /// The user's mistake in a file.
    pub fn of_file(path: &Path, error: &dyn fmt::Display) -> Failure {
        Failure::user(format!("{}: {error}", path.display()))
    }

    fn sentence(fault: Fault, message: impl fmt::Display, help: Option<String>) -> Failure {
        Failure::Reported(fault, Sentence { message: message.to_string(), help }.into())
    }

    /// Shows the report and returns the exit code.
    pub fn show(self) -> ExitCode {
        match self {
            Failure::Closed => ExitCode::SUCCESS,
            Failure::Reported(fault, report) => {
                tell(format_args!("{report:?}"));
                ExitCode::from(match fault {
                    Fault::User => 2,
                    Fault::Machine => 3,
                })
            }
        }
    }
}

/// Writes a message to stderr. If that fails, the exit code still says how the verb ended.
pub fn tell(message: impl fmt::Display) {
    let _ = writeln!(io::stderr(), "{message}");
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        match error.problem.is_of_machine() {
            true => Failure::machine(error),
            false => Failure::user(error),
        }
    }
}

impl<E: Into<Problem>> From<Failed<E>> for Failure {
    fn from(failed: Failed<E>) -> Failure {
        FileError::from(failed).into()
    }
}

impl From<io::Error> for Failure {
    /// For writing results to stdout.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::machine(format!("the results cannot be written: {error}")),
        }
    }
}
