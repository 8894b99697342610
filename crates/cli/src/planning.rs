//! Choices of the user for the compiler: target, segmentation, schedules; and plans made with them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use codegen::cpu::llvm::CpuTarget;
use compiler::outputs::{computed, views};
use ferrofuse::{
    CodeTarget, Definition, File, Hints, Machine, Plan, PlanOptions, Schedule, Segmentation, parse_schedule,
    value_named,
};
use index::integer;
use ir::graph::{Fusion, Graph, Val};

use crate::failure::Failure;
use crate::inputs::{Inputs, Request};

/// What the user decides instead of the compiler.
#[derive(Args, Clone, Debug, Default)]
pub struct Choices {
    /// A segmentation to use, as `emit --stage segments` prints it
    #[arg(long, value_name = "FILE")]
    segmentation: Option<PathBuf>,
    /// A schedule for a segment, as `emit --stage schedule` prints it
    #[arg(long = "schedule", value_name = "SEGMENT=FILE", value_parser = numbered)]
    schedules: Vec<(usize, PathBuf)>,
}

fn numbered(text: &str) -> Result<(usize, PathBuf), String> {
    let (segment, path) = text.split_once('=').ok_or("expected SEGMENT=FILE, as in 0=rows.txt")?;
    let number = integer(segment.strip_prefix("seg").unwrap_or(segment));
    Ok((number.ok_or_else(|| format!("`{segment}` is no segment"))?, path.into()))
}

impl Choices {
    /// The choices read from their files.
    ///
    /// # Errors
    /// The first file that cannot be read or does not hold what it should.
    pub fn read(&self, definition: &Definition) -> Result<PlanOptions, Failure> {
        let segmentation = self.segmentation.as_ref().map(|path| {
            let is_computed = |&val: &Val| !definition.fusion.is_input(val);
            let named = |name: &str| value_named(definition, name).filter(is_computed);
            Segmentation::parse(&text(path)?, &named).map_err(|error| of_file(path, &error))
        });
        let schedule = |(segment, path): &(usize, PathBuf)| -> Result<(usize, Schedule), Failure> {
            let schedule = parse_schedule(&text(path)?).map_err(|error| of_file(path, &error))?;
            Ok((*segment, schedule))
        };
        let schedules = self.schedules.iter().map(schedule).collect::<Result<_, _>>()?;
        Ok(PlanOptions { segmentation: segmentation.transpose()?, schedules, ..PlanOptions::default() })
    }
}

/// All files that a command reads.
pub fn files<'a>(definition: &'a Path, request: &'a Request, choices: &'a Choices) -> Vec<&'a Path> {
    let schedules = choices.schedules.iter().map(|(_, path)| path);
    let chosen = choices.segmentation.iter().chain(schedules).map(PathBuf::as_path);
    std::iter::once(definition).chain(request.files()).chain(chosen).collect()
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| of_file(path, &error))
}

fn of_file(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::user(format!("{}: {error}", path.display()))
}

/// A plan, and the sizes that it was made for.
pub struct Planned {
    /// The plan.
    pub plan: Plan,
    /// The sizes.
    pub hints: Hints,
}

/// Plans a definition without making any data.
///
/// # Errors
/// When inputs or choices do not fit the definition.
pub fn plan(
    file: &File,
    request: &Request,
    choices: &Choices,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    planned(file, request, &choices.read(&file.definition)?, target, machine)
}

/// Plans a definition with a segmentation to compare with, of what is no view of an input: that moves no bytes in any plan.
///
/// # Errors
/// When inputs do not fit the definition.
pub fn baseline(
    file: &File,
    request: &Request,
    segmentation: fn(&Graph, &Fusion) -> Segmentation,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    let Definition { graph, fusion, .. } = &file.definition;
    let (_, layouts) = Inputs::resolve(file, request)?.facts();
    let made = computed(graph, fusion, &views(graph, fusion, &layouts));
    let options = PlanOptions { segmentation: Some(segmentation(graph, &made)), ..PlanOptions::default() };
    planned(file, request, &options, target, machine)
}

/// A target as a CPU whose code runs here.
///
/// # Errors
/// For a GPU, and for a CPU that this one is not.
pub fn runnable(target: CodeTarget, machine: &Machine) -> Result<CpuTarget, Failure> {
    match target {
        CodeTarget::Cpu(cpu) if cpu == CpuTarget::Host || machine.runs(cpu) => Ok(cpu),
        _ => Err(Failure::user(format!("code for {} does not run on this machine", target.name()))),
    }
}

fn planned(
    file: &File,
    request: &Request,
    options: &PlanOptions,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    let (hints, layouts) = Inputs::resolve(file, request)?.facts();
    let definition = &file.definition;
    let target = target.facts(|| machine.target(CpuTarget::Host));
    let plan = compiler::plan(&definition.graph, &definition.fusion, &layouts, &target, &hints, options);
    Ok(Planned { plan: plan.map_err(Failure::user)?, hints })
}
