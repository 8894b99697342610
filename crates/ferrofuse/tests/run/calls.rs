//! Many calls: from many threads, with changing sizes, in bounded memory.

use std::sync::Arc;
use std::thread;

use ferrofuse::{CompileOptions, Executor, Machine, MachineOptions, compile, define};

use crate::definitions::{ALL, SOFTMAX, SUM_COLUMNS, TWO_AXES};
use crate::executors::{check, executable};
use crate::tensors::{Strange, StrangeArray, inputs, views};

#[test]
fn threads_compile_and_run_at_once() {
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for case in ALL.iter().cycle().skip(thread).take(4) {
                    let executable = executable(case, Executor::Compiled);
                    let arrays = inputs(case, executable.definition(), 10 + thread, 70);
                    check(case, &executable, &views(&arrays));
                }
            });
        }
    });
}

#[test]
fn threads_share_one_executable() {
    let executable = executable(&SOFTMAX, Executor::Compiled);
    thread::scope(|scope| {
        for thread in 1..=8 {
            let executable = &executable;
            scope.spawn(move || {
                for rows in 1..20 {
                    let arrays = inputs(&SOFTMAX, executable.definition(), rows * thread, 33);
                    check(&SOFTMAX, executable, &views(&arrays));
                }
            });
        }
    });
    assert_eq!(executable.variants(), 1);
}

#[test]
fn new_sizes_compile_nothing_and_memory_does_not_grow() {
    let machine = Arc::new(Machine::new(MachineOptions::default()));
    let options = CompileOptions { machine: Arc::clone(&machine), ..CompileOptions::default() };
    let executable = compile(define(TWO_AXES.text).expect("defines"), options).expect("compiles");
    let mut cached = Vec::new();
    for round in 0..4 {
        for rows in [1, 7, 64, 200] {
            let arrays = inputs(&TWO_AXES, executable.definition(), rows, 3 * rows);
            check(&TWO_AXES, &executable, &views(&arrays));
        }
        let stats = machine.allocator().stats();
        assert_eq!(stats.live_bytes, 0, "round {round}");
        cached.push(stats.cached_bytes);
    }
    assert_eq!(executable.variants(), 1);
    assert!(cached[1..].iter().all(|&bytes| bytes == cached[0]), "{cached:?}");
}

#[test]
fn a_new_layout_is_a_new_variant_once() {
    let executable = executable(&SUM_COLUMNS, Executor::Compiled);
    for rows in [5, 6, 7] {
        let array = StrangeArray::new(Strange::Padded, ir::DType::F16, &[rows, 9], 3);
        check(&SUM_COLUMNS, &executable, &[array.view()]);
    }
    assert_eq!(executable.variants(), 2);
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let machine =
            Machine::new(MachineOptions { threads: threads.try_into().ok(), ..MachineOptions::default() });
        let options = CompileOptions { machine: Arc::new(machine), ..CompileOptions::default() };
        let executable = compile(define(SUM_COLUMNS.text).expect("defines"), options).expect("compiles");
        let arrays = inputs(&SUM_COLUMNS, executable.definition(), 3000, 50);
        executable.run(&views(&arrays)).expect("runs")[0].to_array().expect("memory").as_bytes().to_vec()
    };
    let alone = run(1);
    assert!([2, 3, 8].into_iter().all(|threads| run(threads) == alone));
}
