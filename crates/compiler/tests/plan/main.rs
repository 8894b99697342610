//! Plans of small definitions: which groups are one kernel and why others are not, which choices are taken, and that any
//! valid choice lowers to a kernel that verifies.

mod approximate;
mod batches;
mod bounds;
mod choices;
mod cut;
mod groups;
mod legality;
mod many_inputs;
mod patterns;
mod structure;

use ferrofuse_compiler::{Decision, Kernels, Plan, PlanError, PlanOptions, PlanRequest, plan};
use frontend::text;
use ir::definition::Definition;
use ir::layout::LayoutClass;
use kernel::verify;
use lowering::Lowered;
use scheduler::hints::Hints;
use target::Target;

/// A definition from the lines of its body; `T0 = …` and so on.
fn define(body: &str) -> Definition {
    let lines: String = body.trim().lines().map(|line| format!("    {}\n", line.trim())).collect();
    let source = format!("def fusion(fd):\n{lines}");
    text::parse(&source).unwrap_or_else(|error| panic!("{error:?}\n{source}")).definition
}

fn try_plan(definition: &Definition, target: &Target, options: &PlanOptions) -> Result<Plan, PlanError> {
    let layouts = vec![LayoutClass::Dense; definition.fusion.inputs().len()];
    plan(PlanRequest {
        graph: &definition.graph,
        fusion: &definition.fusion,
        tasks: &definition.tasks,
        layouts: &layouts,
        target,
        hints: &Hints::default(),
        options,
    })
}

/// The plan for a CPU with 512-bit vectors. Every kernel of it is verified.
fn cpu_plan(definition: &Definition) -> Plan {
    let plan =
        try_plan(definition, &Target::cpu(512), &PlanOptions::default()).expect("no choices, no errors");
    verify_kernels(&plan);
    plan
}

fn verify_kernels(plan: &Plan) {
    for lowered in lowered(plan) {
        verify(&lowered.kernel).unwrap_or_else(|error| panic!("{error}\n{}", lowered.kernel));
    }
}

/// The kernels of all segments.
fn lowered(plan: &Plan) -> impl Iterator<Item = &Lowered> {
    plan.lowered.iter().flat_map(|segment| &segment.kernels)
}

/// The text of the first kernel.
fn first_kernel(plan: &Plan) -> String {
    lowered(plan).next().expect("a segment with a kernel").kernel.to_string()
}

fn kernels(segment: &ferrofuse_compiler::SegmentPlan) -> Option<&Kernels> {
    match &segment.decision {
        Decision::Kernels(kernels) => Some(kernels),
        Decision::Evaluate { .. } | Decision::External(_) => None,
    }
}

/// The input of the kernels in a plan with one segment.
fn only(plan: &Plan) -> &Kernels {
    assert_eq!(plan.segments.len(), 1, "{:#?}", plan.segmentation);
    kernels(&plan.segments[0]).expect("a segment with a kernel")
}

const SOFTMAX: &str = "
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.ops.max(T0, dims=[1], keepdim=True)
    T2 = fd.ops.sub(T0, T1)
    T3 = fd.ops.exp(T2)
    T4 = fd.ops.sum(T3, dims=[1], keepdim=True)
    T5 = fd.ops.div(T3, T4)
    fd.add_output(T5)";

/// Rows and columns reduced in one pass, as a layer norm's backward does.
const INNER_OUTER: &str = "
    T0 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T1 = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    T2 = fd.ops.mul(T0, T1)
    T3 = fd.ops.sum(T2, dims=[1], keepdim=True)
    T4 = fd.ops.sub(T2, T3)
    T5 = fd.ops.sum(T0, dims=[0])
    T6 = fd.ops.sum(T2, dims=[0])
    fd.add_output(T4)
    fd.add_output(T5)
    fd.add_output(T6)";
