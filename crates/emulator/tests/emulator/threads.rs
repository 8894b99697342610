//! The threads of a block: the order in which they run, what they wait for, and how they communicate.

use ferrofuse_emulator::{Arg, GuardedBuffer, Launch, Order};

use crate::{assert_says, compile, one_block, read_i32, run, text_of};

#[test]
fn orders_reach_the_threads_as_named() {
    let source = "extern \"C\" __global__ void order(int* next, int* out) {
        out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(next, 1); }";
    let module = compile(source, "order");
    let arrival = |order| {
        let mut next = GuardedBuffer::new(&[0; 4]).expect("memory");
        let mut out = GuardedBuffer::new(&[0; 4 * 300]).expect("memory");
        let launch = Launch { grid: [3, 1, 1], order, ..one_block(100) };
        run(&module, &launch, &[Arg::Pointer(next.as_mut_ptr()), Arg::Pointer(out.as_mut_ptr())])
            .expect("a launch");
        read_i32(&out)
    };
    let forward: Vec<i32> = (0..300).collect();
    assert_eq!(arrival(Order::Forward), forward);
    assert_eq!(arrival(Order::Reverse), forward.iter().rev().copied().collect::<Vec<_>>());
    let random = arrival(Order::Random(5));
    assert_eq!(random, arrival(Order::Random(5)), "a seed fixes the order");
    assert_ne!(random, arrival(Order::Random(6)));
    let mut sorted = random.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, forward, "every thread runs once");
}

#[test]
fn a_divergent_barrier_is_an_error_with_both_lines() {
    let source = "extern \"C\" __global__ void divergent() {
        if (threadIdx.x < 16)
          __syncthreads();
        else
          __syncthreads(); }";
    let text = text_of(run(&compile(source, "divergent"), &one_block(32), &[]));
    assert_says(&text, &["divergent barrier in block (0,0,0)", "line 3", "line 5"]);
}

#[test]
fn a_barrier_that_some_threads_miss_is_a_deadlock_not_a_hang() {
    let source = "extern \"C\" __global__ void missed() {
        if (threadIdx.x >= 16) return;
        __syncthreads(); }";
    let module = compile(source, "missed");
    for order in Order::ALL {
        let text = text_of(run(&module, &Launch { order, ..one_block(32) }, &[]));
        assert_says(
            &text,
            &["deadlock", "threads 0..15 wait at __syncthreads in line 3", "threads 16..31 have exited"],
        );
    }
}

#[test]
fn warp_operations_check_their_lanes() {
    let error = |body: &str, threads| {
        let source = format!("extern \"C\" __global__ void lanes(int* out) {{\n{body} }}");
        let mut out = GuardedBuffer::new(&[0; 4 * 32]).expect("memory");
        text_of(run(&compile(&source, "lanes"), &one_block(threads), &[Arg::Pointer(out.as_mut_ptr())]))
    };
    let absent = error("out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);", 16);
    assert_says(&absent, &["line 2", "0xffffffff", "warp of 16 threads lacks"]);
    let caller = error("__syncwarp(0x0000ffffu);", 32);
    assert_says(&caller, &["line 2", "lane 16", "__syncwarp", "does not name it"]);
    let source = error("if (threadIdx.x < 16) out[0] = __shfl_sync(0xffffu, 1, 20);", 32);
    assert_says(&source, &["shuffles from lane 20"]);
    let kinds = error("if (threadIdx.x) __syncwarp(); else\n__any_sync(0xffffffffu, 1);", 32);
    assert_says(&kinds, &["lanes disagree", "line 3", "line 2"]);
    let exited = error("if (threadIdx.x) __syncwarp();", 32);
    assert_says(&exited, &["deadlock", "threads 1..31 wait at __syncwarp in line 2"]);
}

#[test]
fn shuffles_and_votes_follow_their_definition() {
    let source = "extern \"C\" __global__ void lanes(int* out) {
        int lane = threadIdx.x, *row = out + lane * 9;
        unsigned all = 0xffffffffu;
        row[0] = __shfl_sync(all, lane, 3);
        row[1] = __shfl_sync(all, lane, 3, 8);
        row[2] = __shfl_xor_sync(all, lane, 5);
        row[3] = __shfl_down_sync(all, lane, 4);
        row[4] = __shfl_up_sync(all, lane, 4, 16);
        row[5] = (int)__ballot_sync(all, lane % 3 == 0);
        row[6] = __all_sync(all, lane < 31);
        row[7] = __any_sync(all, lane == 31);
        row[8] = __syncthreads_count(lane < 7); }";
    let module = compile(source, "lanes");
    for order in Order::ALL {
        let mut out = GuardedBuffer::new(&[0; 4 * 9 * 32]).expect("memory");
        run(&module, &Launch { order, ..one_block(32) }, &[Arg::Pointer(out.as_mut_ptr())])
            .expect("a launch");
        let got = read_i32(&out);
        for lane in 0..32 {
            let down = if lane + 4 < 32 { lane + 4 } else { lane };
            let up = if lane % 16 >= 4 { lane - 4 } else { lane };
            let want = [3, lane / 8 * 8 + 3, lane ^ 5, down, up, 0x4924_9249, 0, 1, 7];
            assert_eq!(got[lane as usize * 9..][..9], want, "lane {lane}, {order:?}");
        }
    }
}

#[test]
fn a_thread_may_spin_on_another_of_its_block() {
    let source = "extern \"C\" __global__ void spin(int* out) {
        __shared__ volatile int next;
        if (threadIdx.x == 0) next = 0;
        __syncthreads();
        while (next != (int)threadIdx.x) __nanosleep(20);
        out[next] = next + 1;
        next = next + 1; }";
    let module = compile(source, "spin");
    for order in Order::ALL {
        let mut out = GuardedBuffer::new(&[0; 4 * 70]).expect("memory");
        let launch = Launch { order, ..one_block(70) };
        let stats =
            run(&module, &launch, &[Arg::Pointer(out.as_mut_ptr())]).unwrap_or_else(|e| panic!("{e}"));
        assert!(order != Order::Reverse || stats.yields > 0);
        assert_eq!(read_i32(&out), (1..=70).collect::<Vec<i32>>());
    }
}

/// Ranges of memory that this process has.
fn ranges() -> usize {
    std::fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().count())
}

#[test]
fn a_loaded_kernel_guards_no_more_stacks_than_it_has_threads() {
    let module = compile("extern \"C\" __global__ void idle() {}", "idle");
    let before = ranges();
    run(&module, &one_block(4), &[]).unwrap_or_else(|error| panic!("{error}"));
    // Other tests of this process map memory at the same time, but nowhere near two ranges for each of 1024 threads.
    assert!(ranges() < before + 1000, "{} ranges, {before} before", ranges());
}
