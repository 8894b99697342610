//! The report of a run, as tables and as one JSON object.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use cuda::KernelResources;
use ferrofuse::{
    Definition, Executable, ExecutorKind, Hints, SegmentExplanation, TensorBytes, Variant, explain,
    output_names, table,
};
use ir::graph::Val;
use serde::Serialize;

use super::output_report::OutputReport;
use super::segments::Chain;
use super::{Calls, Ran};
use crate::failure::tell;

/// The number of names of a list that a table shows.
const SHOWN: usize = 4;

/// The report of a run.
#[derive(Serialize)]
pub(super) struct Report {
    executor: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
    segments: Vec<Segment>,
    #[serde(flatten)]
    outputs: OutputReport,
    kernels: Vec<Kernel>,
    plan_ms: f64,
    compile_ms: f64,
    /// Kernels whose machine code an earlier process compiled.
    cached_kernels: usize,
    first_call_ms: f64,
    call_ms: f64,
    peak_bytes: usize,
}

#[derive(Serialize)]
struct Segment {
    name: String,
    ops: usize,
    inputs: Vec<String>,
    outputs: Vec<String>,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluator_reason: Option<String>,
    /// Whether it runs nothing, because what it gives is seen in memory that is there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_view: bool,
    /// Whether the host runs it on copies, in a plan for a GPU.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    on_host: bool,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    ms: f64,
    bytes: u64,
    /// The resources that it takes of a GPU's multiprocessor.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    resources: Option<Resources>,
}

#[derive(Clone, Copy, Serialize)]
struct Resources {
    registers: u32,
    local_bytes: u32,
    blocks_per_multiprocessor: u32,
}

impl From<KernelResources> for Resources {
    fn from(resources: KernelResources) -> Resources {
        let KernelResources { registers, local_bytes, blocks } = resources;
        Resources { registers, local_bytes, blocks_per_multiprocessor: blocks }
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn cached_kernels(report: &ferrofuse::Report) -> usize {
    report.segments.iter().flat_map(|segment| &segment.kernels).filter(|kernel| kernel.cached).count()
}

/// The variants that ran, each with what stands before the names of its steps.
fn variants(ran: &Ran) -> Vec<(String, Arc<Variant>)> {
    let latest = |executable: &Executable| executable.latest().expect("it ran");
    match ran {
        Ran::Whole(executable) => vec![(String::new(), latest(executable))],
        Ran::Segments(chain) => {
            let Chain { executable, segments } = &**chain;
            // An executable has no part for a segment that makes nothing but copies, which run later.
            let parts = executable.numbers().zip(executable.segments());
            parts.map(|(number, part)| (format!("{}.", segments[number].name), latest(part))).collect()
        }
    }
}

impl Report {
    /// Collects the facts about a run.
    pub fn new(
        ran: &Ran,
        definition: &Definition,
        hints: &Hints,
        calls: &Calls<'_>,
        outputs: OutputReport,
    ) -> Report {
        let variants = variants(ran);
        let segments = match ran {
            Ran::Whole(executable) => of_whole(executable, &variants[0].1, hints),
            Ran::Segments(chain) => of_chain(chain, definition, hints),
        };
        let of_kernel = |name: &str| {
            let kernels = variants.iter().flat_map(|(before, variant)| {
                let kernels = variant.report.segments.iter().flat_map(|segment| &segment.kernels);
                kernels.map(move |kernel| (before, kernel))
            });
            let is_own = |before: &str, own: &str| name.strip_prefix(before) == Some(own);
            kernels.into_iter().find(|(before, kernel)| is_own(before, &kernel.name))?.1.resources
        };
        let step = |step: &ferrofuse::StepReport| Kernel {
            name: step.name.clone(),
            ms: ms(step.time),
            bytes: step.bytes(),
            resources: of_kernel(&step.name).map(Resources::from),
        };
        let reports = || variants.iter().map(|(_, variant)| &variant.report);
        Report {
            executor: reports().next().map_or(ExecutorKind::Evaluator, |report| report.executor).name(),
            notice: reports().find_map(|report| report.notice.clone()),
            segments,
            outputs,
            kernels: calls.best.steps.iter().map(step).collect(),
            plan_ms: reports().map(|report| ms(report.plan)).sum(),
            compile_ms: reports().map(|report| ms(report.compile)).sum(),
            cached_kernels: reports().map(cached_kernels).sum(),
            first_call_ms: ms(calls.first),
            call_ms: ms(calls.best.total),
            peak_bytes: calls.best.peak_bytes,
        }
    }

    /// Tells the notice about what ran, if there is one.
    pub fn tell(&self) {
        self.notice.iter().for_each(tell);
    }

    /// Whether no check failed.
    pub fn matches(&self) -> bool {
        self.outputs.matches()
    }

    /// The tables.
    pub fn write(&self, timed: bool, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}", table::columns(&self.segment_rows()))?;
        if timed {
            write!(out, "\n{}", table::columns(&self.kernel_rows()))?;
            let [plan, compile, first, call] =
                [self.plan_ms, self.compile_ms, self.first_call_ms, self.call_ms].map(time_of_ms);
            let kept = match self.cached_kernels {
                0 => String::new(),
                cached => format!(" ({cached} kernels kept from before)"),
            };
            writeln!(out, "plan {plan}, compile {compile}{kept}, first call {first}, best call {call}")?;
        }
        writeln!(out)?;
        self.outputs.write(out)
    }

    fn segment_rows(&self) -> Vec<Vec<String>> {
        let heading = ["segment", "ops", "reads", "writes", "bytes", "runs as"].map(str::to_owned).to_vec();
        let row = |segment: &Segment| {
            let host = if segment.on_host { " on the host" } else { "" };
            let runs_as = match (&segment.library, &segment.evaluator_reason) {
                _ if segment.is_view => "view".to_owned(),
                (Some(op), _) => format!("library {op}{host}"),
                (None, Some(reason)) => format!("evaluator: {reason}"),
                (None, None) => "kernel".to_owned(),
            };
            vec![
                segment.name.clone(),
                segment.ops.to_string(),
                few(&segment.inputs),
                few(&segment.outputs),
                table::bytes(segment.bytes),
                runs_as,
            ]
        };
        std::iter::once(heading).chain(self.segments.iter().map(row)).collect()
    }

    fn kernel_rows(&self) -> Vec<Vec<String>> {
        let of_gpu = self.kernels.iter().any(|kernel| kernel.resources.is_some());
        let mut heading = vec!["kernel", "time", "bytes", "GB/s"];
        heading.extend(of_gpu.then_some(["registers", "local bytes", "blocks/SM"]).into_iter().flatten());
        let row = |kernel: &Kernel| {
            let rate = kernel.bytes as f64 / (kernel.ms * 1e6);
            let mut row = vec![
                kernel.name.clone(),
                time_of_ms(kernel.ms),
                table::bytes(kernel.bytes),
                format!("{rate:.1}"),
            ];
            if let Some(Resources { registers, local_bytes, blocks_per_multiprocessor }) = kernel.resources {
                row.extend(
                    [registers, local_bytes, blocks_per_multiprocessor].map(|number| number.to_string()),
                );
            }
            row
        };
        let heading = heading.into_iter().map(str::to_owned).collect();
        std::iter::once(heading).chain(self.kernels.iter().map(row)).collect()
    }
}

/// The segments of a definition that ran as a whole.
fn of_whole(executable: &Executable, variant: &Variant, hints: &Hints) -> Vec<Segment> {
    match variant.report.executor {
        ExecutorKind::Evaluator => {
            variant.steps.segments.iter().map(|segment| whole(executable, segment, hints)).collect()
        }
        _ => {
            let explained = explain(executable.definition(), &variant.plan, hints).expect("its own plan");
            explained.segments.into_iter().map(segment).collect()
        }
    }
}

/// Segments that ran one by one; each may be several of its own plan, which are then counted together.
fn of_chain(chain: &Chain, definition: &Definition, hints: &Hints) -> Vec<Segment> {
    let parts = chain.executable.numbers().zip(chain.executable.segments());
    let segment = |(number, part): (usize, &Executable)| {
        let given = &chain.segments[number];
        let parts = of_whole(part, &part.latest().expect("it ran"), &given.hints(definition, hints));
        Segment {
            name: given.name.clone(),
            ops: parts.iter().map(|part| part.ops).sum(),
            inputs: given.inputs.clone(),
            outputs: given.outputs.clone(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            library: parts.iter().find_map(|part| part.library.clone()),
            evaluator_reason: parts.iter().find_map(|part| part.evaluator_reason.clone()),
            is_view: parts.is_empty(),
            on_host: parts.iter().any(|part| part.on_host),
        }
    };
    parts.map(segment).collect()
}

fn segment(explanation: SegmentExplanation) -> Segment {
    let names = |tensors: &[TensorBytes]| tensors.iter().map(|tensor| tensor.name.clone()).collect();
    Segment {
        inputs: names(&explanation.inputs),
        outputs: names(&explanation.outputs),
        bytes: explanation.bytes,
        name: explanation.name,
        ops: explanation.ops,
        is_view: false,
        on_host: explanation.on_host,
        library: explanation.library,
        evaluator_reason: explanation.evaluator_reason,
    }
}

/// A segment without a plan: the whole definition on the evaluator.
fn whole(executable: &Executable, whole: &execution::ExecutedSegment, hints: &Hints) -> Segment {
    let definition = executable.definition();
    // The inputs and outputs of the segment's own view are in a graph that passes have added to.
    let (read, written) = (definition.fusion.inputs(), definition.fusion.outputs());
    let written: Vec<Val> = written.iter().map(|output| output.val).collect();
    let bytes = |val: &Val| hints.value(&definition.graph.ty(*val).bytes());
    Segment {
        name: whole.name.clone(),
        ops: definition.fusion.order().len(),
        inputs: read.iter().map(|&val| definition.name_of(val)).collect(),
        outputs: output_names(definition),
        bytes: read.iter().chain(&written).map(bytes).sum(),
        library: whole.external_op.map(str::to_owned),
        evaluator_reason: whole.evaluator_reason.clone(),
        is_view: false,
        on_host: false,
    }
}

/// The first names of a list.
fn few(names: &[String]) -> String {
    match names.len() {
        0 => "nothing".to_owned(),
        n if n <= SHOWN => names.join(", "),
        n => format!("{}, and {} more", names[..SHOWN - 1].join(", "), n - SHOWN + 1),
    }
}

fn time_of_ms(ms: f64) -> String {
    table::time(Duration::from_secs_f64(ms / 1e3))
}
