//! Why a definition written in Rust is rejected, and where.

use std::fmt;

use frontend::define::DefineError;
use ir::definition::SourceLine;

/// A rejected call, or a rejected definition, which is no single line's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionError {
    /// What was expected, what was given, and of which op.
    pub error: DefineError,
    /// The file and line of the program that called.
    pub line: Option<SourceLine>,
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = &self.line {
            write!(f, "{line}: ")?;
        }
        self.error.fmt(f)
    }
}

impl std::error::Error for DefinitionError {}

/// A call that is rejected here, not by the builder.
pub(super) fn of_call(op: &str, expected: &str, given: &str) -> DefineError {
    DefineError {
        op: op.to_owned(),
        argument: None,
        expected: expected.to_owned(),
        given: given.to_owned(),
        is_kind: false,
        help: None,
        span: None,
    }
}

/// A method of the definition that is called as an op.
pub(super) fn of_method(name: &str) -> DefineError {
    let help = Some(format!("it is a method: write `fd.{name}(…)` without `op!`"));
    DefineError { help, ..of_call(name, "", "not an op") }
}
