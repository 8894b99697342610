//! Diagnostics about a place in a text, before they are joined with the text.

use std::sync::Arc;

use ir::{Diagnostic, Span};

/// A diagnostic before it is joined with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDiagnostic {
    pub message: String,
    pub span: Span,
    pub label: String,
    pub help: Option<String>,
}

impl RawDiagnostic {
    /// One without help.
    pub fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> RawDiagnostic {
        RawDiagnostic { message: message.into(), span, label: label.into(), help: None }
    }

    /// The same with a hint how to fix it.
    pub fn help(self, help: impl Into<String>) -> RawDiagnostic {
        RawDiagnostic { help: Some(help.into()), ..self }
    }

    /// Joined with its source.
    pub fn about(self, source: &str) -> Diagnostic {
        let RawDiagnostic { message, span, label, help } = self;
        Diagnostic { message, span, label, help, source: Arc::from(source) }
    }
}
