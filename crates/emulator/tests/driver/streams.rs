//! Streams and events: work runs as late as its order allows, not later.

use std::ptr;

use crate::KERNELS;
use crate::functions::{Address, Handle};
use crate::machine::{Context, LEGACY, Machine, Value, assert_says, code, ok};

const NON_BLOCKING: u32 = 1;

/// Makes `stream` double the 64 numbers at `x`.
fn twice(context: &Context, function: Handle, x: Address, stream: Handle) {
    assert_eq!(context.launch(function, 2, stream, &[Value::Pointer(x), Value::Number(64)]), 0);
}

/// The numbers that one stream copies from memory that another one doubles, with or without an event between.
fn copied(context: &Context, function: Handle, flags: u32, with_event: bool) -> Vec<i32> {
    let (writer, reader, event) = (context.stream(flags), context.stream(flags), context.event());
    let (x, y) = (context.upload(&[21; 64]), context.upload(&[0; 64]));
    twice(context, function, x, writer);
    ok!(context.cu, cuEventRecord(event, writer));
    if with_event {
        ok!(context.cu, cuStreamWaitEvent(reader, event, 0));
    }
    ok!(context.cu, cuMemcpyDtoDAsync_v2(y, x, 256, reader));
    ok!(context.cu, cuStreamSynchronize(reader));
    let mut numbers = vec![0; 64];
    ok!(context.cu, cuMemcpyDtoHAsync_v2(numbers.as_mut_ptr().cast(), y, 256, reader));
    ok!(context.cu, cuStreamSynchronize(writer));
    for address in [x, y] {
        ok!(context.cu, cuMemFree_v2(address));
    }
    ok!(context.cu, cuEventDestroy_v2(event));
    for stream in [writer, reader] {
        ok!(context.cu, cuStreamDestroy_v2(stream));
    }
    numbers
}

#[test]
fn a_missing_event_gives_what_was_there_before() {
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(KERNELS);
    let function = context.function(module, c"twice");
    for flags in [0, NON_BLOCKING] {
        assert_eq!(copied(&context, function, flags, true), [42; 64]);
        assert_eq!(copied(&context, function, flags, false), [21; 64]);
    }
    assert_eq!([machine.get("streams"), machine.get("events"), machine.get("pending")], [0; 3]);
}

#[test]
fn the_default_stream_is_ordered_with_blocking_streams() {
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(KERNELS);
    let function = context.function(module, c"twice");
    for (flags, expected) in [(0, 84), (NON_BLOCKING, 42)] {
        let (stream, x) = (context.stream(flags), context.upload(&[21; 64]));
        twice(&context, function, x, stream);
        twice(&context, function, x, LEGACY);
        ok!(context.cu, cuStreamSynchronize(LEGACY));
        let pending = machine.get("pending");
        assert_eq!(pending, u64::from(flags));
        assert_eq!(context.read(x, 1), [expected]);
        // The other way round: the stream waits for the default stream.
        twice(&context, function, x, LEGACY);
        twice(&context, function, x, stream);
        ok!(context.cu, cuStreamSynchronize(stream));
        assert_eq!(machine.get("pending"), u64::from(flags));
        ok!(context.cu, cuMemFree_v2(x));
        ok!(context.cu, cuStreamDestroy_v2(stream));
    }
}

#[test]
fn bytes_are_taken_and_given_as_the_driver_does() {
    let machine = Machine::new();
    let context = machine.context(0);
    let stream = context.stream(NON_BLOCKING);
    let x = context.allocate(16);
    // Pageable memory is read at the call, and written before the call returns.
    let mut numbers = [1, 2, 3, 4];
    ok!(context.cu, cuMemcpyHtoDAsync_v2(x, numbers.as_ptr().cast(), 16, stream));
    numbers = [0; 4];
    assert_eq!(machine.get("pending"), 1);
    ok!(context.cu, cuMemcpyDtoHAsync_v2(numbers.as_mut_ptr().cast(), x, 16, stream));
    assert_eq!(numbers, [1, 2, 3, 4]);
    // Pinned memory is read and written when the work runs.
    let mut pinned = ptr::null_mut();
    ok!(context.cu, cuMemHostAlloc(&mut pinned, 16, 0));
    let pinned = pinned.cast::<i32>();
    let mut address = 0;
    ok!(context.cu, cuMemHostGetDevicePointer_v2(&mut address, pinned.cast(), 0));
    // SAFETY: the memory has four numbers and no work that uses it runs.
    let set = |number| unsafe { pinned.write(number) };
    // SAFETY: as above.
    let get = || unsafe { pinned.read() };
    set(5);
    ok!(context.cu, cuMemcpyHtoDAsync_v2(x, pinned.cast(), 4, stream));
    set(6);
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!(context.read(x, 2), [6, 2]);
    ok!(context.cu, cuMemsetD32Async(x, 9, 4, stream));
    ok!(context.cu, cuMemcpyDtoHAsync_v2(pinned.cast(), x, 16, stream));
    assert_eq!(get(), 6);
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!(get(), 9);
    ok!(context.cu, cuMemsetD8Async(address, 1, 1, stream));
    ok!(context.cu, cuMemFreeHost(pinned.cast()));
    assert_eq!([machine.get("host_allocations"), machine.get("pending")], [0, 0]);
    ok!(context.cu, cuMemFree_v2(x));
}

#[test]
fn events_tell_when_they_happened() {
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(KERNELS);
    let function = context.function(module, c"twice");
    let (start, end, x) = (context.event(), context.event(), context.upload(&[1; 64]));
    let mut milliseconds = 0.0;
    assert_eq!(code!(context.cu, cuEventQuery(start)), 0, "an event that was never recorded");
    assert_says(code!(context.cu, cuEventElapsedTime(&mut milliseconds, start, end)), 400, "no time");
    ok!(context.cu, cuEventRecord(start, LEGACY));
    twice(&context, function, x, LEGACY);
    ok!(context.cu, cuEventRecord(end, LEGACY));
    assert_says(code!(context.cu, cuEventElapsedTime(&mut milliseconds, start, end)), 600, "not happened");
    let polls = (0..).take_while(|_| code!(context.cu, cuEventQuery(end)) == 600).count();
    assert_eq!(polls, 3, "each question runs one piece of work");
    ok!(context.cu, cuEventElapsedTime(&mut milliseconds, start, end));
    assert!(milliseconds > 0.0 && milliseconds < 1000.0, "{milliseconds}");
    ok!(context.cu, cuEventSynchronize(end));
    ok!(context.cu, cuMemFree_v2(x));
}

#[test]
fn a_stream_holds_so_much_and_no_more() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (stream, x) = (context.stream(0), context.allocate(4));
    for number in 0..3000 {
        ok!(context.cu, cuMemsetD32Async(x, number, 1, stream));
    }
    assert_eq!(machine.get("pending"), 1024);
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!(context.read(x, 1), [2999]);
}

#[test]
fn handles_of_another_kind_or_context_are_rejected() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (event, stream) = (context.event(), context.stream(0));
    assert_says(code!(context.cu, cuStreamSynchronize(event)), 400, "is not a stream");
    ok!(context.cu, cuStreamDestroy_v2(stream));
    assert_says(code!(context.cu, cuStreamQuery(stream)), 400, "or is one no more");
    let module = context.module(KERNELS);
    let function = context.function(module, c"twice");
    let mut owner = ptr::null_mut();
    ok!(context.cu, cuStreamGetCtx(LEGACY, &mut owner));
    assert_eq!(owner, context.context);
    let other = machine.context(1);
    let foreign = other.stream(0);
    assert_says(code!(context.cu, cuEventRecord(event, foreign)), 400, "another context");
    let launched = context.launch(function, 1, foreign, &[Value::Pointer(0), Value::Number(0)]);
    assert_says(launched, 400, "another context");
    drop(other);
    assert_says(code!(context.cu, cuStreamQuery(foreign)), 400, "a stream");
}

#[test]
fn races_are_found_in_any_order_of_waiting() {
    let machine = Machine::new();
    machine.set("races", 1);
    for (ordered, writes) in [(true, true), (false, true), (false, false)] {
        let context = machine.context(0);
        let module = context.module(KERNELS);
        let (add, twice) = (context.function(module, c"add"), context.function(module, c"twice"));
        let (first, second, event) =
            (context.stream(NON_BLOCKING), context.stream(NON_BLOCKING), context.event());
        let (x, y, z) = (context.upload(&[1; 64]), context.allocate(256), context.allocate(256));
        let numbers = |out| [Value::Pointer(x), Value::Pointer(out), Value::Number(1), Value::Number(64)];
        let code = match writes {
            true => context.launch(twice, 2, first, &[Value::Pointer(x), Value::Number(64)]),
            false => context.launch(add, 2, first, &numbers(y)),
        };
        assert_eq!(code, 0);
        ok!(context.cu, cuEventRecord(event, first));
        if ordered {
            ok!(context.cu, cuStreamWaitEvent(second, event, 0));
        }
        assert_eq!(context.launch(add, 2, second, &numbers(z)), 0);
        // The first stream is waited for first, so the numbers are right even without the event.
        ok!(context.cu, cuStreamSynchronize(first));
        let waited = code!(context.cu, cuStreamSynchronize(second));
        match ordered || !writes {
            true => assert_eq!(waited, 0, "two kernels may read at once"),
            false => assert_says(waited, 700, "is used on another stream too"),
        }
    }
}
