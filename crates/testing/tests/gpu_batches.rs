//! Like segments in one launch, as many as it has room for. The only test of its process, since the stand-in counts for the
//! whole process.

use std::fmt::Write;

use ferrofuse::{Argument, CompileOptions, Executable, define};
use ferrofuse_testing::stand_in;
use ir::array::Array;

/// `p -= 0.5 * g` for this number of tensors, whose sizes only a call knows.
fn updates(count: usize) -> String {
    let mut text = "def updates(fd):\n".to_owned();
    let tensor = "fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)";
    for _ in 0..count {
        let _ = writeln!(text, "    p = {tensor}\n    g = {tensor}");
        text += "    fd.add_output(fd.ops.sub(p, fd.ops.mul(g, 0.5)), p)\n";
    }
    text
}

/// Numbers that count up.
fn counted(from: usize, size: usize) -> Array {
    let numbers: Vec<f32> = (from..from + size).map(|number| number as f32).collect();
    Array::from_slice(&[size], &numbers).expect("memory")
}

/// Runs the updates on tensors of these sizes, checks the results, and returns the number of launches.
fn launches(sizes: &[usize]) -> u64 {
    let executor = stand_in::gpu().expect("the stand-in opens").into();
    let options = CompileOptions { executor, ..CompileOptions::default() };
    let executable = Executable::by_size(define(&updates(sizes.len())).expect("defines"), options);
    let steps = sizes.iter().enumerate();
    let mut arrays: Vec<Array> =
        steps.flat_map(|(number, &size)| [counted(number, size), counted(2 * number, size)]).collect();
    let before = stand_in::count("launches");
    let mut arguments: Vec<Argument<'_>> = arrays.iter_mut().map(|array| array.view_mut().into()).collect();
    executable.run_in_place(&mut arguments).expect("runs");
    drop(arguments);
    let launches = stand_in::count("launches") - before;
    for (number, step) in arrays.chunks_exact(2).enumerate() {
        let place = |place: usize| (number + place) as f32 - 0.5 * (2 * number + place) as f32;
        let expected: Vec<f32> = (0..sizes[number]).map(place).collect();
        assert_eq!(step[0].as_slice::<f32>(), expected, "tensor {number}");
    }
    launches
}

#[test]
fn a_launch_runs_as_many_members_as_it_has_room_for() {
    // Four kinds of sizes; a launch has room for 102 members of one.
    let sizes: Vec<usize> = (0..300).map(|number| [1000, 64, 0, 1, 5000, 3][number % 6]).collect();
    assert_eq!(launches(&sizes), 4);
    assert_eq!(launches(&[100; 250]), 3);
}
