//! Calls from many threads do not disturb each other.

use std::sync::Arc;
use std::thread;

use ferrofuse::{CallOptions, CompileOptions, CudaDevice, Executable, GpuOutput, define};
use ferrofuse_testing::stand_in;
use ir::array::Layout;

use crate::tensors::{argument, downloaded, executable, stream, uploaded};

#[test]
fn threads_call_on_streams_of_their_own() {
    let executable = executable(
        "    s = fd.ops.sum(x, dims=[1], keepdim=True)\n    fd.add_output(fd.ops.mul(fd.ops.sub(x, s), y), x)\n",
    );
    thread::scope(|scope| {
        for thread in 0..8 {
            let executable = &executable;
            scope.spawn(move || {
                let stream = stream();
                let y = uploaded(&stream, &[2.0; 6]);
                for call in 0..50 {
                    let start = (thread * 50 + call) as f32;
                    let x = uploaded(&stream, &[start, 1.0, 2.0, 3.0, 4.0, 5.0]);
                    let dense = || Layout::dense(&[2, 3]);
                    let inputs = [argument(&x, 0, dense(), true), argument(&y, 0, dense(), false)];
                    executable.run_on_gpu(&CallOptions::default(), &stream, &inputs).expect("runs");
                    let expected = [-6.0, -2.0 * (start + 2.0), -2.0 * (start + 1.0), -18.0, -16.0, -14.0];
                    assert_eq!(downloaded(&stream, x.address(), 6), expected);
                }
            });
        }
    });
}

/// Eight threads call two executables on two devices, each with two streams that four threads share.
#[test]
fn threads_share_the_streams_of_two_devices() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    e = fd.ops.segment_set(fd.ops.add(x, 1.0))
    fd.add_output(fd.ops.matmul(e, e))
    fd.add_output(fd.ops.sum(e, dims=[0]))
";
    let first = stand_in::gpu().expect("the stand-in opens");
    let devices: Vec<Arc<CudaDevice>> =
        (0..2).map(|ordinal| Arc::new(first.sibling(ordinal).expect("one of two"))).collect();
    let of_device = |gpu: &Arc<CudaDevice>| {
        let options = CompileOptions { executor: Arc::clone(gpu).into(), ..CompileOptions::default() };
        let streams = [(); 2].map(|()| Arc::new(gpu.new_stream().expect("a stream")));
        (Executable::by_size(define(text).expect("defines"), options), streams)
    };
    let devices: Vec<_> = devices.iter().map(of_device).collect();
    thread::scope(|scope| {
        for number in 0..8_usize {
            let (executable, streams) = &devices[number % 2];
            scope.spawn(move || {
                let stream = &streams[number / 2 % 2];
                for call in 0..40 {
                    let a = (number * 40 + call) as f32;
                    let x = uploaded(stream, &[a, 0.0, 0.0, a]);
                    let inputs = [argument(&x, 0, Layout::dense(&[2, 2]), false)];
                    let outputs =
                        executable.run_on_gpu(&CallOptions::default(), stream, &inputs).expect("runs");
                    let [GpuOutput::Made(product), GpuOutput::Made(sums)] = &outputs[..] else {
                        panic!("both are made")
                    };
                    let (square, other) = ((a + 1.0) * (a + 1.0) + 1.0, 2.0 * (a + 1.0));
                    assert_eq!(downloaded(stream, product.address(), 4), [square, other, other, square]);
                    assert_eq!(downloaded(stream, sums.address(), 2), [a + 2.0; 2]);
                }
            });
        }
    });
}
