//! Kernel programs as CUDA text, run by the emulator in every thread order: equal to the kernel interpreter.

mod ops;
mod plans;
mod programs;

use codegen_c::cuda::{CudaKernel, Parameter, emit};
use emulator::{Arg, Emulator, EmulatorOptions, Function, GuardedBuffer, Launch, Order};
use kernel::{Kernel, parse};
use reference::interpret::{DenseMemory, Options, interpret};

use ::ops::{DType, Scalar};

/// A kernel and its compiled text.
struct Compiled {
    kernel: Kernel,
    cuda: CudaKernel,
    function: Function,
}

impl Compiled {
    fn new(kernel: Kernel) -> Compiled {
        let cuda = emit(&kernel).unwrap_or_else(|error| panic!("{error}"));
        let function = compile(&cuda);
        Compiled { kernel, cuda, function }
    }

    /// The buffers after the interpreter ran the kernel.
    fn interpreted(&self, args: &[i64], buffers: &[DenseMemory]) -> Vec<DenseMemory> {
        let mut buffers = buffers.to_vec();
        interpret(&self.kernel, args, &mut buffers, &Options { contracts: true, ..Options::default() })
            .unwrap_or_else(|fault| panic!("{fault}"));
        buffers
    }

    /// The buffers after the emulated device ran the kernel.
    fn emulated(
        &self,
        args: &[i64],
        buffers: &[DenseMemory],
        order: Order,
    ) -> Result<Vec<DenseMemory>, String> {
        let mut guarded: Vec<GuardedBuffer> = buffers
            .iter()
            .map(|memory| GuardedBuffer::new(memory.bytes()).expect("memory for a test buffer"))
            .collect();
        let symbol = |symbol| {
            self.kernel.arguments.iter().position(|&argument| argument == symbol).map(|place| args[place])
        };
        let arguments: Vec<Arg> = self
            .cuda
            .parameters
            .iter()
            .map(|parameter| match *parameter {
                Parameter::Buffer(buffer) => Arg::Pointer(guarded[buffer.as_u32() as usize].as_mut_ptr()),
                Parameter::Argument(argument) => {
                    Arg::I64(symbol(argument).expect("an argument of the kernel"))
                }
            })
            .collect();
        let blocks = self.cuda.blocks.eval(&symbol).expect("a number of blocks");
        let shared = self.cuda.dynamic_shared_bytes.eval(&symbol).expect("a size of shared memory");
        let launch = Launch {
            grid: [blocks as u32, 1, 1],
            block: [self.cuda.block_threads, 1, 1],
            dynamic_shared_bytes: shared as usize,
            order,
        };
        if blocks > 0 {
            // SAFETY: every pointer comes from a guarded buffer that lives until its bytes have been read.
            unsafe { self.function.launch(&launch, &arguments) }.map_err(|error| error.to_string())?;
        }
        let read = |(memory, buffer): (&DenseMemory, &GuardedBuffer)| {
            DenseMemory::from_bytes(memory.dtype(), buffer.bytes().to_vec()).expect("as many bytes as before")
        };
        Ok(buffers.iter().zip(&guarded).map(read).collect())
    }

    /// Asserts that all orders give the interpreter's results, within `ulps` units in the last place.
    #[track_caller]
    fn check(&self, args: &[i64], buffers: &[DenseMemory], ulps: f64) {
        let expected = self.interpreted(args, buffers);
        for order in Order::ALL {
            let found = self
                .emulated(args, buffers, order)
                .unwrap_or_else(|error| panic!("{order:?}: {error}\n{}", self.cuda.source));
            if let Some(difference) = difference(&expected, &found, ulps) {
                panic!("{} of {args:?}, {order:?}: {difference}\n{}", self.kernel.name, self.cuda.source);
            }
        }
    }
}

fn compile(cuda: &CudaKernel) -> Function {
    // The sanitizer reports behaviour that C++ leaves undefined and that a device may implement differently.
    let options = EmulatorOptions { sanitize: true, ..EmulatorOptions::default() };
    let emulator = Emulator::new(options).expect("an emulator");
    let module = emulator.compile(&cuda.source, &cuda.name);
    module
        .and_then(|module| module.function(&cuda.name))
        .unwrap_or_else(|error| panic!("{error}\n{}", cuda.source))
}

/// The kernel of a text, with another number of lanes.
fn kernel(text: &str, lanes: u32) -> Kernel {
    let text = text.replace("lanes 128 {", &format!("lanes {lanes} {{"));
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// The first element that differs by more than `ulps` units in the last place of the expected one.
fn difference(expected: &[DenseMemory], found: &[DenseMemory], ulps: f64) -> Option<String> {
    for (buffer, (expected, found)) in expected.iter().zip(found).enumerate() {
        for index in 0..expected.len() {
            let (want, got) = (expected.read(index), found.read(index));
            if !agree(want, got, ulps) {
                return Some(format!("b{buffer}[{index}] is {got}, not {want}"));
            }
        }
    }
    None
}

/// All NaNs are equal; zeros have their sign unless an error is allowed.
fn agree(want: Scalar, got: Scalar, ulps: f64) -> bool {
    let (x, y) = (want.as_f64(), got.as_f64());
    if want == got || (x.is_nan() && y.is_nan()) {
        return true;
    }
    want.dtype().is_float() && ulps > 0.0 && (x - y).abs() <= ulps * want.dtype().ulp(x)
}

/// Elements in -4..4 that look random and are the same in every run.
fn values(dtype: DType, count: usize, seed: u64) -> DenseMemory {
    let numbers: Vec<f64> =
        (0..count as u64).map(|i| (random(i + (seed << 32)) >> 40) as f64 / (1 << 21) as f64 - 4.0).collect();
    DenseMemory::from_f64s(dtype, &numbers)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn random(seed: u64) -> u64 {
    let z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
