//! Many calls: from many threads, with changing sizes, beside forks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use execution::Step;
use ferrofuse::{
    Argument, Array, CompileOptions, DType, Executable, ExecutorKind, Machine, MachineOptions, Scalar,
    compile, define,
};

use crate::definitions::{ALL, Case, SOFTMAX, SUM_COLUMNS, TWO_AXES};
use crate::executors::{check, executable};
use crate::tensors::{Strange, StrangeArray, inputs, random, views};

#[test]
fn threads_compile_and_run_at_once() {
    thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for case in ALL.iter().cycle().skip(thread).take(4) {
                    let executable = executable(case, ExecutorKind::Compiled);
                    let arrays = inputs(case, executable.definition(), 10 + thread, 70);
                    check(case, &executable, &views(&arrays));
                }
            });
        }
    });
}

#[test]
fn threads_share_one_executable() {
    let executable = executable(&SOFTMAX, ExecutorKind::Compiled);
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
    let executable = executable(&SUM_COLUMNS, ExecutorKind::Compiled);
    for rows in [5, 6, 7] {
        let array = StrangeArray::new(Strange::Padded, ops::DType::F16, &[rows, 9], 3);
        check(&SUM_COLUMNS, &executable, &[array.view()]);
    }
    assert_eq!(executable.variants(), 2);
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let machine = Machine::new(MachineOptions {
            threads: threads.try_into().ok(),
            min_shared: Some(0),
            ..MachineOptions::default()
        });
        let options = CompileOptions { machine: Arc::new(machine), ..CompileOptions::default() };
        let executable = compile(define(SUM_COLUMNS.text).expect("defines"), options).expect("compiles");
        let arrays = inputs(&SUM_COLUMNS, executable.definition(), 3000, 50);
        executable.run(&views(&arrays)).expect("runs")[0].to_array().expect("memory").as_bytes().to_vec()
    };
    let alone = run(1);
    assert!([2, 3, 8].into_iter().all(|threads| run(threads) == alone));
}

/// An unaligned input is copied for reading, and a view of it is another copy.
#[test]
fn copies_of_what_may_not_be_seen_are_memory_of_the_call() {
    let text = "def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.permute(x, dims=[1, 0]))
";
    let executable = compile(define(text).expect("defines"), CompileOptions::default()).expect("compiles");
    let [even, odd] = [Strange::Transposed, Strange::Odd]
        .map(|strange| StrangeArray::new(strange, DType::F32, &[64, 50], 1));
    let peak = |array: &StrangeArray| executable.run_timed(&[array.view()]).expect("runs").1.peak_bytes;
    assert_eq!([peak(&even), peak(&odd)], [0, 64 * 50 * 4]);
}

#[test]
fn a_thousand_sizes_compile_a_handful_of_variants() {
    let definition = || define(SOFTMAX.text).expect("defines");
    let by_size = Executable::by_size(definition(), CompileOptions::default());
    let whatever = compile(definition(), CompileOptions::default()).expect("compiles");
    for (name, executable, most) in [("whatever their size", whatever, 4), ("by size", by_size, 8)] {
        for number in 0..1000 {
            let sizes = [1 + number * 37 % 97, 1 + number * 53 % 1009];
            let array = Array::full(Scalar::one(DType::F32), &sizes).expect("small");
            executable.run(&[array.view()]).expect("runs");
        }
        println!("1000 sizes: {} variants {name}", executable.variants());
        assert!(executable.variants() <= most, "{} variants {name}", executable.variants());
    }
}

/// Code compiled before all calls is for all sizes. For rows that are not short it gives the same bits.
#[test]
fn rows_of_whole_vectors_and_short_ones_are_variants_where_sizes_are_known_ahead() {
    let defined = || define(SOFTMAX.text).expect("defines");
    let options = CompileOptions::default;
    let sets = [2048, 1088, 4096, 1100, 128, 100].map(|columns| inputs(&SOFTMAX, &defined(), 5, columns));
    let compiled = compile(defined(), options()).expect("compiles");
    let by_row = Executable::for_inputs(defined(), options(), &views(&sets[0])).expect("compiles");
    let code = |executable: &Executable| {
        executable.latest().expect("compiled").report.segments[0].kernels[0].code_bytes
    };
    assert!(code(&by_row) < code(&compiled));
    for (set, variants) in sets.iter().zip([1, 1, 1, 2, 3, 4]) {
        check(&SOFTMAX, &by_row, &views(set));
        assert_eq!((by_row.variants(), compiled.variants()), (variants, 1));
        let [expected, found] = [&compiled, &by_row].map(|executable| {
            let outputs = executable.run(&views(set)).expect("runs");
            outputs[0].to_array().expect("memory").as_bytes().to_vec()
        });
        assert!(variants > 2 || expected == found);
    }
}

/// Code for rows of a few elements is for their exact number.
#[test]
fn rows_of_a_few_elements_are_a_variant_for_each_number_of_them() {
    let defined = || define(SOFTMAX.text).expect("defines");
    let sets = [3, 4, 3, 16, 17, 40].map(|columns| inputs(&SOFTMAX, &defined(), 6000, columns));
    let by_size = Executable::by_size(defined(), CompileOptions::default());
    for (set, variants) in sets.iter().zip([1, 2, 2, 3, 4, 5]) {
        check(&SOFTMAX, &by_size, &views(set));
        assert_eq!(by_size.variants(), variants);
    }
}

/// Code for a reshape to numbers is for the sizes that they replace: each index would be divided by these.
#[test]
fn reshapes_to_numbers_are_a_variant_for_each_size_that_they_replace() {
    let case = Case {
        name: "largest_of_groups",
        text: "
def largest_of_groups(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    w = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    groups = fd.ops.reshape(x * w, new_shape=[512, 64, 4])
    fd.add_output(fd.ops.max(groups, dims=[2]))
",
        inputs: &["R C", "C"],
    };
    let defined = || define(case.text).expect("defines");
    let sets = [512, 1024, 512].map(|rows| inputs(&case, &defined(), rows, (512 * 256) / rows));
    let by_size = Executable::by_size(defined(), CompileOptions::default());
    for (set, variants) in sets.iter().zip([1, 2, 2]) {
        check(&case, &by_size, &views(set));
        assert_eq!(by_size.variants(), variants);
    }
}

/// The results of a call depend only on its own sizes, to the last bit, and not on which call came first.
#[test]
fn sizes_of_another_order_are_a_variant_where_that_is_asked_for() {
    let by_size = |arrays: &[Array]| {
        let definition = define(SUM_COLUMNS.text).expect("defines");
        let executable = Executable::by_size(definition, CompileOptions::default());
        executable.prepare(&views(arrays)).expect("compiles");
        executable
    };
    let bytes = |executable: &Executable, arrays: &[Array]| {
        executable.run(&views(arrays)).expect("runs")[0].to_array().expect("memory").as_bytes().to_vec()
    };
    let definition = define(SUM_COLUMNS.text).expect("defines");
    let sizes = [(3, 5), (100, 100), (5000, 40), (4000, 63), (40, 5000), (30, 6)];
    let sets = sizes.map(|(rows, columns)| inputs(&SUM_COLUMNS, &definition, rows, columns));
    let shared = by_size(&sets[0]);
    for set in &sets {
        check(&SUM_COLUMNS, &shared, &views(set));
        assert_eq!(bytes(&shared, set), bytes(&by_size(set), set));
    }
    assert_eq!(shared.variants(), 3, "small, tall and wide");
}

/// Numbers such as steps of a training are values, not sizes.
#[test]
fn integers_that_are_only_values_share_a_variant() {
    let text = "def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    step = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.add(x, step))
";
    let x = Array::full(Scalar::one(DType::F32), &[1 << 14]).expect("small");
    let steps = [1, 2, 30, 1000, 50_000, 1_000_000]
        .map(|step| Array::full(Scalar::from_i64(DType::I64, step), &[]).expect("small"));
    let definition = define(text).expect("defines");
    let executable = Executable::by_size(definition, CompileOptions::default());
    for step in &steps {
        executable.run(&[x.view(), step.view()]).expect("runs");
    }
    assert_eq!(executable.variants(), 1);
}

/// Results may be large even if all inputs are small.
#[test]
fn blocks_divide_large_results_of_small_inputs() {
    let text = "def f(fd):
    x = fd.define_tensor(shape=[-1, 1], contiguity=True, dtype=DataType.Float)
    y = fd.define_tensor(shape=[1, -1], contiguity=True, dtype=DataType.Float)
    fd.add_output(fd.ops.sum(fd.ops.mul(x, y), dims=[1]))
";
    let one = |sizes: &[usize]| Array::full(Scalar::one(DType::F32), sizes).expect("small");
    let blocks = |rows: usize, columns: usize| {
        let arrays = [one(&[rows, 1]), one(&[1, columns])];
        let inputs = views(&arrays);
        let definition = define(text).expect("defines");
        let sizes = definition.signature().bind(&inputs, &[]).expect("fits");
        let executable = Executable::by_size(definition, CompileOptions::default());
        executable.prepare(&inputs).expect("compiles");
        let variant = executable.latest().expect("compiled");
        let value = |formula| sizes.value(variant.steps.formulas.expr(formula)).expect("known");
        let blocks = |step: &Step| match step {
            Step::Launch(launch) => Some(value(launch.members[0].blocks)),
            _ => None,
        };
        variant.steps.steps.iter().filter_map(blocks).max().expect("a kernel")
    };
    assert_eq!(blocks(10, 10), 1);
    assert!(blocks(2000, 8000) > 1);
}

/// Runs work in a forked process, which must succeed within a minute.
fn in_a_child(work: impl FnOnce()) {
    // SAFETY: the child uses its own threads, memory and code and leaves by `_exit`; the alarm ends it if it hangs.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the default action of the signal is to end the process.
            unsafe { libc::alarm(60) };
            work();
        }));
        // SAFETY: ends the child immediately, without running the parent's exit handlers.
        unsafe { libc::_exit(i32::from(outcome.is_err())) };
    }
    let mut status = -1;
    // SAFETY: waits for the child made above; `status` is a live integer.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child hung or failed");
}

#[test]
fn a_forked_child_runs_old_code_and_compiles_new() {
    let old = executable(&SOFTMAX, ExecutorKind::Compiled);
    let arrays = inputs(&SOFTMAX, old.definition(), 40, 300);
    check(&SOFTMAX, &old, &views(&arrays));
    in_a_child(|| {
        check(&SOFTMAX, &old, &views(&arrays));
        let new = executable(&SUM_COLUMNS, ExecutorKind::Compiled);
        let arrays = inputs(&SUM_COLUMNS, new.definition(), 40, 300);
        check(&SUM_COLUMNS, &new, &views(&arrays));
    });
    check(&SOFTMAX, &old, &views(&arrays));
}

/// Each fork happens while other threads compile the very variant that the child then needs, and allocate and free memory.
#[test]
fn a_fork_cuts_nothing_in_two() {
    for round in 0..8 {
        let shared = executable(&SOFTMAX, ExecutorKind::Compiled);
        let transposed = StrangeArray::new(Strange::Transposed, DType::F32, &[20, 30], round);
        let (shared, transposed) = (&shared, &transposed);
        thread::scope(|scope| {
            scope.spawn(move || shared.run(&[transposed.view()]).map(drop).expect("runs"));
            scope.spawn(move || (0..2000).for_each(|_| drop(Machine::shared().allocator().allocate(1000))));
            thread::sleep(Duration::from_millis(round));
            in_a_child(|| shared.run(&[transposed.view()]).map(drop).expect("runs"));
        });
        assert_eq!(shared.variants(), 2);
    }
}

/// The preparation of a call is kept for the next one on inputs with the same layouts, and used for no other.
#[test]
fn a_call_knows_nothing_of_others_before() {
    let executable = executable(&SUM_COLUMNS, ExecutorKind::Compiled);
    let odd = StrangeArray::new(Strange::Odd, DType::F16, &[6, 9], 1);
    let padded = StrangeArray::new(Strange::Padded, DType::F16, &[6, 9], 2);
    let dense = [3, 4].map(|seed| random(DType::F16, &[6, 9], seed));
    let longer = random(DType::F16, &[7, 9], 5);
    let other = random(DType::BF16, &[6, 9], 6);
    let calls = [odd.view(), dense[0].view(), padded.view(), longer.view(), dense[1].view()];
    for again in [0, 0, 1, 1, 0, 1, 2, 0, 3, 1, 4, 2] {
        check(&SUM_COLUMNS, &executable, &[calls[again].clone()]);
        assert!(executable.run(&[other.view()]).is_err(), "another dtype");
    }
}

#[test]
fn sizes_that_are_elements_are_read_at_each_call() {
    let text = "def f(fd):
    n = fd.define_scalar(dtype=DataType.Int)
    fd.add_output(fd.ops.iota(n))
";
    let executable = compile(define(text).expect("defines"), CompileOptions::default()).expect("compiles");
    for size in [5, 5, 3, 8, 8] {
        let number = Array::full(Scalar::from_i64(DType::I64, size), &[]).expect("small");
        let outputs = executable.run(&[number.view()]).expect("runs");
        assert_eq!(outputs[0].sizes(), [size as usize]);
    }
}

#[test]
fn short_calls_are_those_like_the_last_on_few_elements() {
    let executable = executable(&SOFTMAX, ExecutorKind::Compiled);
    let arrays = [3, 4, 2000].map(|rows| random(DType::F32, &[rows, 500], 1));
    let is_short = |array: &Array| executable.is_short(&[Argument::from(array.view())]);
    assert!(!is_short(&arrays[0]));
    for array in &arrays {
        executable.run(&[array.view()]).expect("runs");
        let short = [is_short(&arrays[0]), is_short(&arrays[1]), is_short(&arrays[2])];
        let expected = [0, 1].map(|other| std::ptr::eq(array, &arrays[other]));
        assert_eq!(short, [expected[0], expected[1], false]);
    }
}
