//! What is wrong at a place of a text, before it is joined with the text.

use std::sync::Arc;

use ir::{Diagnostic, Span};

/// A diagnostic before it is joined with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawDiagnostic {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl RawDiagnostic {
    pub(crate) fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> RawDiagnostic {
        RawDiagnostic { message: message.into(), span, label: label.into(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> RawDiagnostic {
        RawDiagnostic { help: Some(help.into()), ..self }
    }

    pub(crate) fn about(self, source: &str) -> Diagnostic {
        let RawDiagnostic { message, span, label, help } = self;
        Diagnostic { message, span, label, help, source: Arc::from(source) }
    }
}
