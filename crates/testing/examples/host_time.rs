//! What a call on a GPU takes of the host besides the driver, whose place the stand-in takes: `cargo run --release --package
//! ferrofuse-testing --example host_time`, or with `-- NAME` one row, for ever, to be profiled. Times are the minimum of many rounds,
//! in microseconds; what the stand-in's functions take is subtracted, and their number is told. Streams are waited for between rounds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cuda::{DeviceBuffer, Stream};
use ferrofuse::{CallOptions, CompileOptions, DType, Executable, GpuArgument, GpuGraph, GpuInput, define};
use ferrofuse_testing::stand_in;
use ir::array::Layout;

const ROUNDS: usize = 300;
/// Calls of a round: enough that their work waits in the stream.
const CALLS: u32 = 50;

/// Rows of the table: a name, what is computed of the inputs `x` and `y`, and whether the output is written to a buffer.
const ROWS: [(&str, &str, bool); 6] = [
    ("one kernel", "    fd.add_output(fd.ops.add(x, y))\n", false),
    ("one kernel, into a buffer", "    fd.add_output(fd.ops.add(x, y))\n", true),
    ("one kernel, in place", "    fd.add_output(fd.ops.add(x, y), x)\n", false),
    (
        "one kernel that checks indices",
        "    fd.add_output(fd.ops.gather(x, fd.ops.cast(y, DataType.Int), 1))\n",
        false,
    ),
    ("ten kernels", TEN, false),
    ("a product of matrices", "    fd.add_output(fd.ops.matmul(x, y))\n", false),
];

const TEN: &str = "    t = fd.ops.segment_set(fd.ops.add(x, y))
    t = fd.ops.segment_set(fd.ops.neg(t))
    t = fd.ops.segment_set(fd.ops.exp(t))
    t = fd.ops.segment_set(fd.ops.neg(t))
    t = fd.ops.segment_set(fd.ops.exp(t))
    t = fd.ops.segment_set(fd.ops.neg(t))
    t = fd.ops.segment_set(fd.ops.exp(t))
    t = fd.ops.segment_set(fd.ops.neg(t))
    t = fd.ops.segment_set(fd.ops.exp(t))
    fd.add_output(fd.ops.add(t, x))
";

/// Tensors of 4 times 4, all zero.
struct Tensors {
    stream: Arc<Stream>,
    buffers: [DeviceBuffer; 3],
}

impl Tensors {
    fn new() -> Tensors {
        let gpu = stand_in::gpu().expect("the stand-in opens");
        let stream = Arc::new(gpu.new_stream().expect("a stream"));
        let zeros = |()| {
            let mut buffer = DeviceBuffer::allocate(&stream, 64).expect("memory");
            // SAFETY: the zeros are in pageable memory.
            unsafe { buffer.upload(&[0; 64]) }.expect("uploads");
            buffer
        };
        let buffers = [(); 3].map(zeros);
        Tensors { stream, buffers }
    }

    fn argument(&self, buffer: usize) -> GpuArgument<'_> {
        let layout = Layout::dense(&[4, 4]);
        // SAFETY: the layout is within the buffer, which outlives all calls, and all work is of one stream.
        unsafe { GpuArgument::from_raw_parts(self.buffers[buffer].address(), DType::F32, layout, true) }
    }

    fn call(&self, executable: &Executable, is_placed: bool) {
        let inputs = [0, 1].map(|buffer| GpuInput::Tensor(self.argument(buffer)));
        let place = |forms: &[_]| Ok(forms.iter().map(|_| is_placed.then(|| self.argument(2))).collect());
        let ran = executable.run_on_gpu_into(&CallOptions::default(), &self.stream, &inputs, place);
        drop(ran.expect("runs"));
    }

    fn captured(&self, executable: &Executable) -> GpuGraph {
        let inputs = [0, 1].map(|buffer| GpuInput::Tensor(self.argument(buffer)));
        let own = |forms: &[_]| Ok(forms.iter().map(|_| None).collect());
        executable.capture_on_gpu(&CallOptions::default(), &self.stream, &inputs, own).expect("captures")
    }

    /// What is measured of each function beside itself.
    fn clock_overhead(&self) -> f64 {
        let round = |_| clocked(|| drop(self.stream.is_capturing()), CALLS);
        (0..ROUNDS).map(round).map(|[rest, calls]| rest / calls).fold(f64::INFINITY, f64::min)
    }

    /// Prints a row: the time of some work without the driver, and how often it calls that.
    fn print(&self, name: &str, mut work: impl FnMut()) {
        let overhead = self.clock_overhead();
        let mut minimum = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            let [rest, calls] = clocked(&mut work, CALLS);
            // A clock that begins before a function and ends after it is not a part of the call.
            let rest = rest - calls * overhead;
            if rest < minimum[0] {
                minimum = [rest, calls];
            }
            self.stream.synchronize().expect("runs");
        }
        println!("| {name} | {:.2} | {} |", minimum[0] / 1e3, minimum[1]);
    }
}

/// Nanoseconds of some work beside the driver's functions, and how many of these it calls.
fn clocked(mut work: impl FnMut(), times: u32) -> [f64; 2] {
    let told = || ["calls", "nanoseconds"].map(stand_in::count);
    stand_in::set("clock", 1);
    let [calls, busy] = told();
    let begin = Instant::now();
    (0..times).for_each(|_| work());
    let all = begin.elapsed();
    let [calls_after, busy_after] = told();
    stand_in::set("clock", 0);
    let own = all.saturating_sub(Duration::from_nanos(busy_after - busy));
    [own.as_nanos() as f64 / f64::from(times), (calls_after - calls) as f64 / f64::from(times)]
}

fn executable(body: &str) -> Executable {
    let matrix = "fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)";
    let text = format!("def f(fd):\n    x = {matrix}\n    y = {matrix}\n{body}");
    let executor = stand_in::gpu().expect("the stand-in opens").into();
    let options = CompileOptions { executor, ..CompileOptions::default() };
    Executable::by_size(define(&text).expect("defines"), options)
}

fn main() {
    let (tensors, wanted) = (Tensors::new(), std::env::args().nth(1));
    if let Some(wanted) = wanted {
        let (_, body, is_placed) = ROWS.into_iter().find(|row| row.0 == wanted).expect("a row of the table");
        let executable = executable(body);
        loop {
            (0..CALLS).for_each(|_| tensors.call(&executable, is_placed));
            tensors.stream.synchronize().expect("runs");
        }
    }
    println!("| a call | us | functions of the driver |\n|---|---|---|");
    for (name, body, is_placed) in ROWS {
        let executable = executable(body);
        tensors.call(&executable, is_placed);
        tensors.print(name, || tensors.call(&executable, is_placed));
    }
    for (name, body, _) in [ROWS[0], ROWS[4]] {
        let mut graph = tensors.captured(&executable(body));
        // SAFETY: the tensors outlive the work, all of which is of one stream.
        let mut replay = || unsafe { graph.replay(&tensors.stream) }.expect("runs");
        tensors.print(&format!("a replay of {name}"), &mut replay);
    }
}
