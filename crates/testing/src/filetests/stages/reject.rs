//! The error of a definition that is wrong, or whose inputs are; all executors report the same.

use ferrofuse::{CompileOptions, Diagnostic, Executor, compile, read};
use ir::array::ArrayView;

use super::{Case, Outcome, Stage};
use crate::inputs::draw;
use ir::array::StridedArray;

pub(super) struct Reject;

impl Stage for Reject {
    fn name(&self) -> &'static str {
        "reject"
    }

    fn run(&self, case: &Case) -> Outcome {
        let file = match read(&case.source) {
            Ok(file) => file,
            Err(diagnostic) => return Outcome::Text(pointed(&diagnostic)),
        };
        let specs = file.inputs.as_deref().unwrap_or_default();
        let drawn = specs.iter().enumerate().map(|(place, spec)| draw(spec, 0, place));
        let inputs: Vec<StridedArray> = match drawn.collect::<Result<_, _>>() {
            Ok(inputs) => inputs,
            Err(error) => return Outcome::Text(error.to_string()),
        };
        let views: Vec<ArrayView<'_>> = inputs.iter().map(StridedArray::view).collect();
        let said = [Executor::Evaluator, Executor::Interpreter, Executor::Compiled].map(|executor| {
            let options = CompileOptions { executor, ..CompileOptions::default() };
            let ran = compile(file.definition.clone(), options).and_then(|executable| executable.run(&views));
            ran.map_or_else(|error| error.to_string(), |_| "nothing is rejected".to_owned())
        });
        let [evaluator, interpreter, compiled] = said;
        match evaluator == interpreter && evaluator == compiled {
            true => Outcome::Text(evaluator),
            false => {
                Outcome::Broken(format!("the executors differ:\n{evaluator}\n{interpreter}\n{compiled}"))
            }
        }
    }
}

/// A diagnostic with its line and a mark under the place.
fn pointed(diagnostic: &Diagnostic) -> String {
    let (line, column) = diagnostic.position();
    let text = diagnostic.source.lines().nth(line - 1).unwrap_or_default();
    let width = diagnostic
        .source
        .get(diagnostic.span.start..diagnostic.span.end)
        .map_or(1, |place| place.lines().next().unwrap_or_default().chars().count().max(1));
    let mark = format!("{}{}", " ".repeat(column - 1), "^".repeat(width));
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("help: {help}\n"));
    format!("{line}:{column}: {}\n{text}\n{mark} {}\n{help}", diagnostic.message, diagnostic.label)
}
