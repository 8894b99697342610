//! Plans and compilation from the inside; calls from the outside are tested with the public API.

mod null_device;

use std::collections::BTreeSet;
use std::time::Duration;

use codegen::cpu::Error as CodegenError;
use compiler::{Plan, PlanOptions, PlanRequest, evaluated, plan};
use ir::definition::Definition;
use ir::interrupt::Interrupt;
use ir::layout::LayoutClass;
use kernel::Kernel;
use reference::interpret::Options;
use scheduler::hints::Hints;
use target::Target;

use crate::ExecutorKind;
use crate::compile::{Code, Planned, Variant};
use crate::host::HostCode;
use execution::{ExecutionPlan, Slot, Step};

/// Two normalizations along different axes, an output that is returned twice, and an input that is returned.
const SEGMENTS: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    y = fd.ops.sub(x, fd.ops.sum(x, dims=[1], keepdim=True))
    z = fd.ops.sub(y, fd.ops.max(y, dims=[0], keepdim=True))
    fd.add_output(z)
    fd.add_output(z)
    fd.add_output(x)
";

fn defined(text: &str) -> Definition {
    frontend::text::parse(text).expect("defines").definition
}

fn planned(text: &str) -> (Definition, Plan) {
    let definition = defined(text);
    let layouts = vec![LayoutClass::Dense; definition.fusion.inputs().len()];
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let target = Target::cpu(256);
    let plan = plan(PlanRequest {
        graph,
        fusion,
        tasks: &definition.tasks,
        layouts: &layouts,
        target: &target,
        hints: &Hints::default(),
        options: &PlanOptions::default(),
    });
    (definition, plan.expect("no choices of a user"))
}

/// Panics unless each slot is allocated before it is touched, freed at most once and touched no more after that.
fn check_lives(steps: &ExecutionPlan) {
    let mut live: BTreeSet<Slot> = steps.inputs.iter().copied().collect();
    for step in &steps.steps {
        match step {
            Step::Allocate(slot) => assert!(live.insert(*slot), "{slot} is allocated twice"),
            Step::Free(slot) => assert!(live.remove(slot), "{slot} is freed but not there"),
            _ => assert!(step.slots().iter().all(|slot| live.contains(slot)), "{step:?} touches the dead"),
        }
    }
    let made = steps.outputs.iter().map(|output| output.slot).filter(|slot| !steps.inputs.contains(slot));
    let made: Vec<Slot> = made.collect();
    let left: BTreeSet<Slot> = steps.inputs.iter().chain(&made).copied().collect();
    assert_eq!(live, left, "inputs and outputs are what is left");
    assert_eq!(left.len(), steps.inputs.len() + made.len(), "outputs share memory");
}

#[test]
fn memory_lives_as_long_as_it_is_read() {
    let (definition, plan) = planned(SEGMENTS);
    let steps = ExecutionPlan::new(&plan);
    check_lives(&steps);
    assert!(steps.segments.len() > 1);
    assert!(steps.steps.iter().any(|step| matches!(step, Step::Free(_))));
    let copies = steps.steps.iter().filter(|step| matches!(step, Step::Copy { .. })).count();
    assert_eq!(copies, 1);
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    check_lives(&ExecutionPlan::new(&evaluated(graph, fusion, &[LayoutClass::Dense], "for the test")));
}

#[test]
fn an_intermediate_is_freed_before_later_segments_allocate() {
    let (_, plan) = planned(SEGMENTS);
    let steps = ExecutionPlan::new(&plan).steps;
    let first_free = steps.iter().position(|step| matches!(step, Step::Free(_))).expect("a free");
    let last_allocation = steps.iter().rposition(|step| matches!(step, Step::Allocate(_))).expect("one");
    assert!(first_free < last_allocation, "{steps:?}");
}

#[test]
fn a_segment_without_code_goes_to_the_evaluator_and_says_so() {
    let (_, plan) = planned(SEGMENTS);
    let segments = plan.segments.len();
    let make = |kernel: &Kernel, _: usize| match kernel.name.starts_with("seg0") {
        true => Err(CodegenError::NoSymbol(kernel.name.clone())),
        false => Ok(HostCode::Program(Options::default())),
    };
    let planned = Planned { plan, time: Duration::ZERO };
    let variant =
        Variant::new(planned, ExecutorKind::Interpreter, 2, &Interrupt::default(), make, Code::Host);

    let variant = variant.expect("not interrupted");
    check_lives(&variant.steps);
    let reports = &variant.report.segments;
    assert_eq!(reports.len(), segments);
    let reason = reports[0].evaluator_reason.as_deref().expect("a reason");
    assert!(reason.contains("could not be compiled") && reason.contains("seg0"), "{reason}");
    assert!(
        reports[1..].iter().all(|segment| segment.evaluator_reason.is_none() && !segment.kernels.is_empty())
    );
    let Code::Host(code) = &variant.code else { panic!("made for the host") };
    assert_eq!(code.len(), variant.steps.kernels.len());
}
