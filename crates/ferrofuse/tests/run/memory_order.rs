//! Outputs whose axes are in memory in the order that the definition requests.

use ferrofuse::{Array, DType, Executable, ExecutorKind, compile, define};
use reference::evaluate::{EvaluateOptions, Serial, compare, evaluate};

use crate::gpu::{EXECUTORS, options};
use crate::tensors::random;

/// Computations on `x` of sizes 4, 5 and 6, and the strides of the outputs.
const BODIES: &[(&str, &[[isize; 3]])] = &[
    ("    fd.add_output(fd.ops.stride_order(fd.ops.neg(x), [0, 1, 2]))\n", &[[1, 4, 20]]),
    ("    fd.add_output(fd.ops.stride_order(fd.ops.neg(x), [-1, 0, 1]))\n", &[[30, 1, 5]]),
    ("    fd.add_output(fd.ops.stride_order(fd.ops.neg(x), []))\n", &[[30, 6, 1]]),
    // An input is copied.
    ("    fd.add_output(fd.ops.stride_order(x, [1, 2, 0]))\n    fd.add_output(x)\n", &[[6, 24, 1], [30, 6, 1]]),
    // The order passes through a cast, and through nothing else.
    (
        "    y = fd.ops.stride_order(fd.ops.exp(x), [0, 1, 2])
    fd.add_output(fd.ops.cast(y, dtype=DataType.Half))
    fd.add_output(fd.ops.neg(y))\n",
        &[[1, 4, 20], [30, 6, 1]],
    ),
    // One value in three orders.
    (
        "    y = fd.ops.exp(x)
    fd.add_output(y, stride_order=[2, 0, 1])
    fd.add_output(fd.ops.stride_order(y, [1, 0, 2]))
    fd.add_output(y)\n",
        &[[30, 1, 5], [5, 1, 20], [30, 6, 1]],
    ),
    // Read again by a later segment.
    (
        "    y = fd.ops.exp(x)
    fd.add_output(fd.ops.stride_order(y, [0, 1, 2]))
    z = fd.ops.segment_set(fd.ops.stride_order(y, [0, 1, 2]))
    fd.add_output(fd.ops.cumsum(fd.ops.sub(z, fd.ops.broadcast(fd.ops.sum(z, dims=[2]), [False, False, True])), dim=1))\n",
        &[[1, 4, 20], [30, 6, 1]],
    ),
    // Values computed outside of kernels.
    (
        "    fd.add_output(fd.ops.stride_order(fd.ops.argsort(x, dim=1), [0, 2, 1]))\n",
        &[[1, 24, 4]],
    ),
];

fn compiled(body: &str, executor: ExecutorKind) -> Executable {
    let shape = "shape=[-1, -1, -1], contiguity=[True, True, True], dtype=DataType.Float";
    let text = format!("def f(fd):\n    x = fd.define_tensor({shape})\n{body}");
    let options = options(executor);
    compile(define(&text).expect("defines"), options).expect("compiles")
}

#[test]
fn outputs_lie_as_asked() {
    let x: Array = random(DType::F32, &[4, 5, 6], 1);
    for executor in EXECUTORS {
        for (body, strides) in BODIES {
            let executable = compiled(body, executor);
            let definition = executable.definition();
            let options = EvaluateOptions::default();
            let meant = evaluate(&definition.graph, &definition.fusion, &[x.view()], &options);
            let outputs = executable.run(&[x.view()]).expect("runs");
            assert_eq!(outputs.len(), strides.len());
            for ((output, expected), strides) in
                outputs.iter().zip(meant.expect("evaluates").outputs).zip(*strides)
            {
                assert_eq!(output.strides(), strides, "{executor:?} of\n{body}");
                let found = compare(&expected, &output.view(), &Serial).expect("same type");
                assert!(found.matches(), "{executor:?} of\n{body}{found:?}");
            }
        }
    }
}
