//! Values computed from inputs that are declared expanded repeat in the same way: strides and elements, on every executor.

use ferrofuse::{Array, ArrayView, DType, Executable, ExecutorKind, compile, define};
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::gpu::{EXECUTORS, options};
use crate::tensors::random;

fn compiled(body: &str, executor: ExecutorKind) -> Executable {
    let text = format!(
        "def f(fd):
    rows = fd.define_tensor(shape=[4, -1, -1], contiguity=[None, None, True], dtype=DataType.Float)
    pairs = fd.define_tensor(shape=[-1, -1], contiguity=[True, None], dtype=DataType.ComplexFloat)
    x = fd.define_tensor(shape=[4, 6, 5], contiguity=True, dtype=DataType.Float)
    column = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    fd.add_output({body})
"
    );
    let options = options(executor);
    compile(define(&text).expect("defines"), options).expect("compiles")
}

/// The inputs: `rows` is of 4 by 6 by 5 and repeats along the first two axes, `pairs` of 6 by 6 along the last.
struct Data([Array; 4]);

impl Data {
    fn new() -> Data {
        let real = |sizes: &[usize], seed| random(DType::F32, sizes, seed);
        Data([real(&[5], 1), random(DType::C64, &[6], 2), real(&[4, 6, 5], 3), real(&[4, 1], 4)])
    }

    fn views(&self) -> [ArrayView<'_>; 4] {
        let [rows, pairs, x, column] = &self.0;
        let rows = repeated(rows, &[true, true, false], &[4, 6, 5]);
        let pairs = repeated(pairs, &[false, true], &[6, 6]);
        [rows, pairs, x.view(), column.view()]
    }
}

/// An array with new axes of stride 0.
fn repeated<'a>(array: &'a Array, new: &[bool], sizes: &[usize]) -> ArrayView<'a> {
    let layout = array.view().layout().broadcast(new).expanded(sizes);
    array.view().relaid(layout).expect("repeats what is there")
}

/// Bodies, the strides of their output, and which input it is a view of.
const BODIES: &[(&str, &[isize], Option<usize>)] = &[
    ("rows", &[0, 0, 1], Some(0)),
    ("fd.ops.exp(rows)", &[0, 0, 1], None),
    ("fd.ops.exp(fd.ops.permute(rows, dims=[2, 0, 1]))", &[1, 0, 0], None),
    ("fd.ops.neg(fd.ops.broadcast(rows, is_broadcast_dim=[False, True, False, False]))", &[0, 0, 0, 1], None),
    ("fd.ops.sum(fd.ops.neg(rows), dims=[0])", &[0, 1], None),
    ("fd.ops.sum(rows, dims=[2])", &[0, 0], None),
    (
        "fd.ops.add(rows, fd.ops.broadcast(fd.ops.exp(column), is_broadcast_dim=[False, True, False]))",
        &[5, 0, 1],
        None,
    ),
    ("fd.ops.add(rows, x)", &[30, 5, 1], None),
    ("fd.ops.exp(fd.ops.reshape(rows, new_shape=[24, 5]))", &[5, 1], None),
    // The parts of complex numbers.
    ("pairs", &[1, 0], Some(1)),
    ("fd.ops.real(pairs)", &[1, 0], None),
    ("fd.ops.mul(pairs, pairs)", &[1, 0], None),
    ("fd.ops.exp(fd.ops.expand(fd.ops.sum(pairs, dims=[1], keepdim=True), shape=[6, 7]))", &[1, 0], None),
    ("fd.ops.mul(pairs, fd.ops.permute(pairs, dims=[1, 0]))", &[6, 1], None),
];

/// Runs a body on inputs with these layouts and compares it with the evaluator; returns the strides, 0 for sizes of 1.
fn strides(body: &str, executor: ExecutorKind, inputs: &[ArrayView<'_>]) -> (Vec<isize>, Option<usize>) {
    let executable = compiled(body, executor);
    let definition = executable.definition();
    let meant = evaluate(&definition.graph, &definition.fusion, inputs, &EvaluateOptions::default());
    let outputs = executable.run(inputs).expect("runs");
    let found =
        compare(&meant.expect("evaluates").outputs[0], &outputs[0].view(), &Serial).expect("same type");
    assert!(found.matches(), "{executor:?} of {body}: {found:?}");
    let axes = outputs[0].sizes().iter().zip(outputs[0].strides());
    (axes.map(|(&size, &stride)| if size == 1 { 0 } else { stride }).collect(), outputs[0].input())
}

#[test]
fn what_is_computed_of_expanded_inputs_repeats() {
    let data = Data::new();
    for executor in EXECUTORS {
        for &(body, wanted, shared) in BODIES {
            let found = strides(body, executor, &data.views());
            assert_eq!(found, (wanted.to_vec(), shared), "{executor:?} of {body}");
        }
    }
}

/// For an array with another layout than declared outputs do not repeat; one that was copied for reading still repeats.
#[test]
fn the_array_must_lie_as_declared() {
    let data = Data::new();
    let full = data.views()[0].to_array().expect("memory");
    let mut bytes = vec![0_u8; 21];
    bytes[1..].copy_from_slice(data.0[0].as_bytes());
    let apart = ArrayView::new(&bytes, 1, DType::F32, &[4, 6, 5], &[0, 0, 1]).expect("inside");
    for executor in EXECUTORS {
        let [_, pairs, x, column] = data.views();
        let lies = |rows: ArrayView<'_>| {
            strides("fd.ops.exp(rows)", executor, &[rows, pairs.clone(), x.clone(), column.clone()])
        };
        assert_eq!(lies(full.view()), (vec![30, 5, 1], None), "{executor:?}");
        assert_eq!(lies(apart.clone()), (vec![0, 0, 1], None), "{executor:?}");
    }
}
