//! Without libLLVM: the evaluator, right results, and a notice that says what to install.

use std::sync::Arc;

use ferrofuse::{CompileOptions, ExecutorKind, LlvmOptions, Machine, MachineOptions, compile, define};

use crate::definitions::ALL;
use crate::executors::{check, executable};
use crate::tensors::{inputs, views};

#[test]
fn without_libllvm_the_evaluator_runs_and_says_so() {
    let llvm = LlvmOptions { path: Some("/nowhere/libLLVM.so".into()) };
    let machine = Arc::new(Machine::new(MachineOptions { llvm, ..MachineOptions::default() }));
    for case in ALL {
        let options = CompileOptions { machine: Arc::clone(&machine), ..CompileOptions::default() };
        let executable = compile(define(case.text).expect("defines"), options).expect("compiles");
        let report = executable.latest().expect("compiled").report.clone();
        assert_eq!(report.executor, ExecutorKind::Evaluator);
        let notice = report.notice.expect("a notice");
        assert!(notice.contains("apt-get install libllvm19"), "{notice}");
        let arrays = inputs(case, executable.definition(), 6, 8);
        check(case, &executable, &views(&arrays));
    }
}

#[test]
fn with_libllvm_there_is_code_and_no_notice() {
    for case in ALL {
        let report = executable(case, ExecutorKind::Compiled).latest().expect("compiled").report.clone();
        assert_eq!((report.executor, report.notice.as_deref()), (ExecutorKind::Compiled, None));
        for segment in &report.segments {
            assert_eq!(segment.evaluator_reason, None, "{} {}", case.name, segment.name);
            assert!(segment.kernels.iter().all(|kernel| kernel.code_bytes > 0 && !kernel.compile.is_zero()));
        }
    }
}
