//! Outputs that are written to inputs: the contents of the caller's memory after a call, against the evaluator.

use ferrofuse::{Argument, Array, ArrayView, Blame, DType, Executable, ExecutorKind, compile, define};
use ir::array::{Layout, StridedArray};
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::gpu::{EXECUTORS, options};
use crate::tensors::random;

const MATRIX: &str = "fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)";

/// A definition of two matrices `x` and `y` with this body.
fn definition(body: &str) -> String {
    format!("def f(fd):\n    x = {MATRIX}\n    y = {MATRIX}\n{body}")
}

fn compiled(text: &str, executor: ExecutorKind) -> Executable {
    let options = options(executor);
    compile(define(text).expect("defines"), options).expect("compiles")
}

/// Calls the executable on arrays, all of them writable, and compares inputs and outputs with the evaluator's.
fn check(executable: &Executable, mut arrays: Vec<StridedArray>) {
    let definition = executable.definition();
    let views: Vec<ArrayView<'_>> = arrays.iter().map(StridedArray::view).collect();
    let expected = evaluate(&definition.graph, &definition.fusion, &views, &EvaluateOptions::default());
    let expected = expected.expect("evaluates").outputs;
    let before: Vec<Array> = views.iter().map(|view| view.to_array().expect("memory")).collect();
    drop(views);
    let mut arguments: Vec<Argument<'_>> = arrays.iter_mut().map(|array| array.view_mut().into()).collect();
    let outputs = executable.run_in_place(&mut arguments).expect("runs");
    let outputs: Vec<Array> = outputs.iter().map(|output| output.to_array().expect("memory")).collect();
    let mut outputs = outputs.iter();
    let mut written = vec![false; arrays.len()];
    for (output, expected) in definition.fusion.outputs().iter().zip(&expected) {
        let found = match output.alias {
            Some(input) => {
                written[input as usize] = true;
                compare(expected, &arrays[input as usize].view(), &Serial)
            }
            None => compare(expected, &outputs.next().expect("one more").view(), &Serial),
        };
        let found = found.expect("same type");
        assert!(
            found.matches(),
            "{:?}, input {:?}: {found:?}",
            executable.latest().expect("compiled").report.executor,
            output.alias
        );
    }
    assert!(outputs.next().is_none(), "outputs that are written to inputs are not given back");
    for (place, _) in written.iter().enumerate().filter(|(_, written)| !**written) {
        let (old, new) = (before[place].as_bytes(), arrays[place].view().to_array().expect("memory"));
        assert_eq!(old, new.as_bytes(), "input {place} was only read");
    }
}

fn matrix(rows: usize, columns: usize, seed: u64) -> StridedArray {
    random(DType::F32, &[rows, columns], seed).into()
}

/// A matrix whose rows are in memory one after the other with gaps, or whose columns do.
fn spread(rows: usize, columns: usize, seed: u64, by_columns: bool) -> StridedArray {
    let strides = if by_columns { [1, rows as isize + 3] } else { [columns as isize * 2 + 1, 2] };
    let storage = random(DType::F32, &[(rows + 3) * (columns + 3) * 3], seed);
    let layout = Layout {
        offset: 2,
        sizes: [rows, columns].into_iter().collect(),
        strides: strides.into_iter().collect(),
    };
    StridedArray::new(storage, layout).expect("inside")
}

/// Whether the compiled plan stores some output straight into an input.
fn is_direct(executable: &Executable) -> bool {
    executable.latest().expect("compiled").steps.slots.values().any(|slot| slot.in_place.is_some())
}

/// Bodies, and whether a kernel may store into the input directly.
const BODIES: &[(&str, bool)] = &[
    ("    fd.add_output(fd.ops.add(x, y), x)\n", true),
    (
        "    m = fd.ops.add(fd.ops.mul(x, 0.9), fd.ops.mul(y, 0.1))\n    fd.add_output(m, x)\n    fd.add_output(fd.ops.sub(y, fd.ops.mul(m, 0.01)), y)\n",
        true,
    ),
    // The old contents are read transposed, by a fold and then again, after the store, and as an output.
    ("    t = fd.ops.permute(x, dims=[1, 0])\n    fd.add_output(fd.ops.add(t, y), x)\n", false),
    (
        "    s = fd.ops.sum(x, dims=[1], keepdim=True)\n    fd.add_output(fd.ops.sub(x, s), x)\n    fd.add_output(y)\n",
        true,
    ),
    (
        "    s = fd.ops.sum(x, dims=[0], keepdim=True)\n    fd.add_output(fd.ops.sub(x, s), x)\n    fd.add_output(y)\n",
        true,
    ),
    (
        "    s = fd.ops.sum(x, dims=[1], keepdim=True)\n    fd.add_output(fd.ops.add(x, y), x)\n    fd.add_output(fd.ops.mul(x, s))\n",
        false,
    ),
    ("    fd.add_output(fd.ops.add(x, y), x)\n    fd.add_output(x)\n", false),
    // Rows that are walked together load and store separate elements.
    ("    d = fd.ops.mul(x, y)\n    fd.add_output(d, x)\n    fd.add_output(fd.ops.sum(d, dims=[0]))\n", true),
    // A block of the sum has as many rows as fit.
    (
        "    d = fd.ops.mul(x, y)\n    fd.add_output(d, x)\n    fd.add_output(fd.ops.sum(d, dims=[0, 1]))\n",
        true,
    ),
    // Swapped; the same value to both; in place and returned too.
    ("    fd.add_output(y, x)\n    fd.add_output(x, y)\n", false),
    ("    z = fd.ops.mul(x, y)\n    fd.add_output(z, x)\n    fd.add_output(z, y)\n", true),
    ("    z = fd.ops.mul(x, y)\n    fd.add_output(z)\n    fd.add_output(z, x)\n", true),
    (
        "    z = fd.ops.slice(x, start_indices=[0, 1], end_indices=[6, 6])\n    p = fd.ops.pad(z, pad_widths=[1, 0])\n    fd.add_output(fd.ops.add(p, y), x)\n",
        false,
    ),
];

#[test]
fn inputs_hold_what_was_written_to_them() {
    for executor in EXECUTORS {
        for (body, direct) in BODIES {
            let executable = compiled(&definition(body), executor);
            check(&executable, vec![matrix(6, 6, 1), matrix(6, 6, 2)]);
            if executor == ExecutorKind::Compiled
                && executable.latest().expect("compiled").report.executor == executor
            {
                assert_eq!(is_direct(&executable), *direct, "{body}");
            }
            check(&executable, vec![spread(6, 6, 3, false), spread(6, 6, 4, true)]);
            check(&executable, vec![spread(6, 6, 5, true), matrix(6, 6, 6)]);
        }
    }
}

#[test]
fn large_tensors_are_shared_among_threads() {
    for (body, _) in BODIES.iter().filter(|(body, _)| !body.contains("slice")) {
        let executable = compiled(&definition(body), ExecutorKind::Compiled);
        check(&executable, vec![matrix(700, 700, 1), matrix(700, 700, 2)]);
    }
}

/// The running mean and variance of a normalization over batches.
#[test]
fn running_statistics_are_brought_up_to_date() {
    let text = include_str!("../../../../examples/batch_norm.py");
    for executor in EXECUTORS {
        let channels = |seed| StridedArray::from(random(DType::F32, &[5], seed));
        let x = random(DType::F32, &[3, 5, 4, 7], 1).into();
        check(&compiled(text, executor), vec![x, channels(2), channels(3), channels(4), channels(5)]);
    }
}

#[test]
fn a_plain_call_changes_no_input() {
    let executable = compiled(&definition(BODIES[1].0), ExecutorKind::Compiled);
    let (x, y) = (random(DType::F32, &[5, 7], 1), random(DType::F32, &[5, 7], 2));
    let before = x.as_bytes().to_vec();
    let outputs = executable.run(&[x.view(), y.view()]).expect("runs");
    assert_eq!(outputs.len(), 2);
    assert_eq!(x.as_bytes(), before);
}

/// Two matrices of 4 by 8 in one buffer of 40 floats, the second 8 floats after the first.
#[test]
fn arguments_may_overlap() {
    let executable = compiled(&definition(BODIES[0].0), ExecutorKind::Compiled);
    let old: Vec<f32> = (0..40).map(|k| k as f32).collect();
    let mut memory = old.clone();
    let layout = Layout::dense(&[4, 8]);
    let base = memory.as_mut_ptr();
    let at = |start: usize| {
        // SAFETY: both reach 32 floats of the 40 from their start on; only this call touches them.
        unsafe { Argument::from_raw_parts(base.wrapping_add(start).cast(), DType::F32, layout.clone()) }
    };
    executable.run_in_place(&mut [at(0), at(8)]).expect("runs");
    let expected: Vec<f32> = (0..40).map(|k| if k < 32 { old[k] + old[k + 8] } else { old[k] }).collect();
    assert_eq!(memory, expected);
}

#[test]
fn what_cannot_be_written_is_rejected() {
    let executable = compiled(&definition(BODIES[0].0), ExecutorKind::Compiled);
    let (mut x, y) = (random(DType::F32, &[4, 4], 1), random(DType::F32, &[4, 4], 2));
    let rejected = |arguments: &mut [Argument<'_>]| {
        let error = executable.run_in_place(arguments).expect_err("is rejected");
        assert_eq!(error.blame(), Blame::User);
        error.to_string()
    };
    let text = rejected(&mut [x.view().into(), y.view().into()]);
    assert_eq!(text, "input 0 (x) is written to, but was given for reading only");
    let row = Layout { strides: [0, 1].into_iter().collect(), ..Layout::dense(&[4, 4]) };
    let repeated = x.view_mut().relaid(row).expect("inside");
    let text = rejected(&mut [repeated.into(), y.view().into()]);
    assert_eq!(text, "input 0 (x) is written to, but some of its elements share memory");
}
