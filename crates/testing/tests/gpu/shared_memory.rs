//! Shared memory of a block: a launch may use all of it, and no schedule of the compiler's needs more, at any sizes.

use ferrofuse::check::{against, expected};
use ferrofuse::{CompileOptions, Executable, PlanOptions, define, parse_schedule};
use ferrofuse_testing::stand_in;
use ir::array::Array;
use ir::graph::Stream;
use reference::evaluate::Serial;

use crate::tensors::on_gpu;

/// The exponentials of each row, divided by their sum.
const EXPONENTIALS: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    y = fd.ops.exp(x)
    fd.add_output(fd.ops.div(y, fd.ops.sum(y, dims=[1], keepdim=True)))
";

/// Calls an executable with zeros of these sizes; its result must be the evaluator's.
fn agrees(executable: &Executable, sizes: &[usize]) {
    let x = Array::zeros(ferrofuse::DType::F32, sizes).expect("memory");
    let definition = executable.definition();
    let expected = expected(definition, &[x.view()], Stream::default(), &Serial, usize::MAX);
    let outputs = executable.run(&[x.view()]).unwrap_or_else(|error| panic!("{sizes:?}: {error}"));
    let views = outputs.iter().map(|output| output.view());
    let compared = against(&expected.expect("the evaluator runs"), views, &Serial).expect("memory");
    assert!(compared.iter().all(|comparison| comparison.matches()), "{sizes:?}");
}

/// The exponentials take the 48 KiB that a block has by default, and the sum a few bytes more.
#[test]
fn what_a_kernel_declares_itself_counts() {
    let schedule = "schedule lanes 64 warps 32\nblock x0 by 1\ninner x1\nlane x1\npersist n1";
    let schedules = vec![(0.into(), parse_schedule(schedule).expect("a schedule"))];
    let options = CompileOptions {
        executor: stand_in::gpu().expect("the stand-in opens").into(),
        plan: PlanOptions { schedules, ..PlanOptions::default() },
        ..CompileOptions::default()
    };
    let executable = Executable::new(define(EXPONENTIALS).expect("defines"), options).expect("compiles");
    agrees(&executable, &[2, (48 << 10) / 4]);
    agrees(&executable, &[1, 55 << 10]);
}

/// A kernel compiled for rows of a few elements keeps none of long rows in shared memory.
#[test]
fn rows_may_be_longer_than_was_expected() {
    let options = CompileOptions {
        executor: stand_in::gpu().expect("the stand-in opens").into(),
        ..CompileOptions::default()
    };
    let executable = Executable::new(define(EXPONENTIALS).expect("defines"), options).expect("compiles");
    agrees(&executable, &[2, 100_001]);
}

/// Calls with few elements share kernels, whatever their rows are.
#[test]
fn small_calls_with_long_rows_of_two_axes() {
    let mut text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    total = x
"
    .to_owned();
    for op in ["exp", "tanh", "sin", "cos", "erf"] {
        text += &format!(
            "    {op} = fd.ops.{op}(x)
    scaled_{op} = fd.ops.mul({op}, fd.ops.sum({op}, dims=[1, 2], keepdim=True))
    total = fd.ops.add(total, scaled_{op})
"
        );
    }
    let executable = on_gpu(define(&(text + "    fd.add_output(total)\n")).expect("defines"));
    agrees(&executable, &[3, 2, 2]);
    agrees(&executable, &[1, 1000, 16]);
}

/// The same with the sums of columns, which a block keeps over its rows.
#[test]
fn small_calls_with_sums_of_columns_of_two_axes() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.Float)
    total = fd.ops.sum(x, dims=[1, 2], keepdim=True)
    scaled = fd.ops.mul(x, total)
    fd.add_output(scaled)
    fd.add_output(fd.ops.sum(scaled, dims=[0]))
    fd.add_output(fd.ops.sum(fd.ops.mul(scaled, x), dims=[0]))
";
    let executable = on_gpu(define(text).expect("defines"));
    agrees(&executable, &[3, 2, 2]);
    agrees(&executable, &[1, 1000, 16]);
}
