//! Settings of the stand-in: it detects races, or has a defect for which there is a message; everything not affected goes on
//! working. The only test of its process, since settings are for the whole process.

use std::sync::Arc;

use cuda::{Cuda, DeviceBuffer, LibraryPaths};
use ferrofuse::{Blame, CallOptions, CompileOptions, CudaDevice, DType, Executable, define};
use ferrofuse::{GpuArgument, GpuInput};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

const TEXT: &str = "
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    t = fd.ops.segment_set(fd.ops.exp(x))
    fd.add_output(fd.ops.neg(t))
";

fn on(device: &Arc<CudaDevice>) -> CompileOptions {
    let executor = Arc::clone(device).into();
    CompileOptions { executor, ..CompileOptions::default() }
}

fn executable(device: &Arc<CudaDevice>) -> Executable {
    Executable::by_size(define(TEXT).expect("defines"), on(device))
}

/// The result or the error of a call on zeros.
fn called(executable: &Executable) -> Result<Vec<f32>, String> {
    let zeros = Array::zeros(DType::F32, &[8]).expect("memory");
    let outputs = executable.run(&[zeros.view()]).map_err(|error| error.to_string())?;
    Ok(outputs[0].to_array().expect("memory").as_slice::<f32>().to_vec())
}

fn opened() -> Result<Cuda, String> {
    let path = emulator::library().expect("the stand-in is built");
    let path = || Some(path.clone());
    let paths = LibraryPaths { cuda: path(), nvrtc: path(), cublaslt: path(), folders: Vec::new() };
    Cuda::open(&paths).map_err(|error| error.to_string())
}

#[test]
fn races_are_none_and_what_is_broken_is_told() {
    a_driver_of_another_cuda();
    no_device();
    let gpu = stand_in::gpu().expect("the stand-in opens");
    let devices = [0, 1].map(|ordinal| Arc::new(gpu.sibling(ordinal).expect("one of two")));
    let [first, second] = [0, 1].map(|ordinal: usize| executable(&devices[ordinal]));
    for executable in [&first, &second] {
        assert_eq!(called(executable), Ok(vec![-1.0; 8]));
    }
    devices.iter().for_each(streams_do_not_meet);
    a_stream_of_another_device(&devices);
    no_memory(&devices[0], &first);
    rejected_launches(&first);
    a_kernel_that_goes_wrong(&devices[0], &first, &second);
    a_lost_device(&second);
    let contexts = stand_in::count("contexts");
    drop((first, second, devices));
    assert_eq!(
        stand_in::count("contexts"),
        contexts - 1,
        "nothing keeps the second device, not even what it is to tell"
    );
}

fn a_driver_of_another_cuda() {
    stand_in::set("driver_version", 11080);
    assert_eq!(
        opened().expect_err("NVRTC is of CUDA 12.9"),
        "the driver supports CUDA 11.8 and NVRTC is of CUDA 12.9: update the driver, or take an NVRTC of CUDA 11"
    );
    // Minor versions of one major version are compatible.
    stand_in::set("driver_version", 12000);
    opened().expect("it fits");
    stand_in::set("reset", 0);
}

fn no_device() {
    stand_in::set("devices", 0);
    let error = opened().expect_err("there is none");
    assert_eq!(error, "cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected");
    stand_in::set("reset", 0);
}

/// A product, intermediates, and fault words, on two streams alternately: no memory is shared between the streams.
fn streams_do_not_meet(device: &Arc<CudaDevice>) {
    let matrix = "fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)";
    let text = format!(
        "
def f(fd):
    x = {matrix}
    t = fd.ops.segment_set(fd.ops.exp(fd.ops.matmul(x, x)))
    fd.add_output(fd.ops.gather(t, fd.ops.cast(x, DataType.Int), 1))
    fd.add_output(fd.ops.sum(t, dims=[0]))
"
    );
    let executable = Executable::by_size(define(&text).expect("defines"), on(device));
    let streams = [(); 2].map(|()| Arc::new(device.new_stream().expect("a stream")));
    let zeros = Array::zeros(DType::F32, &[4, 4]).expect("memory");
    let inputs = || [GpuInput::Host(zeros.view())];
    executable.run_on_gpu(&CallOptions::default(), &streams[0], &inputs()).expect("compiles");
    streams[0].synchronize().expect("runs");
    stand_in::set("races", 1);
    for call in 0..60 {
        let made = executable.run_on_gpu(&CallOptions::default(), &streams[call % 2], &inputs());
        drop(made.expect("nobody waits"));
        if call % 20 == 19 {
            streams[call / 20 % 2].synchronize().expect("no race");
        }
    }
    streams.iter().for_each(|stream| stream.synchronize().expect("no race"));
    stand_in::set("reset", 0);
}

fn a_stream_of_another_device(devices: &[Arc<CudaDevice>; 2]) {
    let other = devices[1].new_stream().expect("a stream");
    // SAFETY: the stream lives; the test is about its being another device's.
    let error = unsafe { devices[0].stream_of_caller(other.number()) }.expect_err("it is of the other");
    let told = "cuStreamGetCtx: CUDA_ERROR_INVALID_CONTEXT: the stream is one of another device than cuda:0";
    assert!(error.to_string().starts_with(told), "{error}");
}

/// The pool frees unused memory before a device reports that it has none; then the message says what uses it.
fn no_memory(device: &Arc<CudaDevice>, executable: &Executable) {
    let stream = Arc::new(device.new_stream().expect("a stream"));
    let allocate = |bytes: usize| DeviceBuffer::allocate(&stream, bytes).map_err(|error| error.to_string());
    let before = stand_in::count("allocations");
    stand_in::set("memory", 72 << 20);
    drop(allocate(40 << 20).expect("there is room"));
    stream.synchronize().expect("the pool keeps it");
    let held = allocate(44 << 20).expect("the pool is trimmed");
    let error = allocate(40 << 20).expect_err("there is no more");
    assert!(error.starts_with("cuda:0 has no memory for 41943040 bytes: "), "{error}");
    assert!(error.contains(" of 75497472 are free, calls hold 4613"), "{error}");
    let zeros = Array::zeros(DType::F32, &[6 << 20]).expect("memory");
    let error = executable.run(&[zeros.view()]).expect_err("there is no room for what a segment makes");
    assert!(error.to_string().starts_with("seg0: cuda:0 has no memory for 25165824 bytes: "), "{error}");
    assert_eq!(error.blame(), Blame::Machine);
    assert_eq!(called(executable), Ok(vec![-1.0; 8]), "the next call works");
    drop(held);
    stream.synchronize().expect("runs");
    stand_in::set("reset", 0);
    assert_eq!(stand_in::count("allocations"), before, "nothing is left");
}

/// For each launch of a call: the message names the segment.
fn rejected_launches(executable: &Executable) {
    let before = stand_in::count("allocations");
    for launch in 0..2 {
        stand_in::set("fail_launch_after", launch);
        let error = called(executable).expect_err("a launch is rejected");
        let segment = format!("seg{launch} on cuda:0: cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: ");
        assert!(error.starts_with(&segment), "{error}");
        assert_eq!(called(executable), Ok(vec![-1.0; 8]), "the next call works");
    }
    assert_eq!(stand_in::count("allocations"), before, "nothing is left");
}

/// The caller that waits gets the error, and so does every later call on the device; the other device goes on.
fn a_kernel_that_goes_wrong(device: &Arc<CudaDevice>, executable: &Executable, other: &Executable) {
    let stream = Arc::new(device.new_stream().expect("a stream"));
    let buffer = DeviceBuffer::allocate(&stream, 32).expect("memory");
    // SAFETY: the layout is within the buffer, which outlives the call.
    let x =
        || unsafe { GpuArgument::from_raw_parts(buffer.address(), DType::F32, Layout::dense(&[8]), false) };
    stand_in::set("fault_launch_after", 1);
    let given = executable.run_on_gpu(&CallOptions::default(), &stream, &[GpuInput::Tensor(x())]);
    given.expect("nobody waits");
    let waited = stream.synchronize().expect_err("it went wrong").to_string();
    let lasting =
        "(in this call or an earlier one; the process cannot use the device any more: start it anew)";
    assert!(waited.starts_with("cuStreamSynchronize: CUDA_ERROR_LAUNCH_FAILED: "), "{waited}");
    assert!(waited.ends_with(lasting), "{waited}");
    for _ in 0..2 {
        let later = called(executable).expect_err("the device does no more");
        assert!(later.contains("CUDA_ERROR_LAUNCH_FAILED") && later.ends_with(lasting), "{later}");
    }
    assert_eq!(called(other), Ok(vec![-1.0; 8]), "the other device goes on");
}

fn a_lost_device(executable: &Executable) {
    stand_in::set("lose_device", 1);
    for _ in 0..2 {
        let error = called(executable).expect_err("it is lost");
        assert!(error.contains("CUDA_ERROR_"), "{error}");
    }
    stand_in::set("reset", 0);
    assert_eq!(called(executable), Ok(vec![-1.0; 8]), "it is there again");
}
