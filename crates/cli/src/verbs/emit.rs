//! `ferrofuse emit`: the result of each stage of compilation, as text.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use ferrofuse::{
    CodeTarget, CompileOptions, EmitError, EmitOptions, Machine, NameStyle, Stage, emit, emit_segments,
    emit_written,
};

use crate::failure::{Failure, Outcome};
use crate::given::GivenDefinition;
use crate::inputs::Request;
use crate::number::number;
use crate::planning::{self, Choices, Planned};

/// Print a definition at some stage of its way to machine code.
#[derive(Args)]
pub struct Options {
    /// The definition file
    file: PathBuf,
    /// definition, graph, lambdas, optimized, segments, schedule, kernel, llvm, asm or cuda
    #[arg(long)]
    stage: Stage,
    /// Only the segment with this number
    #[arg(long, value_name = "N", value_parser = number::<usize>, allow_negative_numbers = true)]
    segment: Option<usize>,
    /// The machine: host, x86-64, avx2, avx512, aarch64, sm_80, … sm_100 [default: host, sm_90 for cuda]
    #[arg(long, value_name = "NAME")]
    target: Option<CodeTarget>,
    /// How values are called where definitions are printed: tv0 and c0, or T0 and S1
    #[arg(long, value_name = "HOW")]
    names: Option<Names>,
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    choices: Choices,
}

/// The styles of names, as nvFuser's printers have them.
#[derive(Clone, Copy, ValueEnum)]
enum Names {
    /// tv0 and c0, tensors and scalars numbered separately
    Long,
    /// T0 and S1, numbered together
    Short,
}

/// Writes the text.
pub fn run(options: &Options, machine: &Arc<Machine>, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let names = options.names()?;
    let chosen = GivenDefinition::read_file(&options.file, &options.choices)?;
    if let Some(text) = options.written(&chosen, names) {
        write!(out, "{}", text.map_err(failure)?)?;
        return Ok(Outcome::Fine);
    }
    let target = options.target.unwrap_or(options.stage.usual_target());
    let llvm = machine.llvm();
    let emit_options = EmitOptions { target, segment: options.segment, names, llvm: llvm.as_ref() };
    let text = match chosen {
        GivenDefinition::Whole(file, plan_options) => {
            let planned = planning::plan(&file, &options.request, &plan_options, target, machine)?;
            emit(options.stage, &file.definition, &planned.plan, &emit_options)
        }
        GivenDefinition::Segments(given) => {
            let (file, request) = (given.file.clone(), &options.request);
            let Planned { plan: cut, hints, .. } =
                planning::cut(&file, request, &given.options, target, machine)?;
            let segments = given.of_cut(&options.file, &cut, &hints)?;
            let machine = Arc::clone(machine);
            let compile_options = CompileOptions { machine, hints, ..CompileOptions::default() };
            emit_segments(options.stage, &file.definition, &segments, &emit_options, &compile_options)
        }
    };
    write!(out, "{}", text.map_err(failure)?)?;
    Ok(Outcome::Fine)
}

impl Options {
    /// The names of values, which only definitions have.
    fn names(&self) -> Result<NameStyle, Failure> {
        match self.names {
            Some(_) if !self.stage.is_of_definitions() => {
                let known: Vec<&str> =
                    Stage::all().filter(|stage| stage.is_of_definitions()).map(Stage::name).collect();
                let known = known.join(", ");
                let message = format!(
                    "--names: stage {} is no definition; those of definitions are {known}",
                    self.stage
                );
                Err(Failure::user(message))
            }
            Some(Names::Short) => Ok(NameStyle::Short),
            Some(Names::Long) | None => Ok(NameStyle::Long),
        }
    }

    /// The text, if it exists before planning and there is no choice to check.
    fn written(&self, chosen: &GivenDefinition, names: NameStyle) -> Option<Result<String, EmitError>> {
        let is_chosen =
            self.choices.first_given().is_some() || matches!(chosen, GivenDefinition::Segments(_));
        let is_given = self.segment.is_some() || is_chosen || self.request.says_sizes();
        if is_given { None } else { emit_written(self.stage, &chosen.file().definition, names) }
    }
}

fn failure(error: EmitError) -> Failure {
    match error {
        EmitError::Llvm(_) => Failure::machine(error),
        _ => Failure::user(error),
    }
}
