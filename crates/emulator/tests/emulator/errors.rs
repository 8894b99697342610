//! Errors of kernels, launches that do not fit their kernel, and texts that the compiler rejects.

use ferrofuse_emulator::{Arg, Emulator, EmulatorOptions, GuardedBuffer, Launch};

use crate::{assert_says, buffer_f32, compile, compile_with, one_block, run, text_of};

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
fn bad_launches_are_rejected() {
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
    assert_says(&text, &["rejected `wrong`", "wrong.cu:2", "undeclared"]);
    assert_says(&error("", "absent"), &["no kernel `absent`"]);
    let options = EmulatorOptions { cxx: "no-such-compiler".into(), sanitize: false };
    let missing = Emulator::new(options).expect("headers").compile("", "k").expect_err("no compiler");
    assert_says(&missing.to_string(), &["no-such-compiler", "apt-get install g++"]);
}
