//! The machine code of NVIDIA's compiler for the CUDA C++, in numbers.

use super::{Case, Outcome, Stage, emitted};
use crate::machine_code::Tools;

pub(super) struct Sass;

impl Stage for Sass {
    fn name(&self) -> &'static str {
        "sass"
    }

    fn run(&self, case: &Case) -> Outcome {
        let tools = match Tools::find() {
            Ok(tools) => tools,
            Err(reason) => return Outcome::Skipped(reason),
        };
        counted(case, &tools).into()
    }
}

/// The counts of all kernels of all segments, each segment compiled separately.
fn counted(case: &Case, tools: &Tools) -> Result<String, String> {
    let segments = if case.options.segment.is_some() { 1 } else { super::planned(case)?.1.segments.len() };
    let mut text = String::new();
    for number in 0..segments {
        let mut one = case.clone();
        one.options.segment = case.options.segment.or(Some(number));
        let source = emitted(&one, ferrofuse::Stage::CUDA)?;
        let counts = tools.counts(&source, case.options.target.name()).map_err(|error| error.to_string())?;
        counts.iter().for_each(|counts| text.push_str(&counts.to_string()));
    }
    Ok(text)
}
