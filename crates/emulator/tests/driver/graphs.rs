//! Capture, and graphs that are launched repeatedly.

use std::ptr;

use crate::KERNELS;
use crate::functions::{Address, Handle};
use crate::machine::{Context, LEGACY, Machine, Value, assert_says, code, ok};

const GLOBAL: u32 = 0;

/// A context with the kernel `twice` and a stream that captures.
struct Captured {
    context: Context,
    function: Handle,
    stream: Handle,
}

impl Captured {
    fn begin(machine: &Machine) -> Captured {
        let context = machine.context(0);
        let function = context.function(context.module(KERNELS), c"twice");
        let stream = context.stream(1);
        ok!(context.cu, cuStreamBeginCapture_v2(stream, GLOBAL));
        Captured { context, function, stream }
    }

    fn twice(&self, x: Address, stream: Handle) {
        let values = [Value::Pointer(x), Value::Number(32)];
        assert_eq!(
            self.context.launch(self.function, 1, stream, &values),
            0,
            "{}",
            crate::machine::message()
        );
    }

    /// Ends the capture; the graph can be launched.
    fn end(&self) -> Handle {
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        ok!(self.context.cu, cuStreamEndCapture(self.stream, &mut graph));
        ok!(self.context.cu, cuGraphInstantiateWithFlags(&mut executable, graph, 0));
        ok!(self.context.cu, cuGraphDestroy(graph));
        executable
    }

    fn end_code(&self) -> i32 {
        let mut graph = self.stream;
        let code = code!(self.context.cu, cuStreamEndCapture(self.stream, &mut graph));
        assert!(graph.is_null());
        code
    }
}

#[test]
fn a_captured_graph_runs_when_it_is_launched() {
    let machine = Machine::new();
    let captured = Captured::begin(&machine);
    let cu = captured.context.cu;
    let mut status = 7;
    ok!(cu, cuStreamIsCapturing(captured.stream, &mut status));
    assert_eq!(status, 1);
    let x = {
        // Memory can be allocated only during a capture in relaxed mode, or without a capture.
        captured.end();
        let x = captured.context.upload(&[1; 32]);
        ok!(cu, cuStreamBeginCapture_v2(captured.stream, GLOBAL));
        x
    };
    let mut pinned = ptr::null_mut();
    captured.twice(x, captured.stream);
    captured.twice(x, captured.stream);
    ok!(cu, cuMemsetD32Async(x + 4, 5, 1, captured.stream));
    let executable = captured.end();
    ok!(cu, cuStreamIsCapturing(captured.stream, &mut status));
    assert_eq!((status, machine.get("pending")), (0, 0));
    assert_eq!(captured.context.read(x, 2), [1, 1]);
    for _ in 0..3 {
        ok!(cu, cuGraphLaunch(executable, captured.stream));
    }
    assert_eq!(machine.get("pending"), 3);
    ok!(cu, cuMemHostAlloc(&mut pinned, 8, 0));
    ok!(cu, cuMemcpyDtoHAsync_v2(pinned, x, 8, captured.stream));
    ok!(cu, cuStreamSynchronize(captured.stream));
    // SAFETY: the memory has two numbers, and the copy to it has run.
    assert_eq!(unsafe { pinned.cast::<[i32; 2]>().read() }, [64, 5]);
    ok!(cu, cuMemFreeHost(pinned));
    ok!(cu, cuGraphExecDestroy(executable));
    ok!(cu, cuMemFree_v2(x));
    assert_eq!(["allocations", "host_allocations"].map(|what| machine.get(what)), [0, 0]);
}

/// A thread may declare that its allocations are no part of the capture.
#[test]
fn a_relaxed_thread_allocates_while_a_stream_captures() {
    let machine = Machine::new();
    let captured = Captured::begin(&machine);
    let cu = captured.context.cu;
    let (mut pinned, mut mode) = (ptr::null_mut(), 2);
    ok!(cu, cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, GLOBAL);
    ok!(cu, cuMemHostAlloc(&mut pinned, 8, 0));
    ok!(cu, cuThreadExchangeStreamCaptureMode(&mut mode));
    assert_eq!(mode, 2);
    let executable = captured.end();
    ok!(cu, cuGraphExecDestroy(executable));
    ok!(cu, cuMemFreeHost(pinned));
    mode = 3;
    assert_ne!(code!(cu, cuThreadExchangeStreamCaptureMode(&mut mode)), 0);
}

#[test]
fn a_graph_may_allocate_what_it_frees() {
    let machine = Machine::new();
    let captured = Captured::begin(&machine);
    let cu = captured.context.cu;
    let mut numbers = [0; 32];
    let x = captured.context.allocate_on(128, captured.stream);
    ok!(cu, cuMemsetD32Async(x, 21, 32, captured.stream));
    captured.twice(x, captured.stream);
    ok!(cu, cuMemcpyDtoHAsync_v2(numbers.as_mut_ptr().cast(), x, 128, captured.stream));
    ok!(cu, cuMemFreeAsync(x, captured.stream));
    let executable = captured.end();
    for _ in 0..2 {
        numbers = [0; 32];
        ok!(cu, cuGraphLaunch(executable, captured.stream));
        assert_eq!(numbers, [0; 32]);
        ok!(cu, cuStreamSynchronize(captured.stream));
        assert_eq!(numbers, [42; 32]);
    }
    assert_eq!(machine.get("allocations"), 1);
    ok!(cu, cuGraphExecDestroy(executable));
    assert_eq!(["allocations", "bytes", "graphs"].map(|what| machine.get(what)), [0; 3]);
    ok!(cu, cuMemsetD8Async(x, 0, 1, captured.stream));
    assert_says(code!(cu, cuStreamSynchronize(captured.stream)), 700, "in no memory");
}

/// The result of a graph of two streams: the second doubles the numbers that the first has set, with or without an event
/// between.
fn forked(machine: &Machine, with_event: bool) -> Vec<i32> {
    let captured = Captured::begin(machine);
    let cu = captured.context.cu;
    let (other, fork, set, join) = (
        captured.context.stream(1),
        captured.context.event(),
        captured.context.event(),
        captured.context.event(),
    );
    captured.end();
    let x = captured.context.upload(&[1; 32]);
    ok!(cu, cuStreamBeginCapture_v2(captured.stream, GLOBAL));
    ok!(cu, cuEventRecord(fork, captured.stream));
    ok!(cu, cuStreamWaitEvent(other, fork, 0));
    ok!(cu, cuMemsetD32Async(x, 21, 32, captured.stream));
    ok!(cu, cuEventRecord(set, captured.stream));
    if with_event {
        ok!(cu, cuStreamWaitEvent(other, set, 0));
    }
    captured.twice(x, other);
    ok!(cu, cuEventRecord(join, other));
    ok!(cu, cuStreamWaitEvent(captured.stream, join, 0));
    let executable = captured.end();
    ok!(cu, cuGraphLaunch(executable, captured.stream));
    ok!(cu, cuStreamSynchronize(captured.stream));
    captured.context.read(x, 1)
}

#[test]
fn streams_join_a_capture_by_events() {
    let machine = Machine::new();
    assert_eq!(forked(&machine, true), [42]);
    assert_eq!(forked(&machine, false), [21], "nodes without an edge run the younger first");
}

#[test]
fn what_a_capture_forbids_ends_it() {
    let machine = Machine::new();
    type Misuse = fn(&Captured) -> i32;
    let misuses: [(Misuse, i32); 7] = [
        (|captured| code!(captured.context.cu, cuStreamSynchronize(captured.stream)), 900),
        (|captured| code!(captured.context.cu, cuStreamQuery(captured.stream)), 900),
        (|captured| code!(captured.context.cu, cuCtxSynchronize()), 900),
        (|captured| code!(captured.context.cu, cuMemAlloc_v2(&mut 0, 4)), 900),
        (
            |captured| code!(captured.context.cu, cuMemcpyHtoD_v2(8, (&raw const captured.stream).cast(), 4)),
            900,
        ),
        (
            |captured| {
                let event = captured.context.event();
                ok!(captured.context.cu, cuEventRecord(event, captured.stream));
                code!(captured.context.cu, cuEventSynchronize(event))
            },
            907,
        ),
        (
            |captured| {
                let (other, event) = (captured.context.stream(1), captured.context.event());
                ok!(captured.context.cu, cuEventRecord(event, other));
                code!(captured.context.cu, cuStreamWaitEvent(captured.stream, event, 0))
            },
            905,
        ),
    ];
    for (number, (misuse, expected)) in misuses.into_iter().enumerate() {
        let captured = Captured::begin(&machine);
        assert_eq!(misuse(&captured), expected, "{number}: {}", crate::machine::message());
        let again = code!(captured.context.cu, cuMemsetD8Async(8, 0, 1, captured.stream));
        assert_says(again, 901, "has made the capture invalid");
        assert_eq!(captured.end_code(), 901, "{number}");
        ok!(captured.context.cu, cuCtxSynchronize());
    }
}

#[test]
fn captures_end_as_they_began() {
    let machine = Machine::new();
    let captured = Captured::begin(&machine);
    let cu = captured.context.cu;
    let (blocking, event) = (captured.context.stream(0), captured.context.event());
    assert_says(code!(cu, cuStreamEndCapture(blocking, &mut ptr::null_mut())), 401, "does not capture");
    assert_says(code!(cu, cuStreamBeginCapture_v2(captured.stream, GLOBAL)), 401, "already");
    ok!(cu, cuEventRecord(event, captured.stream));
    ok!(cu, cuStreamWaitEvent(blocking, event, 0));
    assert_says(code!(cu, cuMemsetD8Async(8, 0, 1, LEGACY)), 906, "the default stream");
    assert_eq!(captured.end_code(), 901);
    ok!(cu, cuStreamBeginCapture_v2(captured.stream, GLOBAL));
    ok!(cu, cuEventRecord(event, captured.stream));
    ok!(cu, cuStreamWaitEvent(blocking, event, 0));
    assert_says(code!(cu, cuStreamEndCapture(blocking, &mut ptr::null_mut())), 903, "another stream");
    let x = captured.context.allocate_on(16, blocking);
    ok!(cu, cuMemFreeAsync(x, blocking));
    assert_eq!(captured.end_code(), 904, "the other stream was not joined back");
    assert_eq!(machine.get("allocations"), 0);
    assert_says(code!(cu, cuStreamBeginCapture_v2(LEGACY, GLOBAL)), 900, "default");
    ok!(cu, cuStreamSynchronize(blocking));
}

#[test]
fn a_stream_that_is_destroyed_ends_its_capture() {
    let machine = Machine::new();
    let captured = Captured::begin(&machine);
    let cu = captured.context.cu;
    captured.context.allocate_on(16, captured.stream);
    ok!(cu, cuStreamDestroy_v2(captured.stream));
    ok!(cu, cuCtxSynchronize());
    assert_eq!(["allocations", "bytes", "streams"].map(|what| machine.get(what)), [0; 3]);
}
