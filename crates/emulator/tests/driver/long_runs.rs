//! Many calls leak nothing.

use std::fs;
use std::time::Instant;

use crate::KERNELS;
use crate::functions::Handle;
use crate::machine::{Context, Machine, Value, ok};

const PAGE: usize = 4096;

/// Bytes of memory that this process has in use.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("what the system knows of this process");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages") * PAGE
}

/// A call as a runtime makes it: memory of the pool, a launch, an event, sometimes a wait.
fn call(context: &Context, function: Handle, stream: Handle, number: usize) {
    let x = context.allocate_on(4096, stream);
    ok!(context.cu, cuMemsetD32Async(x, 1, 32, stream));
    assert_eq!(context.launch(function, 1, stream, &[Value::Pointer(x), Value::Number(32)]), 0);
    let event = context.event();
    ok!(context.cu, cuEventRecord(event, stream));
    ok!(context.cu, cuEventDestroy_v2(event));
    ok!(context.cu, cuMemFreeAsync(x, stream));
    if number.is_multiple_of(100) {
        ok!(context.cu, cuStreamSynchronize(stream));
    }
}

#[test]
fn many_calls_leave_nothing_behind() {
    let machine = Machine::new();
    let context = machine.context(0);
    let function = context.function(context.module(KERNELS), c"twice");
    let stream = context.stream(1);
    let calls = |count: usize| (0..count).for_each(|number| call(&context, function, stream, number));
    calls(1000);
    let (before, start) = (resident(), Instant::now());
    calls(4000);
    let grown = resident().saturating_sub(before);
    println!("{:?} a call, {grown} bytes more", start.elapsed() / 4000);
    assert!(grown < 4 << 20, "{grown} bytes more after 4000 calls");
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!(["allocations", "events", "pending"].map(|what| machine.get(what)), [0; 3]);
}
