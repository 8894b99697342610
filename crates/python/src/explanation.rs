//! Explanations for Python: as text, JSON, a picture and a page.

use std::time::Duration;

use ferrofuse::{difference, fragment, html, svg};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// The decisions for a definition, and how long they took.
#[pyclass(frozen, name = "Explanation", module = "ferrofuse._native")]
pub struct NativeExplanation {
    report: Report,
    /// The text that it was read from, as reading may round the last digit of a number.
    text: Option<String>,
}

/// The object that `explain --json` prints.
#[derive(Deserialize, Serialize)]
struct Report {
    #[serde(flatten)]
    explanation: ferrofuse::Explanation,
    /// Milliseconds of planning: passes, search, schedules and lowering.
    search_ms: f64,
}

impl NativeExplanation {
    /// The explanation of a plan that was made in this time.
    pub fn new(explanation: ferrofuse::Explanation, time: Duration) -> NativeExplanation {
        NativeExplanation { report: Report { explanation, search_ms: 1e3 * time.as_secs_f64() }, text: None }
    }
}

/// Another explanation to compare with, and its name.
type Other = (String, Py<NativeExplanation>);

#[pymethods]
impl NativeExplanation {
    /// The explanation that `json` wrote.
    #[staticmethod]
    fn of_json(text: String) -> PyResult<NativeExplanation> {
        let report = serde_json::from_str(&text);
        let report = report.map_err(|error| PyValueError::new_err(format!("not an explanation: {error}")))?;
        Ok(NativeExplanation { report, text: Some(text) })
    }

    /// The object that `explain --json` prints.
    fn json(&self) -> String {
        let written = || serde_json::to_string(&self.report).expect("an explanation is plain data");
        self.text.clone().unwrap_or_else(written)
    }

    fn __str__(&self) -> String {
        self.report.explanation.to_string()
    }

    /// The segment graph as an SVG document.
    fn svg(&self) -> String {
        svg(&self.report.explanation)
    }

    /// An HTML page, or a part of one, with other explanations to compare with.
    fn html(&self, title: &str, is_page: bool, others: Vec<Other>) -> String {
        let others: Vec<(&str, &ferrofuse::Explanation)> =
            others.iter().map(|(name, other)| (name.as_str(), &other.get().report.explanation)).collect();
        let write = if is_page { html } else { fragment };
        write(&self.report.explanation, title, &others)
    }

    /// The differences from another explanation, in words.
    fn difference(&self, other: &NativeExplanation, name: &str) -> String {
        difference(&self.report.explanation, &other.report.explanation).lines("this", name)
    }
}
