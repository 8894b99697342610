//! Shared memory: its size, and its initial contents.

use ferrofuse_emulator::{Arg, Launch};

use crate::{assert_says, buffer_f32, compile, one_block, read_f32, run, text_of};

#[test]
fn too_much_shared_memory_is_an_error() {
    let source = "extern \"C\" __global__ void shared() { extern __shared__ double smem[];
        __shared__ volatile float fixed[1024]; fixed[threadIdx.x] = 0.f; smem[threadIdx.x] = 1.0; }";
    let module = compile(source, "shared");
    let with = |dynamic_shared_bytes| run(&module, &Launch { dynamic_shared_bytes, ..one_block(32) }, &[]);
    assert_eq!(with(256).expect("enough").static_shared_bytes, 4096);
    assert_says(&text_of(with(1 << 20)), &["1048576 bytes", "at most 232448"]);
    assert_says(&text_of(with(230_000)), &["static and dynamic", "234096"]);
    assert_says(&text_of(with(248)), &["wrote to byte 248", "which has 248"]);
    let large = "extern \"C\" __global__ void large() { __shared__ volatile char fixed[50000]; fixed[threadIdx.x] = 1; }";
    assert_says(
        &text_of(run(&compile(large, "large"), &one_block(32), &[])),
        &["static shared", "at most 49152"],
    );
}

#[test]
fn shared_memory_starts_poisoned_in_every_block() {
    let source = "extern \"C\" __global__ void stale(float* out) { __shared__ float once;
        if (isnan(once)) once = 1.f; else once = 2.f;
        out[blockIdx.x] = once; }";
    let mut out = buffer_f32(&[0.0; 3]);
    let launch = Launch { grid: [3, 1, 1], ..one_block(1) };
    run(&compile(source, "stale"), &launch, &[Arg::Pointer(out.as_mut_ptr())]).expect("a launch");
    assert_eq!(read_f32(&out), [1.0; 3]);
}
