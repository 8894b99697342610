//! Captured calls: replayed with the current contents of their inputs, in the memory of their outputs; calls that cannot be
//! replayed are rejected.

use std::sync::Arc;

use cuda::Stream;
use ferrofuse::{CallOptions, Executable, GpuGraph, GpuInput, GpuOutput, define};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

use crate::tensors::{argument, downloaded, executable, on_gpu, stream, uploaded};

fn captured(
    executable: &Executable,
    stream: &Arc<Stream>,
    inputs: &[GpuInput<'_>],
) -> Result<GpuGraph, String> {
    let own = |forms: &[_]| Ok(forms.iter().map(|_| None).collect());
    let options = CallOptions::default();
    executable.capture_on_gpu(&options, stream, inputs, own).map_err(|error| error.to_string())
}

fn replay(graph: &mut GpuGraph, stream: &Stream) {
    // SAFETY: the tests keep all tensors, and enqueue all work on one stream at a time.
    unsafe { graph.replay(stream) }.expect("runs");
}

/// Three kernels, a product of matrices and memory between them.
const CHAIN: &str = "    a = fd.ops.segment_set(fd.ops.exp(x))
    b = fd.ops.segment_set(fd.ops.add(a, y))
    c = fd.ops.matmul(b, a)
    fd.add_output(fd.ops.neg(c))
    fd.add_output(fd.ops.mul(y, 2.0), y)
";

#[test]
fn a_plan_is_replayed_as_one_launch() {
    let (executable, stream) = (executable(CHAIN), stream());
    let dense = || Layout::dense(&[2, 2]);
    let (x, y) = (uploaded(&stream, &[0.0; 4]), uploaded(&stream, &[1.0, 2.0, 3.0, 4.0]));
    let inputs = [argument(&x, 0, dense(), false), argument(&y, 0, dense(), true)];
    let mut graph = captured(&executable, &stream, &inputs).expect("captures");
    stream.synchronize().expect("runs");
    assert_eq!(downloaded(&stream, y.address(), 4), [1.0, 2.0, 3.0, 4.0], "a capture runs nothing");
    let graphs = stand_in::count("graphs");
    let [GpuOutput::Made(made)] = graph.outputs() else { panic!("one is made, one is written to y") };
    let address = made.address();
    // exp(0) is 1, so that b is y + 1, and its product with ones the sum of its rows.
    for (once, (first, second)) in [(1.0, (5.0, 9.0)), (2.0, (8.0, 16.0)), (4.0, (14.0, 30.0))] {
        replay(&mut graph, &stream);
        assert_eq!(downloaded(&stream, address, 4), [-first, -first, -second, -second]);
        assert_eq!(
            downloaded(&stream, y.address(), 4),
            [1.0, 2.0, 3.0, 4.0].map(|number| 2.0 * once * number)
        );
    }
    drop(graph);
    assert!(stand_in::count("graphs") < graphs);
}

/// Numbers are those of the capture, in any dtype.
#[test]
fn numbers_of_the_host_are_kept() {
    let text = "
def f(fd):
    x = fd.define_tensor(shape=[-1], contiguity=[True], dtype=DataType.Float)
    s = fd.define_scalar(dtype=DataType.Double)
    fd.add_output(fd.ops.cast(fd.ops.mul(x, s), DataType.Float))
";
    let (executable, stream) = (on_gpu(define(text).expect("defines")), stream());
    let x = uploaded(&stream, &[1.0, 2.0, 3.0]);
    let mut graph = {
        let number = Array::from_slice(&[], &[1.0 + 1.0 / 1024.0]).expect("memory");
        let inputs = [argument(&x, 0, Layout::dense(&[3]), false), GpuInput::Host(number.view())];
        captured(&executable, &stream, &inputs).expect("captures")
    };
    let [GpuOutput::Made(made)] = graph.outputs() else { panic!("it is made") };
    let address = made.address();
    replay(&mut graph, &stream);
    let expected = [1.0, 2.0, 3.0].map(|number| number * (1.0 + 1.0 / 1024.0));
    assert_eq!(downloaded(&stream, address, 3), expected);
    // Also for a replay on another stream that outlives the graph.
    let other = Stream::new(stream.device()).expect("a stream");
    let outputs = graph.take_outputs();
    for _ in 0..3 {
        replay(&mut graph, &other);
    }
    drop(graph);
    assert_eq!(downloaded(&other, address, 3), expected);
    drop(outputs);
}

#[test]
fn what_cannot_be_replayed_is_rejected() {
    let stream = stream();
    let x = uploaded(&stream, &[0.5; 16]);
    let dense = || Layout::dense(&[2, 2]);
    let rejected = |body: &str, first: u64| {
        let executable = executable(body);
        let inputs = [argument(&x, first, dense(), false), argument(&x, 8, dense(), false)];
        captured(&executable, &stream, &inputs).expect_err("is rejected")
    };
    assert_eq!(
        rejected("    fd.add_output(fd.ops.argsort(fd.ops.add(x, y), dim=1))\n", 0),
        "the host has a part in the call (argsort), which a graph that is captured cannot wait for"
    );
    assert_eq!(
        rejected(
            "    fd.add_output(fd.ops.add(x, fd.ops.uniform(0.0, 1.0, [2, 2], dtype=DataType.Float)))\n",
            0
        ),
        "the call draws random numbers, which would be the same in each replay of a graph that is captured"
    );
    assert_eq!(
        rejected("    fd.add_output(fd.ops.add(x, y))\n", 1),
        "input 0 (x) has an address that is no multiple of 16 bytes, and a graph would have a copy of what is there now: give an \
         aligned array"
    );
    let array = Array::zeros(ferrofuse::DType::F32, &[2, 2]).expect("memory");
    let inputs = [GpuInput::Host(array.view()), argument(&x, 8, dense(), false)];
    let error = captured(&executable("    fd.add_output(fd.ops.add(x, y))\n"), &stream, &inputs)
        .expect_err("rejected");
    assert!(error.starts_with("input 0 (x) is an array of the host, which a graph"), "{error}");
}

/// Memory that a call allocates while its caller captures the stream belongs to the graph, and is freed after the graph ran.
#[test]
fn a_call_allocates_no_outputs_while_its_stream_is_captured() {
    let (executable, stream) = (executable("    fd.add_output(fd.ops.add(x, y))\n"), stream());
    let (x, y) = (uploaded(&stream, &[1.0; 4]), uploaded(&stream, &[2.0; 4]));
    let made = uploaded(&stream, &[0.0; 4]);
    let dense = || Layout::dense(&[2, 2]);
    let inputs = || [argument(&x, 0, dense(), false), argument(&y, 0, dense(), false)];
    executable.run_on_gpu(&CallOptions::default(), &stream, &inputs()).expect("compiles");
    let captured =
        stream.capture(|| executable.run_on_gpu(&CallOptions::default(), &stream, &inputs()).map(drop));
    assert_eq!(
        captured.expect_err("it is rejected").to_string(),
        "the call would allocate output 0 while the stream is captured: give memory for it (`out`)"
    );
    let place = |_: &[_]| {
        let GpuInput::Tensor(made) = argument(&made, 0, dense(), true) else { panic!("it is one") };
        Ok(vec![Some(made)])
    };
    let captured = stream
        .capture(|| executable.run_on_gpu_into(&CallOptions::default(), &stream, &inputs(), place).map(drop));
    let (mut graph, ()) = captured.expect("captures");
    // SAFETY: the tensors outlive the work, all of which is on one stream.
    unsafe { graph.launch(&stream) }.expect("runs");
    assert_eq!(downloaded(&stream, made.address(), 4), [3.0; 4]);
}
