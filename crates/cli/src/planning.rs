//! Choices of the user for the compiler: target, segmentation, schedules; and plans and cuts made with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use compiler::{PlanError, PlanRequest};
use ferrofuse::{
    Baseline, CallFacts, CodeTarget, Cut, Definition, File, Hints, Machine, Plan, PlanOptions, Schedule,
    SegmentId, of_plan, parse_schedule, read_segmentation,
};
use index::integer;
use llvm::CpuTarget;

use crate::failure::Failure;
use crate::inputs::{Inputs, Request};

/// What the user decides instead of the compiler.
#[derive(Args, Clone, Debug, Default)]
pub struct Choices {
    /// A segmentation to use, as `emit --stage segments` prints it
    #[arg(long, value_name = "FILE")]
    segmentation: Option<PathBuf>,
    /// A schedule for a segment, by its name or number, as `emit --stage schedule` prints it
    #[arg(long = "schedule", value_name = "SEGMENT=FILE", value_parser = scheduled)]
    schedules: Vec<(String, PathBuf)>,
    /// The most bytes that may be in memory at a time of what segments make, what is stored in inputs included
    #[arg(long, value_name = "BYTES", value_parser = bytes, allow_negative_numbers = true)]
    peak_memory: Option<u64>,
}

fn bytes(text: &str) -> Result<u64, String> {
    integer(text).ok_or_else(|| format!("`{text}` is no number of bytes"))
}

fn scheduled(text: &str) -> Result<(String, PathBuf), String> {
    let (segment, path) = text.split_once('=').ok_or("expected SEGMENT=FILE, as in 0=rows.txt")?;
    if segment.is_empty() {
        return Err("expected the name or the number of a segment before `=`".to_owned());
    }
    Ok((segment.to_owned(), path.into()))
}

impl Choices {
    /// Rejects choices if there is nothing to choose.
    ///
    /// # Errors
    /// The option that was given, with the reason.
    pub fn require_none(&self, reason: &str) -> Result<(), Failure> {
        match self.first_given() {
            Some(option) => Err(Failure::user(format!("{option}: {reason}"))),
            None => Ok(()),
        }
    }

    /// Rejects a segmentation.
    ///
    /// # Errors
    /// The option, with the reason.
    pub fn require_no_segmentation(&self, reason: &str) -> Result<(), Failure> {
        match self.segmentation {
            Some(_) => Err(Failure::user(format!("--segmentation: {reason}"))),
            None => Ok(()),
        }
    }

    /// The first option that was given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--segmentation", self.segmentation.is_some()),
            ("--schedule", !self.schedules.is_empty()),
            ("--peak-memory", self.peak_memory.is_some()),
        ];
        given.into_iter().find_map(|(option, given)| given.then_some(option))
    }

    /// The choices for the whole definition read from their files: all but schedules.
    ///
    /// # Errors
    /// The first file that cannot be read or has other contents than expected.
    pub fn read(&self, definition: &Definition) -> Result<PlanOptions, Failure> {
        let segmentation = self.segmentation.as_ref().map(|path| {
            read_segmentation(definition, &text(path)?).map_err(|error| Failure::of_file(path, &error))
        });
        let (segmentation, peak_memory) = (segmentation.transpose()?, self.peak_memory);
        Ok(PlanOptions { segmentation, peak_memory, ..PlanOptions::default() })
    }

    /// The schedules read from their files, for segments of these names.
    ///
    /// # Errors
    /// The first file that cannot be read or is no schedule; a segment that is not there, and one with two schedules.
    pub fn schedules(&self, names: &[String]) -> Result<Vec<(SegmentId, Schedule)>, Failure> {
        let mut schedules: Vec<(SegmentId, Schedule)> = Vec::new();
        for (place, (segment, path)) in self.schedules.iter().enumerate() {
            let id = segment_id(segment, names)?;
            if let Some(earlier) = schedules.iter().position(|(other, _)| is_same(other, &id, names)) {
                let files = [&self.schedules[earlier].1, path].map(|path| path.display().to_string());
                let segment = name_of(&self.schedules[place].0);
                return Err(Failure::user(format!("--schedule: {segment} has two: {}", files.join(" and "))));
            }
            let schedule = parse_schedule(&text(path)?).map_err(|error| Failure::of_file(path, &error))?;
            schedules.push((id, schedule));
        }
        Ok(schedules)
    }
}

/// The segment that a text means: the one with this name, or with this number as `0` or `seg0`.
fn segment_id(text: &str, names: &[String]) -> Result<SegmentId, Failure> {
    let is_part =
        |name: &String| text.strip_prefix(name.as_str()).is_some_and(|part| part.starts_with(".seg"));
    if names.iter().any(|name| name == text || is_part(name)) {
        return Ok(SegmentId::Name(text.to_owned()));
    }
    let number = integer(text.strip_prefix("seg").unwrap_or(text)).map(SegmentId::Number);
    number.ok_or_else(|| {
        let there = match names {
            [] => "segments have numbers, as 0".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        Failure::user(format!("--schedule: there is no segment `{text}`: {there}"))
    })
}

/// Whether two texts mean one segment.
fn is_same(one: &SegmentId, other: &SegmentId, names: &[String]) -> bool {
    let name = |id: &SegmentId| match id {
        SegmentId::Name(name) => name.clone(),
        SegmentId::Number(number) => names.get(*number).cloned().unwrap_or_else(|| format!("seg{number}")),
    };
    name(one) == name(other)
}

/// A segment as it is called, also if its number was given.
fn name_of(text: &str) -> String {
    integer::<usize>(text).map_or_else(|| text.to_owned(), |number| format!("seg{number}"))
}

/// All files that a command reads.
pub fn files<'a>(definition: &'a Path, request: &'a Request, choices: &'a Choices) -> Vec<&'a Path> {
    let schedules = choices.schedules.iter().map(|(_, path)| path);
    let chosen = choices.segmentation.iter().chain(schedules).map(PathBuf::as_path);
    std::iter::once(definition).chain(request.files()).chain(chosen).collect()
}

fn text(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::of_file(path, &error))
}

/// A plan or a cut, and the sizes that it was made for.
pub struct Planned<P = Plan> {
    /// The plan, or the cut.
    pub plan: P,
    /// The sizes.
    pub hints: Hints,
    /// How long planning took: passes, the search for segments, schedules and lowering.
    pub time: Duration,
}

/// Plans a definition without making any data.
///
/// # Errors
/// When inputs or choices do not fit the definition.
pub fn plan(
    file: &File,
    request: &Request,
    options: &PlanOptions,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    made(file, request, options, target, machine, compiler::plan)
}

/// Plans a definition as `run` does on such inputs, which knows more of the sizes of rows than kernels for any sizes may.
///
/// # Errors
/// When inputs or choices do not fit the definition.
pub fn plan_for_call(
    file: &File,
    request: &Request,
    options: &PlanOptions,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    let inputs = Inputs::resolve(file, request)?;
    inputs.check()?;
    let (sizes, layouts) = inputs.facts();
    let call = CallFacts { layouts, sizes, by_order: false };
    let target = target.facts(|| machine.target(CpuTarget::Host));
    let begin = Instant::now();
    let planned = runtime::plan_for_call(&file.definition, &target, options, call);
    let (plan, hints) = planned.map_err(|error| Failure::user(of_plan(&file.definition, error)))?;
    Ok(Planned { plan, hints, time: begin.elapsed() })
}

/// Cuts a definition with the user's choices.
///
/// # Errors
/// When inputs or choices do not fit the definition.
pub fn cut(
    file: &File,
    request: &Request,
    options: &PlanOptions,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned<Cut>, Failure> {
    made(file, request, options, target, machine, compiler::cut)
}

/// Plans a definition with a segmentation to compare with.
///
/// # Errors
/// When inputs do not fit the definition.
pub fn baseline(
    file: &File,
    request: &Request,
    baseline: Baseline,
    target: CodeTarget,
    machine: &Machine,
) -> Result<Planned, Failure> {
    let (_, layouts) = Inputs::resolve(file, request)?.facts();
    plan_for_call(file, request, &baseline.options(&file.definition, &layouts), target, machine)
}

/// A target as a CPU whose code runs on this machine.
///
/// # Errors
/// For a GPU, and for a CPU with instructions that this one lacks.
pub fn runnable(target: CodeTarget, machine: &Machine) -> Result<CpuTarget, Failure> {
    match target {
        CodeTarget::Cpu(cpu) if cpu == CpuTarget::Host || machine.runs(cpu) => Ok(cpu),
        _ => Err(Failure::user(format!("code for {} does not run on this machine", target.name()))),
    }
}

/// A stage of the compiler, from a definition to a plan or a cut.
type Make<P> = fn(PlanRequest<'_>) -> Result<P, PlanError>;

fn made<P>(
    file: &File,
    request: &Request,
    options: &PlanOptions,
    target: CodeTarget,
    machine: &Machine,
    make: Make<P>,
) -> Result<Planned<P>, Failure> {
    let inputs = Inputs::resolve(file, request)?;
    inputs.check()?;
    let (sizes, layouts) = inputs.facts();
    let (hints, definition) = (Hints::new(sizes.known()), &file.definition);
    let fusion = target.fusion(definition, &hints);
    let target = target.facts(|| machine.target(CpuTarget::Host));
    let begin = Instant::now();
    let plan = make(PlanRequest {
        graph: &definition.graph,
        fusion: &fusion,
        tasks: &definition.tasks,
        layouts: &layouts,
        target: &target,
        hints: &hints,
        options,
    })
    .map_err(|error| Failure::user(of_plan(definition, error.into())))?;
    Ok(Planned { plan, hints, time: begin.elapsed() })
}
