//! Outputs have the memory order of an input that is declared permuted, as nvFuser infers it: on every executor, whatever
//! the layout of the call's array.

use ferrofuse::{DType, compile, define};
use ir::array::Layout;
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::gpu::{EXECUTORS, options};
use crate::tensors::random;

/// Computations on `x` and `c`, of 2 by 3 by 4 by 5 with the second axis innermost, `rows`, which is row-major, and `bias`
/// of 1 by 3 by 1 by 1; and the strides of the output.
const BODIES: &[(&str, &[isize])] = &[
    ("fd.ops.exp(x)", &[60, 1, 15, 3]),
    ("fd.ops.mul(x, bias)", &[60, 1, 15, 3]),
    ("fd.ops.cast(fd.ops.add(x, fd.ops.exp(x)), dtype=DataType.BFloat16)", &[60, 1, 15, 3]),
    ("fd.ops.exp(c)", &[60, 1, 15, 3]),
    (
        "fd.ops.broadcast(fd.ops.exp(x), is_broadcast_dim=[False, False, True, False, False])",
        &[60, 1, 120, 15, 3],
    ),
    (
        "fd.ops.sub(x, fd.ops.broadcast(fd.ops.sum(x, dims=[2, 3]), [False, False, True, True]))",
        &[60, 1, 15, 3],
    ),
    // Up to the first axis that the output does not have.
    ("fd.ops.sum(x, dims=[2])", &[15, 1, 3]),
    ("fd.ops.neg(fd.ops.sum(x, dims=[1]))", &[20, 5, 1]),
    ("fd.ops.pad(fd.ops.exp(x), [1, 0])", &[72, 1, 18, 3]),
    // Permuted so that it is row-major.
    ("fd.ops.permute(fd.ops.exp(x), dims=[0, 2, 3, 1])", &[60, 15, 3, 1]),
    // Two with other layouts, and the user's own order.
    ("fd.ops.add(x, rows)", &[60, 20, 5, 1]),
    ("fd.ops.exp(rows)", &[60, 20, 5, 1]),
    ("fd.ops.mul(rows, bias)", &[60, 20, 5, 1]),
    ("fd.ops.stride_order(fd.ops.exp(x), [3, 2, 1, 0])", &[60, 20, 5, 1]),
    ("fd.ops.stride_order(fd.ops.exp(x), [0, 1, 2, 3])", &[1, 2, 6, 24]),
    // Folds, scans and index maps along the axes in the order of memory.
    ("fd.ops.sub(x, fd.ops.mean(x, dims=[0, 2, 3], keepdim=True))", &[60, 1, 15, 3]),
    ("fd.ops.mul(x, fd.ops.rsqrt(fd.ops.var(x, dims=[1, 2, 3], keepdim=True)))", &[60, 1, 15, 3]),
    ("fd.ops.sum(fd.ops.exp(x), dims=[2])", &[15, 1, 3]),
    ("fd.ops.cumsum(fd.ops.exp(x), dim=2)", &[60, 1, 15, 3]),
    ("fd.ops.cat([fd.ops.exp(x), x], dim=1)", &[120, 20, 5, 1]),
    ("fd.ops.slice(fd.ops.pad(fd.ops.exp(x), [1, 2]), [0, 0, 1, 0], [2, 3, 4, 6])", &[54, 18, 6, 1]),
    // Not for results of a library.
    ("fd.ops.argsort(x, dim=1)", &[60, 20, 5, 1]),
];

#[test]
fn outputs_lie_as_the_input_that_they_follow() {
    let tensor = |dtype, seed| random(dtype, &[2, 4, 5, 3], seed);
    let (x, c, rows) = (tensor(DType::F32, 1), tensor(DType::C64, 2), random(DType::F32, &[2, 3, 4, 5], 3));
    let bias = random(DType::F32, &[1, 3, 1, 1], 4);
    let last: Layout = x.view().layout().permuted([0, 3, 1, 2]);
    let channels_last = x.view().relaid(last.clone()).expect("inside");
    let complex = c.view().relaid(last).expect("inside");
    let dense = channels_last.to_array().expect("memory");
    for executor in EXECUTORS {
        for (body, strides) in BODIES {
            let text = format!(
                "def f(fd):
    x = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True, dtype=DataType.Float, stride_order=[3, 0, 2, 1])
    c = fd.define_tensor(shape=[2, 3, -1, -1], contiguity=True, dtype=DataType.ComplexFloat, stride_order=[3, 0, 2, 1])
    rows = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True, dtype=DataType.Float)
    bias = fd.define_tensor(shape=[1, -1, 1, 1], contiguity=[None, True, None, None], dtype=DataType.Float)
    fd.add_output({body})
"
            );
            let options = options(executor);
            let executable = compile(define(&text).expect("defines"), options).expect("compiles");
            for x in [channels_last.clone(), dense.view()] {
                let inputs = [x, complex.clone(), rows.view(), bias.view()];
                let definition = executable.definition();
                let options = EvaluateOptions::default();
                let meant =
                    evaluate(&definition.graph, &definition.fusion, &inputs, &options).expect("evaluates");
                let outputs = executable.run(&inputs).expect("runs");
                assert_eq!(outputs[0].strides(), *strides, "{executor:?} of {body}");
                let found = compare(&meant.outputs[0], &outputs[0].view(), &Serial).expect("same type");
                assert!(found.matches(), "{executor:?} of {body}: {found:?}");
            }
        }
    }
}
