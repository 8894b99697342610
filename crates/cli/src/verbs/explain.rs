//! `ferrofuse explain`: the segments of a definition, the bytes they move, and why each boundary is there.

mod saved;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use cuda::LibraryPaths;
use ferrofuse::{
    Baseline, CodeTarget, CompileOptions, Definition, Difference, Explanation, Machine, difference, explain,
    explain_compiled, explain_segments, explain_without_llvm, html, svg, table,
};
use files::Targets;
use serde::Serialize;

use crate::definition;
use crate::failure::{Failure, Outcome};
use crate::given::GivenDefinition;
use crate::gpu_code::GpuCode;
use crate::inputs::Request;
use crate::planning::{self, Choices, Planned};
use crate::segment_folder::definition_of;
use saved::SavedExplanation;

/// Say which segments a definition becomes, what they move and why; runs nothing.
#[derive(Args)]
pub struct Options {
    /// The definition file, a folder that `ferrofuse segment` wrote, or what `explain --json` printed (NAME.json)
    file: PathBuf,
    #[command(flatten)]
    request: Request,
    #[command(flatten)]
    choices: Choices,
    /// The machine: host, x86-64, avx2, avx512, aarch64, sm_80, … sm_100 [default: host]
    #[arg(long, value_name = "NAME")]
    target: Option<CodeTarget>,
    /// One JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Draw the segment graph into this SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the picture and the tables into this HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Compare with pairwise merging, or with no fusion at all
    #[arg(long, value_name = "HOW", value_parser = baselines())]
    compare: Option<Baseline>,
    /// Say what differs from another definition, or from what `explain --json` printed of one (NAME.json)
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    against: Option<PathBuf>,
}

/// The totals of a plan to compare with.
#[derive(Serialize)]
struct Compared {
    with: &'static str,
    segments: usize,
    bytes: u64,
    traffic_ratio: f64,
}

/// An explanation, and the totals that it is compared with.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    explanation: Explanation,
    /// Milliseconds of planning: passes, search, schedules and lowering. Left out for a saved explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<Compared>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<Difference>,
}

/// Writes the explanation.
pub fn run(
    options: &Options,
    machine: &Arc<Machine>,
    libraries: &LibraryPaths,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    options.require_planned()?;
    let targets = options.targets()?;
    let code = GpuCode::new(options.target(), machine, libraries);
    let Explained { explanation, search_ms, unsaid } =
        options.explained(&options.file, &options.choices, machine, &code)?;
    let compared = options.compare.map(|with| options.baseline(with, machine)).transpose()?;
    let drawn = options.svg.iter().map(|_| Ok(svg(&explanation)));
    let page = options.html.iter().map(|_| options.page(&explanation, machine));
    let texts = drawn.chain(page).collect::<Result<Vec<String>, Failure>>()?;
    targets.write(|place, out| -> io::Result<()> { out.write_all(texts[place].as_bytes()) })?;
    let other = options.against.as_ref().map(|path| options.other(path, machine, &code)).transpose()?;
    let difference = other.map(|other| {
        let unsaid = [unsaid, other.unsaid].concat();
        difference(&explanation, &other.explanation).without(&unsaid)
    });
    let compared = options.compare.zip(compared).map(|(with, explained)| Compared::of(with, &explained));
    if options.json {
        let report = Report { explanation, search_ms, compared, difference };
        writeln!(out, "{}", serde_json::to_string_pretty(&report).expect("an explanation is plain data"))?;
        return Ok(Outcome::Fine);
    }
    if let (Some(path), Some(difference)) = (&options.against, difference) {
        let [first, second] = [&options.file, path].map(|path| path.display().to_string());
        write!(out, "{}", difference.lines(&first, &second))?;
        return Ok(Outcome::Fine);
    }
    write!(out, "{explanation}")?;
    if let Some(Compared { with, segments, bytes, traffic_ratio }) = compared {
        let moved = table::bytes(bytes);
        writeln!(out, "{with}: {segments} segments, {moved} moved, traffic ratio {traffic_ratio:.3}")?;
    }
    Ok(Outcome::Fine)
}

/// Whether a file has the output of `explain --json`.
fn is_saved(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// An explanation, with milliseconds of planning if it was made now, and with the missing facts if it was saved.
struct Explained {
    explanation: Explanation,
    search_ms: Option<f64>,
    unsaid: Vec<&'static str>,
}

impl Options {
    /// The machine to plan for.
    fn target(&self) -> CodeTarget {
        self.target.unwrap_or(CodeTarget::HOST)
    }

    /// Rejects choices and sizes if nothing is planned.
    fn require_planned(&self) -> Result<(), Failure> {
        if !is_saved(&self.file) || self.against.as_deref().is_some_and(|other| !is_saved(other)) {
            return Ok(());
        }
        let reason = "a saved explanation is not planned again: give the definition file";
        self.choices.require_none(reason)?;
        let target = self.target.map(|_| "--target");
        match self.request.first_given().or(target) {
            Some(option) => Err(Failure::user(format!("{option}: {reason}"))),
            None => Ok(()),
        }
    }

    /// The files for the picture and the page, in this order.
    fn targets(&self) -> Result<Targets, Failure> {
        let outputs: Vec<&Path> = self.svg.iter().chain(&self.html).map(PathBuf::as_path).collect();
        let file = definition_of(&self.file);
        let mut inputs = planning::files(&file, &self.request, &self.choices);
        inputs.extend(self.against.as_deref());
        Ok(Targets::new(&outputs, &inputs)?)
    }

    /// The explanation of a definition, or a saved one. Facts that an earlier version did not report are only left out of a
    /// difference.
    fn explained(
        &self,
        path: &Path,
        choices: &Choices,
        machine: &Arc<Machine>,
        code: &GpuCode<'_>,
    ) -> Result<Explained, Failure> {
        if is_saved(path) {
            let SavedExplanation { explanation, unsaid } = SavedExplanation::read(path)?;
            if self.against.is_none() && !unsaid.is_empty() {
                let message =
                    format!("{}: an earlier version, without {}", path.display(), unsaid.join(", "));
                return Err(Failure::user_with_help(message, "it can be compared: --against FILE"));
            }
            return Ok(Explained { explanation, search_ms: None, unsaid });
        }
        let chosen = GivenDefinition::read(path, choices)?;
        let (file, options) = match &chosen {
            GivenDefinition::Whole(file, options) => (file.clone(), options),
            GivenDefinition::Segments(given) => (given.file.clone(), &given.options),
        };
        let planned = planning::plan_for_call(&file, &self.request, options, self.target(), machine)?;
        let search_ms = Some(1e3 * planned.time.as_secs_f64());
        let explanation = self.of_plan(path, chosen, &file.definition, &planned, machine, code)?;
        Ok(Explained { explanation, search_ms, unsaid: Vec::new() })
    }

    /// The explanation of a plan, or of the segments that run in its place. Without libLLVM the evaluator runs either.
    fn of_plan(
        &self,
        path: &Path,
        chosen: GivenDefinition,
        definition: &Definition,
        Planned { plan, hints, .. }: &Planned,
        machine: &Arc<Machine>,
        code: &GpuCode<'_>,
    ) -> Result<Explanation, Failure> {
        let is_on_evaluator = self.target() == CodeTarget::HOST && machine.llvm().is_err();
        let GivenDefinition::Segments(given) = chosen else {
            return Ok(match is_on_evaluator {
                true => explain_without_llvm(definition, hints),
                false => explain_compiled(definition, plan, hints, &code.of(plan)).map_err(Failure::user)?,
            });
        };
        let whole = explain_compiled(definition, plan, hints, &code.of(plan)).map_err(Failure::user)?;
        let segments = given.of_cut(path, plan, hints)?;
        let (machine, hints) = (Arc::clone(machine), hints.clone());
        let options = CompileOptions { machine, hints, ..CompileOptions::default() };
        let explained = explain_segments(whole, definition, plan, &segments, self.target(), &options);
        let explained = explained.map_err(Failure::of_segments)?;
        Ok(if is_on_evaluator { explained.without_llvm() } else { explained })
    }

    /// The explanation to compare with. Choices are for the first file that is planned.
    fn other(&self, path: &Path, machine: &Arc<Machine>, code: &GpuCode<'_>) -> Result<Explained, Failure> {
        let none = Choices::default();
        let choices = if is_saved(&self.file) { &self.choices } else { &none };
        self.explained(path, choices, machine, code)
    }

    /// The explanation of another segmentation of the definition.
    fn baseline(&self, with: Baseline, machine: &Arc<Machine>) -> Result<Explanation, Failure> {
        if is_saved(&self.file) {
            let message = format!("{}: a saved explanation has no other segmentation", self.file.display());
            return Err(Failure::user_with_help(message, "give the definition file"));
        }
        let file = definition::read(&definition_of(&self.file))?;
        let planned = planning::baseline(&file, &self.request, with, self.target(), machine)?;
        explain(&file.definition, &planned.plan, &planned.hints).map_err(Failure::user)
    }

    /// The page, with the segmentations to compare with.
    fn page(&self, explanation: &Explanation, machine: &Arc<Machine>) -> Result<String, Failure> {
        let title = self.file.display().to_string();
        if is_saved(&self.file) {
            return Ok(html(explanation, &title, &[]));
        }
        let others = Baseline::ALL.map(|with| Ok((with.name(), self.baseline(with, machine)?)));
        let others = others.into_iter().collect::<Result<Vec<_>, Failure>>()?;
        let others: Vec<(&str, &Explanation)> = others.iter().map(|(name, other)| (*name, other)).collect();
        Ok(html(explanation, &title, &others))
    }
}

/// The baselines as values of an option.
fn baselines() -> impl TypedValueParser<Value = Baseline> {
    let value = |baseline: Baseline| {
        let help = match baseline {
            Baseline::Greedy => {
                "Producers and consumers merged pair by pair, nothing computed twice to save bytes"
            }
            Baseline::Unfused => "Each operation by itself",
        };
        PossibleValue::new(baseline.name()).help(help)
    };
    PossibleValuesParser::new(Baseline::ALL.map(value)).try_map(|name| name.parse())
}

impl Compared {
    fn of(with: Baseline, explanation: &Explanation) -> Compared {
        let Explanation { segments, bytes, traffic_ratio, .. } = explanation;
        let (bytes, traffic_ratio) = (*bytes, *traffic_ratio);
        Compared { with: with.name(), segments: segments.len(), bytes, traffic_ratio }
    }
}
