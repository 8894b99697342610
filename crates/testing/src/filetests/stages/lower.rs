//! How each segment's kernels are connected: sources of buffers and arguments, and values kept between kernels.

use std::fmt::Write;

use compiler::SegmentPlan;
use ferrofuse::{Decision, Plan};
use kernel::print::index;
use lowering::{BufferSource, KernelArgument, Lowered, LoweredSegment};

use super::{Case, Outcome, Stage, planned};

pub(super) struct Lower;

impl Stage for Lower {
    fn name(&self) -> &'static str {
        "lower"
    }

    fn run(&self, case: &Case) -> Outcome {
        let text = |(_, plan): (_, Plan)| {
            let segments = plan.segments.iter().zip(&plan.lowered).map(segment);
            segments.collect::<Vec<_>>().join("\n")
        };
        planned(case).map(text).into()
    }
}

fn segment((plan, lowered): (&SegmentPlan, &LoweredSegment)) -> String {
    match &plan.decision {
        Decision::Kernels(_) => format!("{}\n{}", plan.name, connections(lowered)),
        Decision::External(call) => format!("{}\n  library: {}\n", plan.name, call.op),
        Decision::Evaluate { reason, val } => format!("{}\n  evaluator: {val} {reason}\n", plan.name),
    }
}

fn connections(lowered: &LoweredSegment) -> String {
    let mut text = String::new();
    for (place, memory) in lowered.temporaries.iter().enumerate() {
        let _ = writeln!(text, "  temporary {place}: {}[{}]", memory.dtype, memory.len);
    }
    lowered.kernels.iter().for_each(|kernel| text += &launch(kernel));
    text
}

fn launch(lowered: &Lowered) -> String {
    let buffer = |source: &BufferSource| match source {
        BufferSource::Input(place) => format!("input {place}"),
        BufferSource::Store(place) => format!("store {place}"),
        BufferSource::Temporary(place) => format!("temporary {place}"),
        BufferSource::Faults => "faults".to_owned(),
    };
    let argument = |argument: &KernelArgument| match argument {
        KernelArgument::Size(symbol) => symbol.to_string(),
        KernelArgument::Stride { input, axis } => format!("stride {axis} of input {input}"),
        KernelArgument::StoreStride { store, axis } => format!("stride {axis} of store {store}"),
    };
    let list = |items: Vec<String>| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let kernel = &lowered.kernel;
    format!(
        "  {}: {} blocks of {} lanes\n    buffers {}\n    arguments {}\n",
        kernel.name,
        index(kernel, &kernel.blocks),
        kernel.lanes,
        list(lowered.buffers.iter().map(buffer).collect()),
        list(lowered.arguments.iter().map(argument).collect()),
    )
}
