//! Every executor gives the evaluator's results, within the evaluator's bounds.

use ferrofuse::{ArrayView, Executable, ExecutorKind, compile, define};
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::definitions::{ALL, Case, TWO_AXES};
use crate::gpu::{EXECUTORS, options};
use crate::tensors::{Strange, StrangeArray, inputs, views};

pub fn executable(case: &Case, executor: ExecutorKind) -> Executable {
    let definition = define(case.text).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    compile(definition, options(executor)).expect("compiles")
}

/// Panics unless the executable gives the evaluator's results.
pub fn check(case: &Case, executable: &Executable, inputs: &[ArrayView<'_>]) {
    let definition = executable.definition();
    let expected = evaluate(&definition.graph, &definition.fusion, inputs, &EvaluateOptions::default());
    let expected = expected.expect("evaluates").outputs;
    executable.generator().seed(0);
    let outputs = executable.run(inputs).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    assert_eq!(outputs.len(), expected.len());
    for (number, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
        let found = compare(expected, &output.view(), &Serial).expect("same type");
        let sizes: Vec<&[usize]> = inputs.iter().map(|input| input.sizes()).collect();
        assert!(found.matches(), "{} output {number} of {sizes:?}: {found:?}", case.name);
    }
}

#[test]
fn all_agree_at_odd_and_empty_sizes() {
    for executor in EXECUTORS {
        for case in ALL {
            let executable = executable(case, executor);
            for (rows, columns) in [(1, 1), (3, 17), (17, 3), (5, 130), (0, 4), (4, 0), (0, 0)] {
                let arrays = inputs(case, executable.definition(), rows, columns);
                check(case, &executable, &views(&arrays));
            }
        }
    }
}

#[test]
fn compiled_code_agrees_at_larger_sizes() {
    for case in ALL {
        let executable = executable(case, ExecutorKind::Compiled);
        for (rows, columns) in [(1023, 257), (64, 4096), (20_000, 3), (1, 100_000)] {
            let arrays = inputs(case, executable.definition(), rows, columns);
            check(case, &executable, &views(&arrays));
        }
    }
}

#[test]
fn strides_of_any_kind_are_read_where_they_are() {
    for executor in [ExecutorKind::Compiled, ExecutorKind::Interpreter] {
        for case in ALL {
            let executable = executable(case, executor);
            for strange in Strange::ALL {
                for (rows, columns) in [(6, 19), (1, 5)] {
                    let dense = inputs(case, executable.definition(), rows, columns);
                    let arrays: Vec<StrangeArray> = dense
                        .iter()
                        .map(|dense| StrangeArray::new(strange, dense.dtype(), dense.sizes(), 7))
                        .collect();
                    let views: Vec<ArrayView<'_>> = arrays.iter().map(StrangeArray::view).collect();
                    check(case, &executable, &views);
                }
            }
        }
    }
}

#[test]
fn one_array_may_be_several_inputs() {
    for case in ALL.iter().filter(|case| case.inputs == ["R C", "R C"]) {
        let executable = executable(case, ExecutorKind::Compiled);
        let arrays = inputs(case, executable.definition(), 9, 33);
        check(case, &executable, &[arrays[0].view(), arrays[0].view()]);
    }
}

#[test]
fn several_segments_share_a_plan() {
    let executable = executable(&TWO_AXES, ExecutorKind::Compiled);
    let variant = executable.latest().expect("compiled");
    assert!(variant.report.segments.len() > 1, "{:?}", variant.report.segments);
    let arrays = inputs(&TWO_AXES, executable.definition(), 40, 50);
    let (_, report) = executable.run_timed(&views(&arrays)).expect("runs");
    let kernels: usize = variant.report.segments.iter().map(|segment| segment.kernels.len()).sum();
    let evaluated =
        variant.report.segments.iter().filter(|segment| segment.evaluator_reason.is_some()).count();
    assert_eq!(report.steps.len(), kernels + evaluated);
    assert!(report.steps.iter().all(|step| step.bytes() > 0 && step.time <= report.total));
}
