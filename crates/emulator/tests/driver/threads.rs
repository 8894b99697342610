//! Many threads at a time, on two devices.

use std::ptr;
use std::thread;

use crate::KERNELS;
use crate::machine::{Context, Machine, Value, ok};

/// Adds 1 to 64 numbers repeatedly, in a separate stream, with memory of the pool.
fn work(number: usize, rounds: i64) {
    let context = Context::new((number % 2) as i32);
    let function = context.function(context.module(KERNELS), c"add");
    let stream = context.stream((number / 2 % 2) as u32);
    let mut numbers = vec![number as i32; 64];
    for round in 0..rounds {
        let (x, y) = (context.allocate_on(256, stream), context.allocate_on(256, stream));
        ok!(context.cu, cuMemcpyHtoDAsync_v2(x, numbers.as_ptr().cast(), 256, stream));
        let values = [Value::Pointer(x), Value::Pointer(y), Value::Number(round), Value::Number(64)];
        assert_eq!(context.launch(function, 2, stream, &values), 0);
        ok!(context.cu, cuMemFreeAsync(x, stream));
        ok!(context.cu, cuMemcpyDtoHAsync_v2(numbers.as_mut_ptr().cast(), y, 256, stream));
        ok!(context.cu, cuMemFreeAsync(y, stream));
    }
    ok!(context.cu, cuStreamSynchronize(stream));
    let sum: i64 = (0..rounds).sum();
    assert_eq!(numbers, vec![number as i32 + sum as i32; 64]);
    ok!(context.cu, cuStreamDestroy_v2(stream));
}

#[test]
fn eight_threads_use_two_devices() {
    let machine = Machine::new();
    // The contexts outlive the threads.
    let (first, second) = (machine.context(0), machine.context(1));
    thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || work(number, 50));
        }
    });
    for what in ["allocations", "bytes", "streams", "pending"] {
        assert_eq!(machine.get(what), 0, "{what}");
    }
    drop((second, first));
    assert_eq!(["modules", "contexts"].map(|what| machine.get(what)), [0, 0]);
}

#[test]
fn each_thread_has_a_default_stream() {
    let machine = Machine::new();
    let context = machine.context(0);
    // `CU_STREAM_PER_THREAD`.
    let per_thread = || ptr::without_provenance_mut(2);
    let x = context.allocate(4);
    ok!(context.cu, cuMemsetD32Async(x, 1, 1, per_thread()));
    thread::scope(|scope| {
        scope.spawn(|| {
            let context = Context::new(0);
            ok!(context.cu, cuStreamSynchronize(per_thread()));
        });
    });
    assert_eq!(machine.get("pending"), 1, "the other thread has waited for its own");
    ok!(context.cu, cuStreamSynchronize(per_thread()));
    assert_eq!([machine.get("pending"), machine.get("streams")], [0, 0]);
    assert_eq!(context.read(x, 1), [1]);
}
