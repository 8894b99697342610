//! What is wrong at a place of a text, before it is joined with the text.

use std::sync::Arc;

use ir::{Diagnostic, Span};

/// A complaint before it is joined with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) span: Span,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl Complaint {
    pub(crate) fn new(span: Span, message: impl Into<String>, label: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), span, label: label.into(), help: None }
    }

    pub(crate) fn help(self, help: impl Into<String>) -> Complaint {
        Complaint { help: Some(help.into()), ..self }
    }

    pub(crate) fn about(self, source: &str) -> Diagnostic {
        let Complaint { message, span, label, help } = self;
        Diagnostic { message, span, label, help, source: Arc::from(source) }
    }
}
