//! The report about the outputs of a run: type, layout, and distance of each from the evaluator's.

use std::io::{self, Write};
use std::path::PathBuf;

use ferrofuse::{Outputs, table};
use reference::evaluate::Comparison;
use serde::Serialize;

use super::outputs::OutputFiles;

/// The report about the outputs of a run.
#[derive(Serialize)]
pub(super) struct OutputReport {
    outputs: Vec<Output>,
    /// Whether every output is within its bound of the evaluator's; absent if not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    matches: Option<bool>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: &'static str,
    sizes: Vec<usize>,
    /// In elements.
    strides: Vec<isize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Check>,
}

/// The element that is furthest from the evaluator's, relative to its bound.
#[derive(Serialize)]
struct Check {
    error_over_bound: f64,
    at: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    got: Option<String>,
    mismatches: usize,
}

impl OutputReport {
    /// Collects the facts about the outputs with these names.
    pub fn new(
        names: &[String],
        outputs: &Outputs<'_>,
        comparisons: Option<&[Comparison]>,
        files: Option<&OutputFiles>,
    ) -> OutputReport {
        let output = |(place, (name, tensor)): (usize, (&String, &ferrofuse::Output<'_>))| Output {
            name: name.clone(),
            dtype: tensor.dtype().short_name(),
            sizes: tensor.sizes().to_vec(),
            strides: tensor.strides().to_vec(),
            file: files.map(|files| files.of(place)),
            check: comparisons.map(|comparisons| check(&comparisons[place])),
        };
        OutputReport {
            outputs: names.iter().zip(outputs.iter()).enumerate().map(output).collect(),
            matches: comparisons.map(|comparisons| comparisons.iter().all(Comparison::matches)),
        }
    }

    /// Whether no check failed.
    pub fn matches(&self) -> bool {
        self.matches != Some(false)
    }

    /// The table.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", table::columns(&self.output_rows()))?;
        match self.matches {
            None => Ok(()),
            Some(true) => writeln!(out, "matches the evaluator"),
            Some(false) => writeln!(out, "DIFFERS from the evaluator"),
        }
    }

    fn output_rows(&self) -> Vec<Vec<String>> {
        let mut heading = vec!["output".to_owned(), "type".to_owned()];
        heading.extend(self.matches.map(|_| "largest error over its bound".to_owned()));
        let row = |output: &Output| {
            let mut row = vec![output.name.clone(), format!("{}{:?}", output.dtype, output.sizes)];
            row.extend(output.check.as_ref().map(Check::in_words));
            row
        };
        std::iter::once(heading).chain(self.outputs.iter().map(row)).collect()
    }
}

impl Check {
    fn in_words(&self) -> String {
        let ratio = format!("{:.3}", self.error_over_bound);
        match (self.mismatches, &self.expected, &self.got) {
            (1.., Some(expected), Some(got)) => {
                let Check { mismatches, at, .. } = self;
                format!("{ratio}: {mismatches} beyond, at {at:?} {got} instead of {expected}")
            }
            _ => ratio,
        }
    }
}

fn check(comparison: &Comparison) -> Check {
    Check {
        error_over_bound: comparison.worst_ratio,
        at: comparison.at.clone(),
        expected: comparison.expected.map(|scalar| scalar.to_string()),
        got: comparison.got.map(|scalar| scalar.to_string()),
        mismatches: comparison.mismatches,
    }
}
