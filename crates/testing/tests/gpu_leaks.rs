//! Calls on a GPU leak nothing. The only test of its process, since the stand-in counts for the whole process.

use std::sync::Arc;

use cuda::DeviceBuffer;
use ferrofuse::{CallOptions, CompileOptions, CudaDevice, DType, Executable, GpuArgument, GpuInput, define};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

/// Two segments, a product of matrices, and an op that the host runs.
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

/// One kernel that checks indices.
const CHECKED: &str = "
def f(fd):
    rows = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    places = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    fd.add_output(fd.ops.take_along_axis(rows, fd.ops.cast(places, DataType.Int), 0))
";

#[test]
fn a_call_leaves_nothing_behind() {
    let device = stand_in::gpu().expect("the stand-in opens");
    let options = on(&device);
    let executable = Executable::by_size(define(TEXT).expect("defines"), options.clone());
    let small = Executable::by_size(define(SMALL).expect("defines"), options);
    let x = Array::from_slice(&[2, 3], &[1.0_f32, 0.5, 2.0, 0.0, 1.5, 3.0]).expect("memory");
    let held = || {
        ["allocations", "bytes", "host_allocations", "modules", "streams", "events", "cublas_objects"]
            .map(stand_in::count)
    };
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
    checked_calls(&device);
    assert_eq!(held()[..2], before[..2]);
    let modules = before[3];
    drop(executable);
    assert!(modules > 0 && stand_in::count("modules") < modules, "code goes with its executable");
}

fn on(device: &Arc<CudaDevice>) -> CompileOptions {
    let executor = Arc::clone(device).into();
    CompileOptions { executor, ..CompileOptions::default() }
}

/// Calls that check indices, which nothing waits for: for each a stream gets memory for the output and a kernel, and now and
/// then an event.
fn checked_calls(device: &Arc<CudaDevice>) {
    const CALLS: u64 = 20_000;
    let executable = Executable::by_size(define(CHECKED).expect("defines"), on(device));
    let stream = Arc::new(device.new_stream().expect("a stream"));
    let mut memory = DeviceBuffer::allocate(&stream, 64).expect("memory");
    // SAFETY: the zeros are in pageable memory.
    unsafe { memory.upload(&[0; 64]) }.expect("uploads");
    // SAFETY: the layout is within the buffer, which lives longer than the calls.
    let floats =
        || unsafe { GpuArgument::from_raw_parts(memory.address(), DType::F32, Layout::dense(&[16]), false) };
    let call = || {
        let inputs = [GpuInput::Tensor(floats()), GpuInput::Tensor(floats())];
        executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs")
    };
    let _ = call();
    stream.synchronize().expect("runs");
    let pending = stand_in::count("pending");
    let outputs = [(); 32].map(|()| call());
    assert_eq!(stand_in::count("pending") - pending, 2 * 32);
    drop(outputs);
    for _ in 0..2000 {
        let _ = call();
    }
    let held = || ["host_allocations", "events"].map(stand_in::count);
    let before = held();
    for _ in 0..CALLS {
        let _ = call();
    }
    let after = held();
    drop(memory);
    stream.synchronize().expect("runs");
    assert!(
        before[0] < 100 && after[0] <= before[0] + 2 && after[1] <= before[1] + 2,
        "{before:?} {after:?}"
    );
}
