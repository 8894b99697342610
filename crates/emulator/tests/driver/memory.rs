//! Memory: its amount, its lifetime, and errors of uses outside of that.

use std::ptr;

use crate::KERNELS;
use crate::functions::{Address, Handle};
use crate::machine::{Context, LEGACY, Machine, Value, assert_says, code, ok};

const ILLEGAL_ADDRESS: i32 = 700;

/// Launches `twice` on 32 numbers at an address.
fn twice(context: &Context, address: Address, stream: Handle) -> i32 {
    let module = context.module(KERNELS);
    let function = context.function(module, c"twice");
    let code = context.launch(function, 1, stream, &[Value::Pointer(address), Value::Number(32)]);
    ok!(context.cu, cuModuleUnload(module));
    code
}

/// Asserts that waiting for the stream breaks the context, until the context is released.
#[track_caller]
fn assert_broken(context: &Context, stream: Handle, part: &str) {
    assert_says(code!(context.cu, cuStreamSynchronize(stream)), ILLEGAL_ADDRESS, part);
    let mut address = 0;
    assert_says(code!(context.cu, cuMemAlloc_v2(&mut address, 4)), ILLEGAL_ADDRESS, part);
    assert_says(code!(context.cu, cuCtxSynchronize()), ILLEGAL_ADDRESS, part);
}

#[test]
fn uses_of_memory_that_is_not_there_break_the_context() {
    let machine = Machine::new();
    type Misuse = fn(&Context, Handle, Handle) -> &'static str;
    let misuses: [Misuse; 8] = [
        // Freed earlier in the same stream.
        |context, stream, _| {
            let x = context.allocate_on(128, stream);
            ok!(context.cu, cuMemFreeAsync(x, stream));
            assert_eq!(twice(context, x, stream), 0);
            "cuMemFreeAsync has freed"
        },
        // Freed at once.
        |context, stream, _| {
            let x = context.allocate(128);
            ok!(context.cu, cuMemFree_v2(x));
            ok!(context.cu, cuMemsetD8Async(x, 0, 1, stream));
            "in no memory"
        },
        // Freed earlier in another stream.
        |context, stream, other| {
            let x = context.allocate_on(128, stream);
            ok!(context.cu, cuStreamSynchronize(stream));
            ok!(context.cu, cuMemFreeAsync(x, other));
            assert_eq!(twice(context, x, stream), 0);
            "cuMemFreeAsync has freed"
        },
        // Freed in another stream, which does not wait for the use.
        |context, stream, other| {
            let x = context.allocate_on(128, stream);
            assert_eq!(twice(context, x, stream), 0);
            ok!(context.cu, cuMemFreeAsync(x, other));
            "freed on another stream"
        },
        // Allocated in another stream, for which this use does not wait.
        |context, stream, other| {
            let x = context.allocate_on(128, other);
            assert_eq!(twice(context, x, stream), 0);
            "another stream allocates"
        },
        // Too few bytes.
        |context, stream, _| {
            let x = context.allocate(128);
            ok!(context.cu, cuMemsetD8Async(x, 0, 129, stream));
            "are more than the 128 bytes"
        },
        // A kernel that accesses memory outside its own, by a little or by a page.
        |context, stream, _| {
            let x = context.allocate(128);
            assert_eq!(twice(context, x + 4, stream), 0);
            "wrote behind the 128 bytes"
        },
        |context, stream, _| {
            let x = context.allocate(4096);
            assert_eq!(twice(context, x + 4096, stream), 0);
            "bad memory access"
        },
    ];
    for misuse in misuses {
        let context = machine.context(0);
        let (stream, other) = (context.stream(1), context.stream(1));
        let part = misuse(&context, stream, other);
        assert_broken(&context, stream, part);
        drop(context);
        // The next context works, and everything of the broken one is gone.
        assert_eq!(["allocations", "streams", "modules", "pending"].map(|what| machine.get(what)), [0; 4]);
        let context = machine.context(0);
        let x = context.upload(&[3; 32]);
        assert_eq!(twice(&context, x, LEGACY), 0);
        assert_eq!(context.read(x, 1), [6]);
    }
}

#[test]
fn streams_may_share_memory_behind_events() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (stream, other) = (context.stream(1), context.stream(1));
    let (allocated, used) = (context.event(), context.event());
    let x = context.allocate_on(128, stream);
    ok!(context.cu, cuMemsetD32Async(x, 4, 32, stream));
    ok!(context.cu, cuEventRecord(allocated, stream));
    ok!(context.cu, cuStreamWaitEvent(other, allocated, 0));
    assert_eq!(twice(&context, x, other), 0);
    ok!(context.cu, cuEventRecord(used, other));
    ok!(context.cu, cuStreamWaitEvent(stream, used, 0));
    let mut numbers = [0; 32];
    ok!(context.cu, cuMemcpyDtoHAsync_v2(numbers.as_mut_ptr().cast(), x, 128, stream));
    ok!(context.cu, cuMemFreeAsync(x, stream));
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!((numbers, machine.get("allocations")), ([8; 32], 0));
}

#[test]
fn a_kernel_uses_memory_of_its_device_and_of_the_host() {
    let machine = Machine::new();
    let (first, second) = (machine.context(0), machine.context(1));
    let mut pinned = ptr::null_mut();
    ok!(second.cu, cuMemHostAlloc(&mut pinned, 128, 1));
    // SAFETY: the memory has 32 numbers, which no work uses.
    unsafe { pinned.cast::<i32>().write(8) };
    assert_eq!(twice(&second, pinned as Address, LEGACY), 0);
    ok!(second.cu, cuCtxSynchronize());
    // SAFETY: as above.
    assert_eq!(unsafe { pinned.cast::<i32>().read() }, 16);
    ok!(second.cu, cuCtxPushCurrent_v2(first.context));
    let x = first.upload(&[1; 32]);
    let mut popped = ptr::null_mut();
    ok!(second.cu, cuCtxPopCurrent_v2(&mut popped));
    let (mut device, mut kind) = (7, 7_u32);
    ok!(second.cu, cuPointerGetAttribute((&raw mut device).cast(), 9, x + 4));
    ok!(second.cu, cuPointerGetAttribute((&raw mut kind).cast(), 2, x));
    assert_eq!((device, kind), (0, 2));
    let y = second.allocate(128);
    ok!(second.cu, cuMemcpyDtoDAsync_v2(y, x, 128, LEGACY));
    assert_eq!(second.read(y, 1), [1], "copies go from device to device");
    assert_eq!(twice(&second, x, LEGACY), 0);
    assert_broken(&second, LEGACY, "memory of device 0, and the kernel runs on device 1");
}

#[test]
fn memory_runs_out_and_is_there_again() {
    let machine = Machine::new();
    machine.set("memory", 1 << 20);
    let context = machine.context(0);
    let stream = context.stream(0);
    let allocate = |bytes| {
        let mut address = 0;
        (code!(context.cu, cuMemAllocAsync(&mut address, bytes, stream)), address)
    };
    let free = || {
        let (mut free, mut total) = (0, 0);
        ok!(context.cu, cuMemGetInfo_v2(&mut free, &mut total));
        assert_eq!(total, 1 << 20);
        free
    };
    let x = context.allocate_on(600 << 10, stream);
    assert_says(allocate(600 << 10).0, 2, "614400 bytes asked of device 0, 434176 are free");
    // Memory that the stream has freed is available to its next allocation, though nothing has run.
    ok!(context.cu, cuMemFreeAsync(x, stream));
    let (code, y) = allocate(600 << 10);
    assert_eq!(code, 0);
    let (mut pool, mut threshold, mut used) = (ptr::null_mut(), u64::MAX, 0_u64);
    ok!(context.cu, cuDeviceGetDefaultMemPool(&mut pool, 0));
    ok!(context.cu, cuMemPoolSetAttribute(pool, 4, (&raw mut threshold).cast()));
    ok!(context.cu, cuMemFreeAsync(y, stream));
    ok!(context.cu, cuStreamSynchronize(stream));
    ok!(context.cu, cuMemPoolGetAttribute(pool, 7, (&raw mut used).cast()));
    assert_eq!((used, free()), (0, 424 << 10), "the pool holds what was freed");
    assert_eq!(allocate(700 << 10).0, 2, "no block that it holds is so large");
    ok!(context.cu, cuMemPoolTrimTo(pool, 0));
    let (code, z) = allocate(700 << 10);
    assert_eq!((code, free()), (0, 324 << 10));
    ok!(context.cu, cuMemFree_v2(z));
    threshold = 0;
    ok!(context.cu, cuMemPoolSetAttribute(pool, 4, (&raw mut threshold).cast()));
    ok!(context.cu, cuStreamSynchronize(stream));
    assert_eq!((free(), machine.get("bytes")), (1 << 20, 0));
}

#[test]
fn wrong_arguments_are_rejected_at_once() {
    let machine = Machine::new();
    let context = machine.context(0);
    let (mut address, x) = (0, context.allocate(16));
    assert_says(code!(context.cu, cuMemAlloc_v2(&mut address, 0)), 1, "no bytes");
    assert_says(code!(context.cu, cuMemAlloc_v2(ptr::null_mut(), 16)), 1, "null");
    assert_says(code!(context.cu, cuMemFree_v2(x + 4)), 1, "no memory that is there begins");
    assert_says(code!(context.cu, cuMemsetD32Async(x + 2, 0, 1, LEGACY)), 1, "words");
    assert_says(code!(context.cu, cuMemcpyHtoD_v2(0, [1].as_ptr().cast(), 4)), 1, "null");
    let function = context.function(context.module(KERNELS), c"twice");
    assert_says(context.launch(function, 0, LEGACY, &[Value::Pointer(x), Value::Number(4)]), 1, "grid");
    assert_eq!(machine.get("allocations"), 1, "nothing is allocated for a result that has no place");
    let mut popped = ptr::null_mut();
    ok!(context.cu, cuCtxPopCurrent_v2(&mut popped));
    assert_says(code!(context.cu, cuMemAlloc_v2(&mut address, 4)), 201, "no context is current");
    ok!(context.cu, cuCtxPushCurrent_v2(popped));
    ok!(context.cu, cuCtxSynchronize());
}

#[test]
fn tests_may_have_anything_fail() {
    let machine = Machine::new();
    let context = machine.context(0);
    machine.set("fail_alloc_after", 1);
    let x = context.allocate(128);
    let mut address = 0;
    assert_eq!(code!(context.cu, cuMemAlloc_v2(&mut address, 128)), 2);
    machine.set("fail_launch_after", 0);
    assert_says(twice(&context, x, LEGACY), 701, "wants");
    assert_eq!(twice(&context, x, LEGACY), 0);
    ok!(context.cu, cuCtxSynchronize());
    machine.set("fault_launch_after", 0);
    assert_eq!(twice(&context, x, LEGACY), 0);
    assert_says(code!(context.cu, cuCtxSynchronize()), 719, "to fault");
    drop(context);
    let context = machine.context(0);
    machine.set("lose_device", 0);
    assert_says(code!(context.cu, cuCtxSynchronize()), 999, "device 0 is lost");
    drop(context);
    assert_says(code!(machine.cu, cuDevicePrimaryCtxRetain(&mut ptr::null_mut(), 0)), 999, "lost");
    machine.context(1).allocate(4);
}
