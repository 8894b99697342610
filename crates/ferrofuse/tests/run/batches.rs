//! Segments that one launch runs together: the bits of separate launches, for any sizes, threads and arguments.

use std::fmt::Write;

use execution::Step;
use ferrofuse::{
    Argument, Array, CompileOptions, DType, Executable, ExecutorKind, Machine, MachineOptions, compile,
    define,
};
use ir::array::Layout;

use crate::gpu::{EXECUTORS, options};
use crate::tensors::{random, views};

const SIZES: [usize; 9] = [1000, 64, 1, 0, 4096, 777, 64, 100_003, 1024];

/// Steps of an optimizer on tensors of these sizes, known or not.
fn steps(sizes: &[usize], are_known: bool) -> String {
    let mut text = "def steps(fd):\n".to_owned();
    for size in sizes {
        let size = if are_known { size.to_string() } else { "-1".to_owned() };
        for name in ["p", "g", "m"] {
            let _ = writeln!(
                text,
                "    {name} = fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)"
            );
        }
        text += "    n = fd.ops.add(fd.ops.mul(m, 0.9), fd.ops.mul(g, 0.1))
    fd.add_output(fd.ops.sub(p, fd.ops.div(n, fd.ops.add(fd.ops.exp(n), 0.1))), p)
    fd.add_output(n, m)
";
    }
    text
}

fn compiled(text: &str, options: CompileOptions) -> Executable {
    compile(define(text).expect("defines"), options).expect("compiles")
}

fn arrays(sizes: &[usize]) -> Vec<Array> {
    let tensors = sizes.iter().enumerate().flat_map(|(number, &size)| {
        (0..3).map(move |input| random(DType::F32, &[size], (3 * number + input) as u64))
    });
    tensors.collect()
}

/// The contents of arrays after a call that writes to them.
fn after(executable: &Executable, mut arrays: Vec<Array>) -> Vec<Vec<u8>> {
    let mut arguments: Vec<Argument<'_>> = arrays.iter_mut().map(|array| array.view_mut().into()).collect();
    assert_eq!(executable.run_in_place(&mut arguments).expect("runs").len(), 0);
    drop(arguments);
    arrays.iter().map(|array| array.as_bytes().to_vec()).collect()
}

fn copied(array: &Array) -> Array {
    array.view().to_array().expect("memory")
}

/// The number of segments of each launch.
fn launches(executable: &Executable) -> Vec<usize> {
    let variant = executable.latest().expect("compiled");
    let members = |step: &Step| match step {
        Step::Launch(launch) => Some(launch.members.len()),
        _ => None,
    };
    variant.steps.steps.iter().filter_map(members).collect()
}

#[test]
fn a_batch_has_the_bits_of_launches_of_their_own() {
    for executor in EXECUTORS {
        for are_known in [false, true] {
            let together = compiled(&steps(&SIZES, are_known), options(executor));
            let found = after(&together, arrays(&SIZES));
            let mut expected = Vec::new();
            for (number, &size) in SIZES.iter().enumerate() {
                let alone = compiled(&steps(&[size], are_known), options(executor));
                let own = arrays(&SIZES).drain(3 * number..3 * number + 3).collect();
                expected.extend(after(&alone, own));
            }
            assert!(found == expected, "{executor:?}, known {are_known}");
            if executor != ExecutorKind::Evaluator {
                let most = launches(&together).len();
                assert!(most <= 4, "{executor:?}, known {are_known}: {:?}", launches(&together));
            }
        }
    }
}

/// The norms of vectors and a value computed from all of them.
fn norms(sizes: &[usize], are_known: bool) -> String {
    let mut text = "def norms(fd):\n    total = fd.define_scalar(0.0, dtype=DataType.Float)\n".to_owned();
    for &size in sizes {
        let size = if are_known { size as i64 } else { -1 };
        let _ = write!(
            text,
            "    x = fd.define_tensor(shape=[{size}], contiguity=True, dtype=DataType.Float)
    norm = fd.ops.sqrt(fd.ops.sum(fd.ops.mul(x, x), dims=[0]))
    fd.add_output(norm)
    total = fd.ops.add(total, norm)
"
        );
    }
    text + "    fd.add_output(total)\n"
}

/// Sizes that alternate: the folds of each size are grouped.
#[test]
fn folds_of_one_size_run_in_one_launch() {
    let sizes: Vec<usize> = (0..24).map(|number| [70_000, 9000][number % 2]).collect();
    let arrays: Vec<Array> =
        sizes.iter().zip(0..).map(|(&size, seed)| random(DType::F32, &[size], seed)).collect();
    for are_known in [false, true] {
        let executable = compiled(&norms(&sizes, are_known), options(ExecutorKind::Compiled));
        let found = executable.run(&views(&arrays)).expect("runs");
        for ((array, &size), found) in arrays.iter().zip(&sizes).zip(found.iter()) {
            let alone = compiled(&norms(&[size], are_known), options(ExecutorKind::Compiled));
            let own = alone.run(&[array.view()]).expect("runs");
            let [own, found] = [&own[0], found].map(|output| output.to_array().expect("memory"));
            assert!(own.as_bytes() == found.as_bytes(), "known {are_known}");
        }
        let members = launches(&executable);
        assert!(members.len() <= 4, "known {are_known}: {members:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let sizes: Vec<usize> = (0..40).map(|number| [3, 1_000_000, 70, 5000][number % 4]).collect();
    let machine = |threads: usize| {
        Machine::new(MachineOptions { threads: threads.try_into().ok(), ..MachineOptions::default() })
    };
    let [alone, shared] = [1, 5].map(|threads| {
        let options = CompileOptions { machine: machine(threads).into(), ..options(ExecutorKind::Compiled) };
        after(&compiled(&steps(&sizes, false), options), arrays(&sizes))
    });
    assert!(alone == shared);
}

#[test]
fn arguments_that_share_memory_give_what_they_give_apart() {
    let (text, layout) = (steps(&[100; 3], false), Layout::dense(&[100]));
    for executor in EXECUTORS {
        let executable = compiled(&text, options(executor));
        // The second gradient is the first parameter, shifted by some elements.
        let mut apart = arrays(&[100; 3]);
        let mut memory: Vec<u8> = [apart[0].as_bytes(), &apart[1].as_bytes()[..400]].concat();
        let shifted = Array::from_slice(&[100], &floats(&memory[40..440])).expect("as many");
        apart[4] = shifted;
        let expected = after(&executable, apart.iter().map(copied).collect());
        let base = memory.as_mut_ptr();
        let at = |start: usize| {
            // SAFETY: both reach 400 bytes of the 800 from their start on; only this call touches them.
            unsafe { Argument::from_raw_parts(base.wrapping_add(start), DType::F32, layout.clone()) }
        };
        let mut arguments: Vec<Argument<'_>> =
            apart.iter_mut().map(|array| array.view_mut().into()).collect();
        (arguments[0], arguments[4]) = (at(0), at(40));
        executable.run_in_place(&mut arguments).expect("runs");
        drop(arguments);
        assert!(memory[..400] == expected[0], "{executor:?}");
        for (place, array) in apart.iter().enumerate().filter(|(place, _)| ![0, 4].contains(place)) {
            assert!(array.as_bytes() == expected[place], "{executor:?}, argument {place}");
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four"))).collect()
}

/// Rows of tables by indices; each row has a separate table and indices.
const GATHERS: &str = "def gathers(fd):
    a = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    i = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    b = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    j = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    fd.add_output(fd.ops.mul(fd.ops.take_along_axis(a, i, dim=0), 2.0))
    fd.add_output(fd.ops.mul(fd.ops.take_along_axis(b, j, dim=0), 2.0))
";

#[test]
fn an_index_out_of_range_names_its_own_member() {
    let table = random(DType::F32, &[5], 1);
    let indices = |index: i64| Array::from_slice(&[2], &[0, index]).expect("two");
    for executor in EXECUTORS {
        let executable = compiled(GATHERS, options(executor));
        for (first, second, line) in [(7, 1, 6), (1, 9, 7), (8, 9, 6)] {
            let given = [copied(&table), indices(first), copied(&table), indices(second)];
            let error = executable.run(&views(&given)).expect_err("an index is out of range");
            let text = error.to_string();
            assert!(text.contains(&format!("line {line}")), "{executor:?}: {text}");
        }
    }
}

#[test]
fn the_report_of_a_call_names_the_members() {
    let executable = compiled(&steps(&[100; 4], false), CompileOptions::default());
    let given = arrays(&[100; 4]);
    let (_, report) = executable.run_timed(&views(&given)).expect("runs");
    let names: Vec<&str> = report.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["seg0 .. seg3"]);
    let bytes = |count: usize| 4 * 100 * 4 * count as u64;
    assert_eq!((report.steps[0].read, report.steps[0].written), (bytes(3), bytes(2)));
    let segments = &executable.latest().expect("compiled").report.segments;
    assert!(segments.iter().all(|segment| segment.kernels.len() == 1), "{segments:?}");
}
