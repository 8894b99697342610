//! Calls on a GPU leave nothing behind. The only test of its process, since what the stand-in counts is of all.

use ferrofuse::{CompileOptions, Executable, Executor, define};
use ferrofuse_testing::stand_in;
use ir::array::Array;

/// Two segments, a product of matrices, and an op that the host does.
const TEXT: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    t = fd.ops.segment_set(fd.ops.exp(x))
    fd.add_output(fd.ops.sum(fd.ops.mul(t, x), dims=[0]))
    fd.add_output(fd.ops.matmul(fd.ops.permute(x, [1, 0]), x))
    fd.add_output(fd.ops.argsort(x, dim=1))
";

/// One kernel, for many calls.
const SMALL: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.neg(x))
";

#[test]
fn a_call_leaves_nothing_behind() {
    let device = Some(stand_in::gpu().expect("the stand-in opens").into());
    let options = CompileOptions { executor: Executor::CUDA, device, ..CompileOptions::default() };
    let executable = Executable::by_size(define(TEXT).expect("defines"), options.clone());
    let small = Executable::by_size(define(SMALL).expect("defines"), options);
    let x = Array::from_slice(&[2, 3], &[1.0_f32, 0.5, 2.0, 0.0, 1.5, 3.0]).expect("memory");
    let held = || ["allocations", "bytes", "modules", "streams", "cublas_objects"].map(stand_in::count);
    executable.run(&[x.view()]).expect("runs");
    small.run(&[x.view()]).expect("runs");
    let before = held();
    for _ in 0..1_000 {
        executable.run(&[x.view()]).expect("runs");
    }
    assert_eq!(held(), before);
    for _ in 0..100_000 {
        small.run(&[x.view()]).expect("runs");
    }
    assert_eq!(held(), before);
    let modules = before[2];
    drop(executable);
    assert!(modules > 0 && stand_in::count("modules") < modules, "code goes with its executable");
}
