//! From CUDA C++ to results.

use std::ffi::CStr;
use std::ptr;

use crate::KERNELS;
use crate::machine::{LEGACY, Machine, Value, assert_says, code, compile, cubin, ok};

#[test]
fn a_text_becomes_two_kernels_that_run() {
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(KERNELS);
    let (add, twice) = (context.function(module, c"add"), context.function(module, c"twice"));
    assert_eq!(add, context.function(module, c"add"));
    let x = context.upload(&(0..100).collect::<Vec<i32>>());
    let y = context.allocate(400);
    assert_eq!(context.read(y, 2), [-1, -1], "new memory is filled with ones");
    let before = machine.get("launches");
    let numbers = [Value::Pointer(x), Value::Pointer(y), Value::Number(7), Value::Number(100)];
    assert_eq!(context.launch(add, 4, LEGACY, &numbers), 0);
    assert_eq!(context.launch(twice, 4, LEGACY, &[Value::Pointer(y), Value::Number(100)]), 0);
    assert_eq!(machine.get("pending"), 2, "nothing has waited for them");
    ok!(context.cu, cuCtxSynchronize());
    assert_eq!(machine.get("pending"), 0);
    assert_eq!(context.read(y, 100), (0..100).map(|i| 2 * (i + 7)).collect::<Vec<i32>>());
    assert_eq!(machine.get("launches"), before + 2);
    ok!(context.cu, cuMemFree_v2(x));
    ok!(context.cu, cuMemFree_v2(y));
    ok!(context.cu, cuModuleUnload(module));
    for what in ["allocations", "bytes", "modules", "streams"] {
        assert_eq!(machine.get(what), 0, "{what}");
    }
}

#[test]
fn functions_say_what_they_need() {
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(KERNELS);
    let (add, twice) = (context.function(module, c"add"), context.function(module, c"twice"));
    let attribute = |function, number| {
        let mut value = -7;
        ok!(context.cu, cuFuncGetAttribute(&mut value, number, function));
        value
    };
    assert_eq!([attribute(add, 1), attribute(twice, 1)], [0, 256]);
    assert_eq!([attribute(add, 8), attribute(twice, 8)], [49152, 49152 - 256]);
    let launch = |bytes| {
        let (mut x, mut n) = (0_u64, 0_i64);
        let mut places = [(&raw mut x).cast(), (&raw mut n).cast()];
        let places = places.as_mut_ptr();
        code!(context.cu, cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, bytes, LEGACY, places, ptr::null_mut()))
    };
    assert_says(launch(50_000), 1, "at most 48896 unless cuFuncSetAttribute asks for more");
    ok!(context.cu, cuFuncSetAttribute(twice, 8, 100_000));
    assert_eq!(launch(50_000), 0);
    ok!(context.cu, cuCtxSynchronize());
    assert_says(code!(context.cu, cuFuncSetAttribute(twice, 8, 227 * 1024)), 1, "attribute 8");
    let mut blocks = 0;
    ok!(context.cu, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, twice, 1024, 0));
    assert_eq!(blocks, 2);
    ok!(context.cu, cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, twice, 128, 100_000));
    assert_eq!(blocks, 2);
}

#[test]
fn what_does_not_compile_or_load_says_why() {
    let machine = Machine::new();
    let context = machine.context(0);
    let rejected = |source, options: &[&str]| compile(source, options).expect_err("this is rejected");
    let (code, log) = rejected("\nint wrong = undeclared;", &["--gpu-architecture=sm_90"]);
    assert_eq!(code, 6);
    assert!(log.contains("test.cu:2") && log.contains("undeclared"), "{log}");
    let (code, log) = rejected("", &["--gpu-architecture=sm_90", "--speed"]);
    assert_eq!((code, log.contains("--speed")), (5, true));
    let (_, log) = rejected("", &["-arch=sm_90", "--speed=high"]);
    assert!(log.contains("unrecognized option"), "{log}");
    let (_, log) = rejected("", &["--gpu-architecture=sm_80a"]);
    assert!(log.contains("sm_80a"), "{log}");
    let (_, log) = rejected("", &["--fmad=false"]);
    assert!(log.contains("--gpu-architecture"), "{log}");
    let load = |image: &[u8]| {
        let mut module = ptr::null_mut();
        code!(context.cu, cuModuleLoadData(&mut module, image.as_ptr().cast()))
    };
    let mut image = cubin(KERNELS);
    *image.last_mut().expect("bytes") ^= 1;
    assert_says(load(&image), 200, "checksum");
    assert_says(load(b"no image at all"), 200, "does not begin");
    let older = compile(KERNELS, &["--gpu-architecture=sm_80"]).expect("a known architecture");
    assert_says(load(&older), 209, "for sm_80");
    let module = context.module(KERNELS);
    let mut function = ptr::null_mut();
    let absent = code!(context.cu, cuModuleGetFunction(&mut function, module, c"absent".as_ptr()));
    assert_says(absent, 500, "no kernel `absent`");
}

#[test]
fn kernels_are_found_by_what_stands_before_their_parameters() {
    let source = "// __global__ void comment(\n extern \"C\" __global__ void __launch_bounds__(64 * (2), 1)\n\
        first(const float* x) {}\n/* __global__ void no() */ __device__ const char* s = \"__global__ void \\\" no(\";\n\
        extern \"C\" __global__ void second();\nextern \"C\" __global__ __launch_bounds__(128) void second() {}";
    let options =
        ["--std=c++17", "--fmad=false", "--ptxas-options=-v", "--gpu-architecture=sm_90a", "-lineinfo"];
    compile(source, &options).expect("known options");
    let machine = Machine::new();
    let context = machine.context(0);
    let module = context.module(source);
    for (name, code) in [(c"first", 0), (c"second", 0), (c"comment", 500), (c"no", 500), (c"void", 500)] {
        let mut function = ptr::null_mut();
        assert_eq!(
            code!(context.cu, cuModuleGetFunction(&mut function, module, name.as_ptr())),
            code,
            "{name:?}"
        );
    }
}

#[test]
fn devices_are_two_h100s() {
    let machine = Machine::new();
    let attribute = |number| {
        let mut value = -7;
        ok!(machine.cu, cuDeviceGetAttribute(&mut value, number, 1));
        value
    };
    assert_eq!([75, 76, 16, 10, 97, 12].map(attribute), [9, 0, 132, 32, 232_448, 65536]);
    let (mut count, mut bytes, mut name) = (0, 0, [0; 64]);
    ok!(machine.cu, cuDeviceGetCount(&mut count));
    ok!(machine.cu, cuDeviceTotalMem_v2(&mut bytes, 1));
    ok!(machine.cu, cuDeviceGetName(name.as_mut_ptr(), 64, 1));
    // SAFETY: the name ends with a zero within the array.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    assert_eq!((count, bytes), (2, 8 << 30));
    assert!(name.contains("H100"), "{name}");
    let mut device = 0;
    assert_says(code!(machine.cu, cuDeviceGet(&mut device, 2)), 101, "no device 2");
    machine.set("devices", 1);
    ok!(machine.cu, cuDeviceGetCount(&mut count));
    assert_eq!(count, 1);
    let mut text = ptr::null();
    ok!(machine.cu, cuGetErrorName(700, &mut text));
    // SAFETY: the library returns a constant string.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_eq!(code!(machine.cu, cuGetErrorName(12345, &mut text)), 1);
}

#[test]
fn what_the_emulator_finds_is_the_message() {
    let source = "extern \"C\" __global__ void wrong(float* x, long long what) {
        if (what == 1 && threadIdx.x) __syncthreads();
        if (what == 2) reinterpret_cast<float4*>(x + 1)->x = 1.f;
        if (what == 3) for (;;) __nanosleep(20);
        if (what == 4) __trap(); }";
    let machine = Machine::new();
    machine.set("sanitize", 1);
    let expected = [
        (702, "deadlock"),
        (716, "misaligned access in line 3"),
        (702, "spin for ever"),
        (719, "line 5: __trap"),
    ];
    for (what, (code, words)) in (1..).zip(expected) {
        let context = machine.context(0);
        let function = context.function(context.module(source), c"wrong");
        let x = context.allocate(64);
        assert_eq!(context.launch(function, 1, LEGACY, &[Value::Pointer(x), Value::Number(what)]), 0);
        assert_says(code!(context.cu, cuCtxSynchronize()), code, words);
    }
}

#[test]
fn threads_run_in_the_order_that_is_set() {
    let source = "extern \"C\" __global__ void arrive(int* next, int* out) {
        out[threadIdx.x] = atomicAdd(next, 1); }";
    let machine = Machine::new();
    let context = machine.context(0);
    let function = context.function(context.module(source), c"arrive");
    let arrivals = |order| {
        machine.set("order", order);
        let (next, out) = (context.upload(&[0]), context.allocate(128));
        assert_eq!(context.launch(function, 1, LEGACY, &[Value::Pointer(next), Value::Pointer(out)]), 0);
        context.read(out, 32)
    };
    let forward: Vec<i32> = (0..32).collect();
    assert_eq!(arrivals(0), forward);
    assert_eq!(arrivals(1), forward.iter().rev().copied().collect::<Vec<_>>());
    let random = arrivals(5);
    assert!(random != forward && random == arrivals(5));
}

#[test]
fn nvrtc_knows_its_architectures() {
    let machine = Machine::new();
    let (mut major, mut minor, mut count) = (0, 0, 0);
    ok!(machine.cu, nvrtcVersion(&mut major, &mut minor));
    ok!(machine.cu, nvrtcGetNumSupportedArchs(&mut count));
    let mut architectures = vec![0; count as usize];
    ok!(machine.cu, nvrtcGetSupportedArchs(architectures.as_mut_ptr()));
    assert_eq!((major, minor, architectures), (12, 9, vec![80, 86, 89, 90, 100, 120]));
    let mut nothing = ptr::null_mut();
    assert_eq!(code!(machine.cu, nvrtcCompileProgram(nothing, 0, ptr::null())), 4);
    assert_eq!(code!(machine.cu, nvrtcDestroyProgram(&mut nothing)), 4);
    let absent = code!(
        machine.cu,
        nvrtcCreateProgram(&mut nothing, ptr::null(), ptr::null(), 0, ptr::null(), ptr::null())
    );
    // SAFETY: the library returns a constant string.
    let name = unsafe { CStr::from_ptr((machine.cu.nvrtcGetErrorString)(absent)) };
    assert_eq!(name, c"NVRTC_ERROR_INVALID_INPUT");
}

/// A block of a cluster reads what its neighbour stores in shared memory, as the emulator runs them as one.
const CLUSTER: &str = "
extern \"C\" __global__ void __launch_bounds__(32) __cluster_dims__(4, 1, 1) numbers(int* out) {
  __shared__ int of_block[4];
  if (threadIdx.x == 0) of_block[blockIdx.x % 4] = blockIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = of_block[(blockIdx.x + 1) % 4] * 100 + threadIdx.x;
}";

#[test]
fn the_blocks_of_a_cluster_run_together() {
    let machine = Machine::new();
    let context = machine.context(0);
    let numbers = context.function(context.module(CLUSTER), c"numbers");
    let out = context.allocate(8 * 32 * 4);
    let launch = |blocks| context.launch(numbers, blocks, LEGACY, &[Value::Pointer(out)]);
    assert_says(launch(6), 1, "6 blocks are no clusters of 4");
    assert_eq!(launch(8), 0);
    let expected =
        [1, 2, 3, 0, 5, 6, 7, 4].iter().flat_map(|block| (0..32).map(move |thread| block * 100 + thread));
    assert_eq!(context.read(out, 8 * 32), expected.collect::<Vec<i32>>());
}
