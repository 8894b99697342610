//! Timed calls report the compilation of a variant in the call that compiled it, and in no other.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use ferrofuse::{Array, ArrayView, CallReport, DType, Executable, ExecutorKind, compile, define};
use ir::array::Layout;

use crate::gpu::options;
use crate::tensors::random;

/// Inputs of which each is dense or repeats one element: 128 variants, more than an executable keeps.
const INPUTS: usize = 7;

fn compiled(executor: ExecutorKind) -> Executable {
    let mut text = "def f(fd):\n".to_owned();
    for input in 0..INPUTS {
        text += &format!(
            "    x{input} = fd.define_tensor(shape=[-1], contiguity=[False], dtype=DataType.Float)\n"
        );
    }
    let names: Vec<String> = (0..INPUTS).map(|input| format!("x{input}")).collect();
    text += &format!("    fd.add_output({})\n", names.join(" * "));
    compile(define(&text).expect("defines"), options(executor)).expect("compiles")
}

/// Calls with inputs that repeat an element where `variant` has a bit.
fn called(executable: &Executable, x: &Array, variant: usize) -> CallReport {
    let repeated = Layout::dense(&[1]).expanded(x.sizes());
    let view = |input: usize| match variant >> input & 1 {
        0 => x.view(),
        _ => x.view().relaid(repeated.clone()).expect("one of its elements"),
    };
    let views: Vec<ArrayView<'_>> = (0..INPUTS).map(view).collect();
    executable.run_timed(&views).expect("runs").1
}

/// The time in the compiler, and that of the steps' kernels.
fn compile_times(report: &CallReport) -> [Duration; 2] {
    [report.compile, report.steps.iter().map(|step| step.compile).sum()]
}

#[test]
fn every_new_variant_is_timed_however_many_there_are() {
    let x = random(DType::F32, &[40], 1);
    let executable = compiled(ExecutorKind::Compiled);
    for variant in 1..67 {
        let [all, kernels] = compile_times(&called(&executable, &x, variant));
        assert!(all >= kernels && kernels > Duration::ZERO, "{variant}: {all:?} {kernels:?}");
    }
    assert_eq!(compile_times(&called(&executable, &x, 66)), [Duration::ZERO; 2]);
}

#[test]
fn one_of_the_threads_that_need_a_variant_reports_its_compilation() {
    let x = random(DType::F32, &[40], 1);
    for executor in [ExecutorKind::Compiled, ExecutorKind::CUDA] {
        let (executable, start) = (compiled(executor), Barrier::new(4));
        let reports: Vec<CallReport> = thread::scope(|scope| {
            let call = |thread: usize| {
                let (executable, start, x) = (&executable, &start, &x);
                scope.spawn(move || {
                    start.wait();
                    called(executable, x, 1 + thread / 2)
                })
            };
            let threads: Vec<_> = (0..4).map(call).collect();
            threads.into_iter().map(|thread| thread.join().expect("runs")).collect()
        });
        for pair in reports.chunks(2) {
            let times: Vec<[Duration; 2]> = pair.iter().map(compile_times).collect();
            let (made, waited): (Vec<_>, Vec<_>) = times.iter().partition(|times| times[0] > Duration::ZERO);
            assert_eq!((made.len(), waited), (1, vec![&[Duration::ZERO; 2]]), "{executor:?}: {times:?}");
            assert!(made[0][0] >= made[0][1] && made[0][1] > Duration::ZERO, "{executor:?}: {times:?}");
        }
    }
}
