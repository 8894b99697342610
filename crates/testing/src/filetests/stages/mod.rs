//! The stages that file tests can look at.

mod cuda;
mod graph;
mod kernel;
mod llvm;
mod lower;
mod optimized;
mod parse;
mod reject;
mod run;
mod sass;
mod schedule;
mod segments;

use compiler::plan;
use compiler::target::Target;
use ferrofuse::{EmitOptions, File, Plan, PlanOptions, emit, read};

use super::case::Case;
use crate::inputs::facts_of;

/// A station of the way whose text is tested.
pub(super) trait Stage: Sync {
    /// The folder of its tests.
    fn name(&self) -> &'static str;
    /// The text that it makes of a definition.
    fn run(&self, case: &Case) -> Outcome;
}

/// What a stage makes of a test.
pub(super) enum Outcome {
    /// The text to compare.
    Text(String),
    /// Nothing, as the machine lacks something.
    Skipped(String),
    /// A promise of the stage does not hold, whatever the expected text.
    Broken(String),
}

/// Every stage, in order of the way.
pub(super) const ALL: &[&dyn Stage] = &[
    &parse::Parse,
    &reject::Reject,
    &graph::Graph,
    &optimized::Optimized,
    &segments::Segments,
    &schedule::Schedules,
    &lower::Lower,
    &kernel::Kernels,
    &llvm::Llvm,
    &cuda::Cuda,
    &sass::Sass,
    &run::Run,
];

impl From<Result<String, String>> for Outcome {
    fn from(result: Result<String, String>) -> Outcome {
        match result {
            Ok(text) => Outcome::Text(text),
            Err(reason) => Outcome::Broken(reason),
        }
    }
}

/// The definition of a test and the plan made of it, for the sizes and strides of its inputs.
fn planned(case: &Case) -> Result<(File, Plan), String> {
    let file = read(&case.source).map_err(|error| error.to_string())?;
    let definition = &file.definition;
    let (hints, layouts) = match &file.inputs {
        Some(specs) => facts_of(definition, specs),
        None => (
            ferrofuse::Hints::default(),
            vec![ferrofuse::LayoutClass::Dense; definition.fusion.inputs().len()],
        ),
    };
    // Where the machine's own facts are asked for, the test says what machine it means.
    let target = case.options.target.facts(|| Target::cpu(256));
    let options = PlanOptions { tasks: definition.tasks.clone(), ..PlanOptions::default() };
    let fusion = case.options.target.fusion(definition, &hints);
    let plan = plan(&definition.graph, &fusion, &layouts, &target, &hints, &options)
        .map_err(|error| error.to_string())?;
    Ok((file, plan))
}

/// The text of a stage that needs no libLLVM.
fn emitted(case: &Case, stage: ferrofuse::Stage) -> Result<String, String> {
    let (file, plan) = planned(case)?;
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let options =
        EmitOptions { target: case.options.target, segment: case.options.segment, llvm: Err(&missing) };
    emit(stage, &file.definition, &plan, &options).map_err(|error| error.to_string())
}
