//! The stages that file tests can test.

mod c;
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
mod warps;

use compiler::{PlanRequest, plan};
use ferrofuse::{EmitOptions, File, NameStyle, Plan, PlanOptions, Segmentation, emit, read};
use target::Target;

use super::case::Case;
use crate::inputs::facts_of;

/// A stage of compilation whose text is tested.
pub(super) trait Stage: Sync {
    /// The folder of its tests.
    fn name(&self) -> &'static str;
    /// Its text for a definition.
    fn run(&self, case: &Case) -> Outcome;
}

/// The result of a stage for a test.
pub(super) enum Outcome {
    /// The text to compare.
    Text(String),
    /// Nothing, because the machine lacks something.
    Skipped(String),
    /// An invariant of the stage does not hold, whatever the expected text.
    Broken(String),
}

/// Every stage, in order of compilation.
pub(super) fn all() -> Vec<Box<dyn Stage>> {
    let mut all: Vec<Box<dyn Stage>> = vec![
        Box::new(parse::Parse),
        Box::new(reject::Reject),
        Box::new(graph::Graph),
        Box::new(optimized::Optimized),
        Box::new(segments::Segments),
        Box::new(schedule::Schedules),
        Box::new(lower::Lower),
        Box::new(kernel::Kernels),
        Box::new(llvm::Llvm),
    ];
    let languages = ferrofuse::Stage::all().filter(|stage| matches!(stage, ferrofuse::Stage::C(_)));
    all.extend(languages.map(|stage| Box::new(c::C(stage)) as Box<dyn Stage>));
    all.extend([Box::new(warps::Warps) as Box<dyn Stage>, Box::new(sass::Sass), Box::new(run::Run)]);
    all
}

impl From<Result<String, String>> for Outcome {
    fn from(result: Result<String, String>) -> Outcome {
        match result {
            Ok(text) => Outcome::Text(text),
            Err(reason) => Outcome::Broken(reason),
        }
    }
}

/// The definition of a test and its plan, for the sizes and strides of its inputs.
fn planned(case: &Case) -> Result<(File, Plan), String> {
    planned_as(case, None)
}

/// The plan with this segmentation, over values of the definition.
fn planned_as(case: &Case, segmentation: Option<Segmentation>) -> Result<(File, Plan), String> {
    let file = read(&case.source).map_err(|error| error.to_string())?;
    let definition = &file.definition;
    let (hints, layouts) = match &file.inputs {
        Some(specs) => facts_of(definition, specs),
        None => (ferrofuse::Hints::default(), ferrofuse::declared_layouts(definition)),
    };
    // A test that needs facts about a machine names the machine.
    let target = case.options.target.facts(|| Target::cpu(256));
    let schedules = case.schedule.iter().map(|schedule| (0.into(), schedule.clone())).collect();
    let options = PlanOptions { schedules, segmentation, ..PlanOptions::default() };
    let fusion = case.options.target.fusion(definition, &hints);
    let plan = plan(PlanRequest {
        graph: &definition.graph,
        fusion: &fusion,
        tasks: &definition.tasks,
        layouts: &layouts,
        target: &target,
        hints: &hints,
        options: &options,
    })
    .map_err(|error| error.to_string())?;
    Ok((file, plan))
}

/// The text of a stage that needs no libLLVM.
fn emitted(case: &Case, stage: ferrofuse::Stage) -> Result<String, String> {
    let (file, plan) = planned(case)?;
    let missing = ::llvm::Error::NotFound { tried: Vec::new(), hint: "not needed" };
    let options = EmitOptions {
        target: case.options.target,
        segment: case.options.segment,
        names: NameStyle::default(),
        llvm: Err(&missing),
    };
    emit(stage, &file.definition, &plan, &options).map_err(|error| error.to_string())
}
