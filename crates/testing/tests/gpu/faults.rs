//! Indices out of range: a call does not wait for its kernels; a later one reports them, each once.

use std::sync::Arc;

use cuda::Stream;
use ferrofuse::{CallOptions, CompileOptions, CudaDevice, Executable, GpuOutput, define};
use ferrofuse_testing::stand_in;
use ir::array::{Array, Layout};

use crate::tensors::{argument, downloaded, uploaded};

/// Elements of rows at indices, with as many indices in each row.
const PICKED: &str = "
def f(fd):
    rows = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    places = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
    fd.add_output(fd.ops.gather(rows, fd.ops.cast(places, DataType.Int), 1))
";

/// A separate device: a fault is reported to the next caller.
fn device() -> Arc<CudaDevice> {
    let gpu = stand_in::gpu().expect("the stand-in opens");
    Arc::new(gpu.sibling(0).expect("the first of two"))
}

fn executable(device: &Arc<CudaDevice>) -> Executable {
    let executor = Arc::clone(device).into();
    let options = CompileOptions { executor, ..CompileOptions::default() };
    Executable::by_size(define(PICKED).expect("defines"), options)
}

fn stream(device: &CudaDevice) -> Arc<Stream> {
    Arc::new(device.new_stream().expect("a stream"))
}

/// Picks elements of one row, whose elements are their indices.
fn pick(
    executable: &Executable,
    stream: &Arc<Stream>,
    row: usize,
    places: &[f32],
) -> Result<Vec<GpuOutput>, String> {
    let row: Vec<f32> = (0..row).map(|place| place as f32).collect();
    let (rows, given) = (uploaded(stream, &row), uploaded(stream, places));
    let inputs = [
        argument(&rows, 0, Layout::dense(&[1, row.len()]), false),
        argument(&given, 0, Layout::dense(&[1, places.len()]), false),
    ];
    let outputs = executable.run_on_gpu(&CallOptions::default(), stream, &inputs);
    outputs.map_err(|error| error.to_string())
}

/// The device's report about an index.
fn told(index: i64, size: usize) -> String {
    format!(
        "of an earlier call on cuda:0: line 5: `gather`: index {index} is out of range for axis 1 of size {size}"
    )
}

fn check(device: &CudaDevice) -> Option<String> {
    device.check().err().map(|error| error.to_string())
}

#[test]
fn a_call_tells_of_an_earlier_one() {
    let device = device();
    let (executable, stream) = (executable(&device), stream(&device));
    pick(&executable, &stream, 4, &[1.0, 9.0, -7.0, 8.0]).expect("nobody waits");
    stream.synchronize().expect("runs");
    let error = pick(&executable, &stream, 4, &[1.0]).expect_err("the next call is told");
    assert_eq!(error, told(-7, 4), "the smallest index");
    let outputs = pick(&executable, &stream, 4, &[1.0, 3.0]).expect("it is told once");
    let [GpuOutput::Made(picked)] = &outputs[..] else { panic!("one is made") };
    assert_eq!(downloaded(&stream, picked.address(), 2), [1.0, 3.0]);
    assert_eq!(check(&device), None);
}

/// Fault words of a call whose stream has not reached it belong to no other call, however many there are.
#[test]
fn each_call_has_words_of_its_own() {
    let device = device();
    let executable = executable(&device);
    let [late, other] = [(); 2].map(|()| stream(&device));
    let mut heard = Vec::new();
    for call in 0..150 {
        let places = if call == 70 { [40.0] } else { [0.0] };
        heard.extend(pick(&executable, &late, 3 + call % 5, &places).err());
    }
    for call in 0..300 {
        heard.extend(pick(&executable, &other, 3 + call % 5, &[2.0]).err());
        if call % 50 == 0 {
            other.synchronize().expect("runs");
        }
    }
    // Unless another test has waited for the device, the first stream has not reached it yet.
    late.synchronize().expect("runs");
    heard.extend(check(&device));
    assert_eq!(heard, [told(40, 3)]);
}

#[test]
fn words_are_used_again() {
    let device = device();
    let (executable, stream) = (executable(&device), stream(&device));
    for call in 0..1000 {
        let wrong = call % 100 == 99;
        let made = pick(&executable, &stream, 4, if wrong { &[5.0] } else { &[2.0] });
        made.expect("nobody waits, and all is told");
        if call % 10 == 9 {
            stream.synchronize().expect("runs");
            assert_eq!(check(&device), wrong.then(|| told(5, 4)));
        }
    }
}

/// A call on the host waits, and reports its own indices.
#[test]
fn who_waits_is_told_at_once() {
    let device = device();
    let executable = executable(&device);
    let rows = Array::from_slice(&[1, 3], &[5.0_f32, 6.0, 7.0]).expect("memory");
    let [right, wrong] =
        [[2.0_f32, 0.0], [1.0, 3.0]].map(|places| Array::from_slice(&[1, 2], &places).expect("memory"));
    let error = executable.run(&[rows.view(), wrong.view()]).expect_err("it is out of range").to_string();
    assert_eq!(error, "line 5: `gather`: index 3 is out of range for axis 1 of size 3");
    assert_eq!(check(&device), None, "nobody else is");
    let outputs = executable.run(&[rows.view(), right.view()]).expect("runs");
    assert_eq!(outputs[0].to_array().expect("memory").as_slice::<f32>(), [7.0, 5.0]);
}

/// Every replay may find one, and a graph keeps its words as long as it has work.
#[test]
fn replays_are_told_of() {
    let device = device();
    let (executable, stream) = (executable(&device), stream(&device));
    let (rows, places) = (uploaded(&stream, &[5.0, 6.0, 7.0]), uploaded(&stream, &[9.0]));
    let dense = |size: usize| Layout::dense(&[1, size]);
    let inputs = [argument(&rows, 0, dense(3), false), argument(&places, 0, dense(1), false)];
    let own = |forms: &[_]| Ok(forms.iter().map(|_| None).collect());
    let captured = executable.capture_on_gpu(&CallOptions::default(), &stream, &inputs, own);
    let mut graph = captured.expect("captures");
    // SAFETY: the tensors outlive the work, all of which is on one stream.
    let mut replay = || unsafe { graph.replay(&stream) }.map_err(|error| error.to_string());
    for _ in 0..3 {
        replay().expect("nobody waits");
        stream.synchronize().expect("runs");
        assert_eq!(replay(), Err(told(9, 3)));
        assert_eq!(check(&device), None, "it is told once");
    }
    replay().expect("nobody waits");
    drop(graph);
    let mut heard: Vec<String> =
        (0..200).filter_map(|_| pick(&executable, &stream, 3, &[1.0]).err()).collect();
    stream.synchronize().expect("runs");
    heard.extend(check(&device));
    assert_eq!(heard, [told(9, 3)], "the graph is gone, its work was not");
}
