//! The CUDA emulator on kernels written by hand: right in every order, and each misuse is reported.

use ferrofuse_testing::emulator::{
    Arg, Emulator, EmulatorOptions, Error, GuardedBuffer, Launch, Module, Order, Stats,
};
use half::{bf16, f16};

const SILU_MUL: &str = include_str!("kernels/silu_mul.cu");
const SOFTMAX: &str = include_str!("kernels/softmax.cu");
const COLUMN_SUM: &str = include_str!("kernels/column_sum.cu");

fn compile(source: &str, kernel: &str) -> Module {
    compile_with(source, kernel, false).unwrap_or_else(|error| panic!("{error}"))
}

fn compile_with(source: &str, kernel: &str, sanitize: bool) -> Result<Module, Error> {
    let options = EmulatorOptions { sanitize, ..EmulatorOptions::default() };
    Emulator::new(options)?.compile(source, kernel)
}

/// One block of `threads` threads along x.
fn one_block(threads: u32) -> Launch {
    Launch { grid: [1, 1, 1], block: [threads, 1, 1], dynamic_shared_bytes: 0, order: Order::Forward }
}

fn run(module: &Module, launch: &Launch, args: &[Arg]) -> Result<Stats, Error> {
    // SAFETY: every pointer of this file comes from a guarded buffer that the test holds until it has read it.
    unsafe { module.launch(launch, args) }
}

fn text_of(result: Result<Stats, Error>) -> String {
    match result {
        Ok(stats) => panic!("the launch should have failed, but: {stats:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing from: {text}");
    }
}

fn buffer_f32(values: &[f32]) -> GuardedBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    GuardedBuffer::new(&bytes).expect("memory for a test buffer")
}

fn buffer_u16(values: &[u16]) -> GuardedBuffer {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    GuardedBuffer::new(&bytes).expect("memory for a test buffer")
}

fn read_f32(buffer: &GuardedBuffer) -> Vec<f32> {
    buffer.bytes().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn read_i32(buffer: &GuardedBuffer) -> Vec<i32> {
    buffer.bytes().as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
}

fn read_u16(buffer: &GuardedBuffer) -> Vec<u16> {
    buffer.bytes().as_chunks::<2>().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect()
}

/// Values in -4..4 that look random and are the same in every run.
fn values(count: usize) -> Vec<f32> {
    let scatter = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    (0..count).map(|i| scatter(i) as f32 / (1 << 21) as f32 - 4.0).collect()
}

#[test]
fn pointwise_is_right_in_every_order() {
    let module = compile(SILU_MUL, "silu_mul");
    for count in [1, 3, 1023, 4096] {
        let x: Vec<bf16> = values(count).into_iter().map(bf16::from_f32).collect();
        let y: Vec<bf16> = values(2 * count)[count..].iter().map(|&value| bf16::from_f32(value)).collect();
        let bits = |values: &[bf16]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        let (mut x_in, mut y_in) = (buffer_u16(&bits(&x)), buffer_u16(&bits(&y)));
        for order in Order::ALL {
            let mut out = buffer_u16(&vec![0xdead; count]);
            let launch = Launch { grid: [3, 1, 1], order, ..one_block(128) };
            let args = [&mut x_in, &mut y_in, &mut out].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
            let args = [args[0], args[1], args[2], Arg::I64(count as i64)];
            run(&module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
            for (i, bits) in read_u16(&out).into_iter().enumerate() {
                let wide = x[i].to_f64();
                let silu = bf16::from_f64(wide / (1.0 + (-wide).exp())).to_f64();
                let (got, want) = (bf16::from_bits(bits).to_f64(), silu * y[i].to_f64());
                // Two roundings to bf16, the first perhaps to the other neighbour.
                assert!((got - want).abs() <= want.abs() / 64.0, "{order:?}, element {i}: {got}, not {want}");
            }
        }
    }
}

/// Softmax of 5 rows of `columns`, on 2 blocks of 128 threads.
fn softmax(module: &Module, columns: usize, order: Order) -> Vec<f32> {
    let rows = 5;
    let mut x = buffer_f32(&values(rows * columns));
    let mut out = buffer_f32(&vec![-1.0; rows * columns]);
    let launch = Launch { grid: [2, 1, 1], dynamic_shared_bytes: 4 * columns, order, ..one_block(128) };
    let args = [
        Arg::Pointer(x.as_mut_ptr()),
        Arg::Pointer(out.as_mut_ptr()),
        Arg::I32(rows as i32),
        Arg::I32(columns as i32),
    ];
    let stats = run(module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
    assert_eq!(stats.static_shared_bytes, 128);
    read_f32(&out)
}

fn softmax_by_definition(columns: usize) -> Vec<f64> {
    let x = values(5 * columns);
    let row = |row: &[f32]| {
        let weights: Vec<f64> = row.iter().map(|&value| f64::from(value).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(move |weight| weight / total).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(row).collect()
}

fn close(got: &[f32], want: &[f64]) -> bool {
    got.len() == want.len()
        && got.iter().zip(want).all(|(&got, want)| (f64::from(got) - want).abs() <= 1e-5 * want)
}

#[test]
fn row_fold_is_right_in_every_order() {
    let module = compile(SOFTMAX, "softmax");
    for columns in [1, 17, 1023] {
        let want = softmax_by_definition(columns);
        for order in Order::ALL {
            assert!(close(&softmax(&module, columns, order), &want), "{columns} columns, {order:?}");
        }
    }
}

#[test]
fn a_removed_barrier_shows_in_some_order() {
    let barrier = "  __syncthreads();";
    for kept in ["// before", "// after"] {
        let removed: String = SOFTMAX
            .lines()
            .filter(|line| !line.starts_with(barrier) || line.contains(kept))
            .map(|l| format!("{l}\n"))
            .collect();
        assert_ne!(removed.lines().count(), SOFTMAX.lines().count());
        let module = compile(&removed, "softmax");
        let results: Vec<Vec<u32>> = Order::ALL
            .iter()
            .map(|&order| softmax(&module, 1023, order).into_iter().map(f32::to_bits).collect())
            .collect();
        assert!(results.iter().any(|result| *result != results[0]), "only {kept} kept: all orders agree");
    }
}

#[test]
fn column_sum_is_right_in_every_order() {
    let module = compile(COLUMN_SUM, "column_sum");
    let (rows, columns, chunk) = (77, 45, 20);
    let x = values(rows * columns);
    let mut x_in = buffer_f32(&x);
    for order in Order::ALL {
        let mut out = buffer_f32(&vec![0.0; columns]);
        let launch = Launch { grid: [2, 4, 1], block: [32, 8, 1], dynamic_shared_bytes: 0, order };
        let mut args = vec![Arg::Pointer(x_in.as_mut_ptr()), Arg::Pointer(out.as_mut_ptr())];
        args.extend([rows, columns, chunk].map(|size| Arg::I32(size as i32)));
        run(&module, &launch, &args).unwrap_or_else(|error| panic!("{order:?}: {error}"));
        for (column, got) in read_f32(&out).into_iter().enumerate() {
            let want: f64 = (0..rows).map(|row| f64::from(x[row * columns + column])).sum();
            assert!((f64::from(got) - want).abs() < 1e-4, "{order:?}, column {column}: {got}, not {want}");
        }
    }
}

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

#[test]
fn faults_end_the_launch_and_not_the_process() {
    let source = "__device__ __noinline__ void overflow() { volatile char large[200000]; large[0] = 1; }
        extern \"C\" __global__ void fault(int* out, int n, int what) {
        __syncthreads();
        if (what == 0) out[threadIdx.x + n] = 1;
        if (what == 1) out[0] = n / what - n / (what - 1);
        if (what == 2) overflow();
        if (what == 3) for (;;) __nanosleep(20);
        if (what == 4) __trap();
        out[threadIdx.x] = 7; }";
    let module = compile(source, "fault");
    let mut out = GuardedBuffer::new(&[0; 16]).expect("memory");
    let mut with = |what| {
        let args = [Arg::Pointer(out.as_mut_ptr()), Arg::I32(4), Arg::I32(what)];
        run(&module, &one_block(4), &args)
    };
    assert_says(&text_of(with(0)), &["bad memory access", "thread (0,0,0) of block (0,0,0), after line 3"]);
    assert_says(&text_of(with(1)), &["division by zero"]);
    assert_says(&text_of(with(2)), &["stack overflow"]);
    assert_says(&text_of(with(3)), &["spin for ever", "line 7"]);
    assert_says(&text_of(with(4)), &["__trap", "line 8"]);
    with(5).expect("the module still works after its errors");
    assert_eq!(out.bytes(), [7, 0, 0, 0].repeat(4));
}

#[test]
fn a_thread_may_spin_on_another_of_its_block() {
    let source = "extern \"C\" __global__ void spin(int* out) {
        __shared__ volatile int turn;
        if (threadIdx.x == 0) turn = 0;
        __syncthreads();
        while (turn != (int)threadIdx.x) __nanosleep(20);
        out[turn] = turn + 1;
        turn = turn + 1; }";
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

#[test]
fn the_sanitizer_names_the_line() {
    let source = "extern \"C\" __global__ void undefined(float* x, int n) {
        __shared__ float slots[32];
        if (n == 1) slots[threadIdx.x + n] = 1.f;
        if (n == 2) reinterpret_cast<float4*>(x + 1)->x = 1.f;
        if (n == 3) x[0] = (float)(1 << (n + 30));
        if (n == 4) x[0] = (float)(n + 0x7fffffff);
        if (n == 5) x[0] = (float)(int)(n * 1e20f); }";
    let module = compile_with(source, "undefined", true).unwrap_or_else(|error| panic!("{error}"));
    let mut x = buffer_f32(&[0.0; 8]);
    let mut with = |n| run(&module, &one_block(32), &[Arg::Pointer(x.as_mut_ptr()), Arg::I32(n)]);
    with(0).expect("nothing undefined");
    assert_says(&text_of(with(1)), &["index out of bounds in line 3"]);
    assert_says(&text_of(with(2)), &["misaligned access in line 4"]);
    assert_says(&text_of(with(3)), &["shift out of range in line 5"]);
    assert_says(&text_of(with(4)), &["addition overflows in line 6"]);
    assert_says(&text_of(with(5)), &["float out of the integer's range", "line 7"]);
}

#[test]
fn bad_launches_are_refused() {
    let source =
        "extern \"C\" __global__ void simple(const float* x, int n, long long m, double d, float f) {}";
    let module = compile(source, "simple");
    let mut x = buffer_f32(&[0.0]);
    let args = [Arg::Pointer(x.as_mut_ptr()), Arg::I32(1), Arg::I64(2), Arg::F64(3.0), Arg::F32(4.0)];
    run(&module, &one_block(1), &args).expect("a launch");
    assert_says(
        &text_of(run(&module, &one_block(1), &args[..2])),
        &["takes (pointer, 32-bit integer, 64-bit integer, double, float)", "are (pointer, 32-bit integer)"],
    );
    assert_says(&text_of(run(&module, &one_block(1025), &args)), &["block [1025, 1, 1]"]);
    assert_says(
        &text_of(run(&module, &Launch { block: [32, 33, 1], ..one_block(1) }, &args)),
        &["1056 threads"],
    );
    assert_says(
        &text_of(run(&module, &Launch { grid: [0, 1, 1], ..one_block(1) }, &args)),
        &["grid [0, 1, 1]"],
    );
    assert_says(&text_of(run(&module, &Launch { grid: [1, 65536, 1], ..one_block(1) }, &args)), &["grid"]);
}

#[test]
fn the_compilers_words_are_returned() {
    let error = |source, kernel| match compile_with(source, kernel, false) {
        Ok(_) => panic!("this should not compile"),
        Err(error) => error.to_string(),
    };
    let text = error("\n__global__ void wrong() { undeclared = 1; }", "wrong");
    assert_says(&text, &["kernel `wrong`", "wrong.cu:2", "undeclared"]);
    assert_says(&error("", "absent"), &["absent"]);
    assert_says(&error("", "a-b"), &["not a C++ identifier"]);
    let options = EmulatorOptions { cxx: "no-such-compiler".into(), sanitize: false };
    let missing = Emulator::new(options).expect("headers").compile("", "k").expect_err("no compiler");
    assert_says(&missing.to_string(), &["no-such-compiler", "apt-get install g++"]);
}

#[test]
fn half_types_convert_as_in_rust() {
    let source = "extern \"C\" __global__ void convert(const float* x, unsigned short* out, float* back, int n) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
          out[2 * i] = cuemu::float_to_half(x[i]);
          out[2 * i + 1] = cuemu::float_to_bfloat16(x[i]);
        }
        for (int i = threadIdx.x; i < 65536; i += blockDim.x) back[i] = cuemu::half_to_float((unsigned short)i); }";
    let module = compile(source, "convert");
    // Every half value, and around each the neighbours and midpoints where rounding turns.
    let around = |bits: u16| {
        let (value, next) = (f16::from_bits(bits).to_f32(), f16::from_bits(bits.wrapping_add(1)).to_f32());
        let middle = (value + next) / 2.0;
        [value, middle, middle.next_up(), middle.next_down(), f32::from_bits(u32::from(bits) << 16 | 0x8000)]
    };
    let x: Vec<f32> = (0..=u16::MAX).flat_map(around).filter(|value| !value.is_nan()).collect();
    let (mut x_in, mut out) = (buffer_f32(&x), buffer_u16(&vec![0; 2 * x.len()]));
    let mut back = buffer_f32(&vec![0.0; 65536]);
    let pointers = [&mut x_in, &mut out, &mut back].map(|buffer| Arg::Pointer(buffer.as_mut_ptr()));
    let args = [pointers[0], pointers[1], pointers[2], Arg::I32(x.len() as i32)];
    run(&module, &one_block(64), &args).expect("a launch");
    for (value, bits) in x.iter().zip(read_u16(&out).as_chunks::<2>().0) {
        assert_eq!(bits[0], f16::from_f32(*value).to_bits(), "f16 of {value:e}");
        assert_eq!(bits[1], bf16::from_f32(*value).to_bits(), "bf16 of {value:e}");
    }
    for (bits, value) in (0..=u16::MAX).zip(read_f32(&back)) {
        let want = f16::from_bits(bits).to_f32();
        assert!(
            value == want && value.is_sign_negative() == want.is_sign_negative()
                || value.is_nan() && want.is_nan()
        );
    }
}

#[test]
fn threads_may_launch_at_once() {
    let module = compile(SOFTMAX, "softmax");
    let want = softmax_by_definition(100);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (module, want) = (&module, &want);
            scope.spawn(move || assert!(close(&softmax(module, 100, Order::Random(seed)), want)));
        }
    });
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
