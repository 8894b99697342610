//! Compiles kernels written as text, runs them and the interpreter, and compares the buffers.

use ferrofuse_codegen::cpu::{CompiledKernel, SCRATCH_UNIT, compile_kernel};
use kernel::{Access, Kernel, parse};
use llvm::{CpuTarget, Llvm, LlvmOptions};
use ops::{DType, Scalar};
use reference::interpret::{DenseMemory, Options, interpret};

/// Lanes of a loop: fewer than, as many as and more than those of a vector.
pub const LANES: [u32; 5] = [1, 4, 8, 16, 32];

/// Sizes around the vector length.
const SIZES: [i64; 8] = [0, 1, 3, 15, 16, 17, 64, 1000];

/// The library, whose error says how to install it.
pub fn llvm() -> Llvm {
    Llvm::open(&LlvmOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The targets whose code runs here.
pub fn runnable() -> Vec<CpuTarget> {
    let mut targets = vec![CpuTarget::Host];
    #[cfg(target_arch = "x86_64")]
    {
        targets.push(CpuTarget::X86_64);
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            targets.push(CpuTarget::Avx2);
        }
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
            targets.push(CpuTarget::Avx512);
        }
    }
    targets
}

pub fn kernel(text: &str) -> Kernel {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub fn compile(kernel: &Kernel, target: CpuTarget) -> CompiledKernel {
    compile_kernel(kernel, target, &llvm()).unwrap_or_else(|error| panic!("{target}: {error}\n{kernel}"))
}

/// Runs all blocks of a compiled kernel on the buffers.
pub fn run(kernel: &Kernel, compiled: &CompiledKernel, args: &[i64], buffers: &mut [DenseMemory]) {
    let size = |e: &index::Expr| {
        let value = |symbol| kernel.arguments.iter().position(|&s| s == symbol).map(|at| args[at]);
        e.eval(&value).expect("sizes are small")
    };
    let mut bytes: Vec<Vec<u64>> = buffers.iter().map(|memory| words(memory.bytes())).collect();
    let mut scratch: Vec<Vec<u64>> = kernel
        .scratch
        .values()
        .map(|decl| {
            vec![0; (size(&decl.len) as usize * decl.dtype.size()).next_multiple_of(SCRATCH_UNIT) / 8]
        })
        .collect();
    let pointers = |memory: &mut [Vec<u64>]| -> Vec<*mut u8> {
        memory.iter_mut().map(|words| words.as_mut_ptr().cast()).collect()
    };
    let (mut addresses, scratch) = (pointers(&mut bytes), pointers(&mut scratch));
    let mut is_to_stop = 0_u8;
    addresses.push(&raw mut is_to_stop);
    // Stores may be non-temporal where that is possible: results must not depend on it.
    let non_temporal = args.first().map_or(0, |&arg| if arg % 2 == 0 { u64::MAX } else { 0 });
    // SAFETY: the interpreter ran the kernel on memory of these sizes without a fault.
    unsafe { compiled.call(args, &addresses, &scratch, non_temporal, 0, size(&kernel.blocks)) };
    for (memory, words) in buffers.iter_mut().zip(bytes) {
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take(memory.bytes().len()).collect();
        *memory = DenseMemory::from_bytes(memory.dtype(), bytes).expect("the same size as before");
    }
}

/// The bytes in memory aligned for every dtype.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    };
    bytes.chunks(8).map(word).chain([0]).collect()
}

/// Runs a kernel compiled and interpreted; both must agree within `ulps` units in the last place.
pub fn check(kernel: &Kernel, compiled: &CompiledKernel, args: &[i64], buffers: &[DenseMemory], ulps: f64) {
    let mut expected = buffers.to_vec();
    interpret(kernel, args, &mut expected, &Options::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{kernel}"));
    let mut found = buffers.to_vec();
    run(kernel, compiled, args, &mut found);
    for (id, decl) in kernel.buffers.iter().filter(|(_, decl)| decl.access != Access::Read) {
        let (expected, found) = (&expected[id.as_u32() as usize], &found[id.as_u32() as usize]);
        for index in 0..expected.len() {
            let (want, got) = (expected.read(index), found.read(index));
            assert!(
                close(want, got, ulps),
                "{}[{index}] is {got}, expected {want} (inputs {:?}), args {args:?}\n{kernel}",
                decl.name,
                buffers.iter().filter(|m| index < m.len()).map(|m| m.read(index)).collect::<Vec<_>>(),
            );
        }
    }
}

/// Runs a kernel for all vector lengths, sizes and targets; `buffers` makes the buffers for a size.
pub fn everywhere(
    text: &str,
    args: impl Fn(i64) -> Vec<i64>,
    buffers: impl Fn(i64) -> Vec<DenseMemory>,
    ulps: f64,
) {
    for target in runnable() {
        for lanes in LANES {
            let kernel = kernel(&text.replace("LANES", &lanes.to_string()));
            let compiled = compile(&kernel, target);
            for size in SIZES {
                check(&kernel, &compiled, &args(size), &buffers(size), ulps);
            }
        }
    }
}

/// Equal bits, or both NaN, or a distance of at most `ulps` units in the last place.
pub fn close(want: Scalar, got: Scalar, ulps: f64) -> bool {
    let (x, y) = (want.as_f64(), got.as_f64());
    let dtype = want.dtype();
    let both_nan = dtype.is_float() && x.is_nan() && y.is_nan();
    let near = ulps > 0.5 && dtype.is_float() && (x - y).abs() <= ulps * dtype.ulp(x);
    want == got || both_nan || near
}

/// Special values of a dtype.
pub fn special_values(dtype: DType) -> Vec<Scalar> {
    let numbers: &[f64] = match dtype {
        DType::Bool => &[0.0, 1.0],
        DType::I32 | DType::I64 | DType::U64 => {
            &[0.0, 1.0, -1.0, 2.0, -3.0, 7.0, 31.0, 32.0, 33.0, 63.0, 64.0, 100_000.0]
        }
        _ => &[
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -2.5,
            1.5,
            3.0,
            0.1,
            -0.7,
            1e-3,
            20.0,
            -88.0,
            1e4,
            65504.0,
            65519.0,
            65520.0,
            1e-7,
            3e-8,
            6e-5,
            1e-40,
            -1e-45,
            3e38,
            1e39,
            1e-310,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            2147483648.0,
            -9.3e18,
            1.00390625,
            1.01171875,
        ],
    };
    let mut values: Vec<Scalar> = numbers.iter().map(|&x| Scalar::from_f64(dtype, x)).collect();
    if dtype.is_int() {
        values.extend([Scalar::lowest(dtype), Scalar::highest(dtype)]);
    }
    values
}

pub fn memory(dtype: DType, values: &[Scalar]) -> DenseMemory {
    let mut memory = DenseMemory::zeros(dtype, values.len());
    for (index, &value) in values.iter().enumerate() {
        memory.write(index, value);
    }
    memory
}

/// Numbers between -4 and 4, the same each time.
pub fn noise(dtype: DType, count: usize, seed: u64) -> DenseMemory {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 50) as f64 - 4.0
    };
    let numbers: Vec<f64> = (0..count).map(|_| next()).collect();
    DenseMemory::from_f64s(dtype, &numbers)
}

pub fn zeros(dtype: DType, count: i64) -> DenseMemory {
    DenseMemory::zeros(dtype, count as usize)
}
