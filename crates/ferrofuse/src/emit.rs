//! The text of each stage of the pipeline, from the definition to machine code.
//!
//! Takes a definition, the plan made of it and a stage; decides nothing and runs nothing. Definition, segments, schedules
//! and kernels read back.

use std::fmt::{self, Write};
use std::str::FromStr;

use codegen::cpu::{self, Isa};
use codegen_c::c;
use compiler::{Decision, Plan, SegmentPlan};
use frontend::define::{AsWritten, DefineError};
use frontend::text::{NameStyle, print, print_as_written};
use ir::definition::Definition;
use kernel::Kernel;
use llvm::{Llvm, Output};
use lowering::LoweredSegment;
use runtime::{CompileOptions, Error, unforked};

use crate::kernel_text::KernelText;
use crate::languages::{CUDA_CPP, LANGUAGES, Language};
use crate::names::ValueNames;
use crate::other_definition::{OtherDefinition, require_cut_of};
use crate::segments::{Segment, require_segments, segmentation_text};
use crate::{CodeTarget, lambdas};

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The definition, in nvFuser's language.
    Definition,
    /// The graph that was built of it.
    Graph,
    /// The bodies of its folds and scans by lambdas, each as a definition.
    Lambdas,
    /// The result of graph passes, with composites as the user wrote them.
    Optimized,
    /// Which values are kept in memory, and which segment makes them.
    Segments,
    /// How each segment's kernel is walked.
    Schedule,
    /// The loop programs.
    Kernel,
    /// LLVM IR, before LLVM's passes.
    Llvm,
    /// Assembly.
    Asm,
    /// A language of the C family, by its name.
    C(&'static str),
}

/// Why there is no such text.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A segment that does not exist.
    #[error("there is no segment {asked}; there are {there}")]
    Segment {
        /// The one asked for.
        asked: usize,
        /// How many there are.
        there: usize,
    },
    /// A segment of a stage of the whole definition.
    #[error("stage {stage} is of the whole definition, not of a segment")]
    Whole {
        /// The stage.
        stage: &'static str,
    },
    /// The stage is not one of this target.
    #[error("stage {stage} is not made for target {target}")]
    Target {
        /// The stage.
        stage: &'static str,
        /// The target.
        target: &'static str,
    },
    /// A segment that is an external op.
    #[error("{segment} is {op}, which a library computes: it has no {language} text")]
    External {
        /// The language.
        language: &'static str,
        /// The segment.
        segment: String,
        /// The op.
        op: &'static str,
    },
    /// The result of passes, or a lambda, cannot be written in the definition language.
    #[error(transparent)]
    Define(#[from] DefineError),
    /// A schedule that does not fit its segment, or a segment of another definition.
    #[error(transparent)]
    Plan(#[from] Error),
    /// A plan of another definition.
    #[error(transparent)]
    Cut(#[from] OtherDefinition),
    /// No libLLVM, or it gave an error.
    #[error(transparent)]
    Llvm(#[from] llvm::Error),
    /// The kernel has no LLVM IR.
    #[error(transparent)]
    Cpu(#[from] cpu::EmitError),
    /// The kernel has no text in the language.
    #[error(transparent)]
    C(#[from] c::EmitError),
}

impl Stage {
    /// CUDA C++.
    pub const CUDA: Stage = Stage::C(CUDA_CPP.name);

    /// All stages, in order.
    pub fn all() -> impl Iterator<Item = Stage> {
        let languages = LANGUAGES.iter().map(|language| Stage::C(language.name));
        let others = [
            Stage::Definition,
            Stage::Graph,
            Stage::Lambdas,
            Stage::Optimized,
            Stage::Segments,
            Stage::Schedule,
            Stage::Kernel,
            Stage::Llvm,
            Stage::Asm,
        ];
        others.into_iter().chain(languages)
    }

    /// Its name, if its text is of the whole definition.
    fn of_whole(self) -> Option<&'static str> {
        let is_whole = matches!(
            self,
            Stage::Definition | Stage::Graph | Stage::Lambdas | Stage::Optimized | Stage::Segments
        );
        is_whole.then(|| self.name())
    }

    /// Whether its text is one definition or several.
    pub fn is_of_definitions(self) -> bool {
        matches!(self, Stage::Definition | Stage::Lambdas | Stage::Optimized)
    }

    /// The language of the C family that it prints.
    fn language(self) -> Option<&'static Language> {
        match self {
            Stage::C(name) => Language::named(name),
            _ => None,
        }
    }

    /// The machine that its text is made for if none is named.
    pub fn usual_target(self) -> CodeTarget {
        self.language().map_or(CodeTarget::HOST, |language| CodeTarget::Gpu(language.usual_target))
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Definition => "definition",
            Stage::Graph => "graph",
            Stage::Lambdas => "lambdas",
            Stage::Optimized => "optimized",
            Stage::Segments => "segments",
            Stage::Schedule => "schedule",
            Stage::Kernel => "kernel",
            Stage::Llvm => "llvm",
            Stage::Asm => "asm",
            Stage::C(name) => name,
        }
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(name: &str) -> Result<Stage, String> {
        let known: Vec<&str> = Stage::all().map(Stage::name).collect();
        Stage::all()
            .find(|stage| stage.name() == name)
            .ok_or_else(|| format!("unknown stage `{name}`; known are {}", known.join(", ")))
    }
}

/// What a text is made for.
#[derive(Clone, Copy, Debug)]
pub struct EmitOptions<'l> {
    /// The machine that code is made for; it need not be this one.
    pub target: CodeTarget,
    /// The number of the only segment to print; all without it.
    pub segment: Option<usize>,
    /// The names of values in definitions.
    pub names: NameStyle,
    /// libLLVM, or why it is missing; only LLVM IR and assembly need it.
    pub llvm: Result<&'l Llvm, &'l llvm::Error>,
}

/// The text of a stage. Segments that a library or the evaluator runs have a comment instead.
///
/// # Errors
/// When the plan is of another definition, there is no such segment or the stage is of the whole definition, the target does
/// not fit the stage, or libLLVM is needed and missing.
pub fn emit(
    stage: Stage,
    definition: &Definition,
    plan: &Plan,
    options: &EmitOptions<'_>,
) -> Result<String, EmitError> {
    require_cut_of(definition, plan)?;
    if let (Some(_), Some(stage)) = (options.segment, stage.of_whole()) {
        return Err(EmitError::Whole { stage });
    }
    if let Some(asked) = options.segment.filter(|&asked| asked >= plan.segments.len()) {
        return Err(EmitError::Segment { asked, there: plan.segments.len() });
    }
    if let Some(text) = emit_written(stage, definition, options.names) {
        return text;
    }
    match (stage, options.target) {
        (Stage::Optimized, _) => optimized(definition, plan, options.names),
        (Stage::Segments, _) => Ok(segmentation_text(definition, plan)),
        (Stage::Llvm | Stage::Asm, CodeTarget::Gpu(_)) => Err(unsuitable(stage, options.target)),
        (Stage::C(name), target) if target.language().is_none_or(|language| language.name != name) => {
            Err(unsuitable(stage, target))
        }
        _ => per_segment(stage, definition, plan, options),
    }
}

/// The text of a stage of segments that run one by one, each planned as its own definition with its schedule. Of a stage
/// before segments it is that of the whole definition.
///
/// # Errors
/// As [`emit`], and for a schedule that does not fit.
pub fn emit_segments(
    stage: Stage,
    whole: &Definition,
    segments: &[Segment],
    options: &EmitOptions<'_>,
    compile_options: &CompileOptions,
) -> Result<String, EmitError> {
    if let (Some(_), Some(stage)) = (options.segment, stage.of_whole().filter(|_| stage != Stage::Optimized))
    {
        return Err(EmitError::Whole { stage });
    }
    if let Some(asked) = options.segment.filter(|&asked| asked >= segments.len()) {
        return Err(EmitError::Segment { asked, there: segments.len() });
    }
    if let Some(text) = emit_written(stage, whole, options.names) {
        return text;
    }
    if stage == Stage::Segments {
        let line =
            |segment: &Segment| format!("segment {} -> {}\n", segment.name, segment.outputs.join(", "));
        return Ok(segments.iter().map(line).collect());
    }
    require_segments(whole, segments)?;
    let chosen = options.segment.map_or(segments, |only| &segments[only..=only]);
    let text = |segment: &Segment| {
        let plan = segment.planned_alone(whole, options.target, compile_options)?;
        let alone = EmitOptions { segment: None, ..*options };
        let text = emit(stage, segment.definition(), &plan, &alone)?;
        Ok(if stage == Stage::Optimized { format!("# {}\n{text}", segment.name) } else { text })
    };
    let texts = chosen.iter().map(text).collect::<Result<Vec<String>, EmitError>>()?;
    Ok(texts.join("\n"))
}

fn unsuitable(stage: Stage, target: CodeTarget) -> EmitError {
    EmitError::Target { stage: stage.name(), target: target.name() }
}

/// The text of a stage that exists before anything is planned; `None` for stages that need a plan.
///
/// # Errors
/// If a lambda cannot be written in the definition language.
pub fn emit_written(
    stage: Stage,
    definition: &Definition,
    names: NameStyle,
) -> Option<Result<String, EmitError>> {
    match stage {
        Stage::Definition => Some(Ok(print(definition, names))),
        Stage::Graph => Some(Ok(ir::graph::dump(&definition.graph, &definition.fusion))),
        Stage::Lambdas => Some(lambdas::printed(definition, names).map_err(EmitError::from)),
        _ => None,
    }
}

/// The fusion after all passes as a definition. A comment names each composite that a pass lost, and says how.
fn optimized(definition: &Definition, plan: &Plan, names: NameStyle) -> Result<String, EmitError> {
    let written = AsWritten { record: &definition.record, tasks: &plan.tasks, passed: Some(&plan.map) };
    let mut text = print_as_written(&plan.graph, &plan.fusion, written, names)?;
    for ((_, pattern), became) in definition.tasks.patterns().zip(&plan.patterns) {
        if let Err(reason) = became {
            let _ = writeln!(text, "# {}: {reason}", pattern.name);
        }
    }
    Ok(text)
}

/// The texts of the segments under each other.
fn per_segment(
    stage: Stage,
    definition: &Definition,
    plan: &Plan,
    options: &EmitOptions<'_>,
) -> Result<String, EmitError> {
    let values = ValueNames::new(definition, plan);
    let names = stage.language().map(|_| &values);
    let comment = match stage {
        Stage::Schedule | Stage::Kernel => "#",
        Stage::Llvm => ";",
        Stage::Asm => "#",
        _ => "//",
    };
    let mut text = String::new();
    for (number, segment) in plan.segments.iter().enumerate() {
        if options.segment.is_some_and(|only| only != number) {
            continue;
        }
        let SegmentPlan { name, decision, .. } = segment;
        let batch = plan.batch_of(number);
        let part = match decision {
            Decision::Kernels(_) if names.is_some() && number > batch.start && options.segment.is_none() => {
                format!("{comment} A member of the launch of {}.\n", plan.segments[batch.start].name)
            }
            Decision::Kernels(kernels) if stage == Stage::Schedule => kernels.schedule.to_string(),
            Decision::Kernels(kernels) => match (names, stage.language()) {
                (Some(names), Some(Language { dialect, .. })) => {
                    let text = KernelText::new(&plan.graph, segment, names);
                    text.text(kernels, &plan.lowered[number], batch.len(), dialect)?
                }
                _ => of_kernels(stage, &plan.lowered[number], options)?,
            },
            Decision::External(call) if let Some(Language { dialect, .. }) = stage.language() => {
                let (segment, op, language) = (name.clone(), call.op.name(), dialect.name);
                return Err(EmitError::External { segment, op, language });
            }
            Decision::External(call) => format!("{comment} {name}: a library computes {}\n", call.op),
            Decision::Evaluate { reason, val } => {
                format!("{comment} {name} runs on the evaluator: {} {reason}\n", values.of(*val))
            }
        };
        let heading = if text.is_empty() { "" } else { "\n" };
        let _ = write!(text, "{heading}{comment} {name}\n{part}");
    }
    Ok(text)
}

fn of_kernels(
    stage: Stage,
    lowered: &LoweredSegment,
    options: &EmitOptions<'_>,
) -> Result<String, EmitError> {
    let programs = lowered.kernels.iter().map(|lowered| of_kernel(stage, &lowered.kernel, options));
    let texts: Vec<String> = programs.collect::<Result<_, _>>()?;
    Ok(texts.join("\n"))
}

fn of_kernel(stage: Stage, kernel: &Kernel, options: &EmitOptions<'_>) -> Result<String, EmitError> {
    let CodeTarget::Cpu(target) = options.target else {
        return Ok(kernel.to_string());
    };
    if stage == Stage::Kernel {
        return Ok(kernel.to_string());
    }
    let llvm = options.llvm.map_err(Clone::clone)?;
    let isa = Isa::new(llvm, target);
    let module = cpu::emit(kernel, &isa)?;
    if stage == Stage::Llvm {
        return Ok(module.ir);
    }
    let compiled = unforked(|| llvm.compile(&module.ir, isa.spec(), Output::Assembly))?;
    Ok(String::from_utf8_lossy(&compiled.bytes).into_owned())
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
