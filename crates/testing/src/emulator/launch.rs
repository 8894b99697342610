//! Launches a compiled kernel: takes sizes, an order and arguments, gives counts or an error. Launches of the whole
//! process happen one at a time, because each takes over the process's fault signals while it runs.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use tempfile::TempDir;

use super::Error;
use super::compile::LIBRARY;

/// Which thread, warp and block goes first wherever the device leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest number first: one warp runs as far as it can, then the next.
    Forward,
    /// The highest number first.
    Reverse,
    /// Drawn from a generator with this seed.
    Random(u64),
}

impl Order {
    /// Orders that together show most missing barriers; a check should launch in all of them.
    pub const ALL: [Order; 4] = [Order::Forward, Order::Reverse, Order::Random(1), Order::Random(2)];
}

/// The shape of a launch, as the CUDA driver takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z; at most 1024 together.
    pub block: [u32; 3],
    /// Bytes of the array that the kernel declares as `extern __shared__ T smem[]`.
    pub dynamic_shared_bytes: usize,
    /// Who goes first.
    pub order: Order,
}

/// One kernel argument. It must fit the parameter: pointer, `long long`, `int`, `float` or `double`; unsigned
/// parameters take the integer of their size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg {
    /// An address the kernel may use.
    Pointer(*mut u8),
    /// A signed or unsigned integer of 8 bytes.
    I64(i64),
    /// A signed or unsigned integer of 4 bytes.
    I32(i32),
    /// A `float`.
    F32(f32),
    /// A `double`.
    F64(f64),
}

impl Arg {
    /// The letter that `device/launch.h` gives a parameter of this kind.
    fn letter(self) -> char {
        match self {
            Arg::Pointer(_) => 'p',
            Arg::I64(_) => 'l',
            Arg::I32(_) => 'i',
            Arg::F32(_) => 'f',
            Arg::F64(_) => 'd',
        }
    }

    /// The argument's bytes at the low end of an aligned word, as a little-endian machine stores them.
    fn word(self) -> u64 {
        match self {
            Arg::Pointer(address) => address as u64,
            Arg::I64(value) => value as u64,
            Arg::I32(value) => value as u32 as u64,
            Arg::F32(value) => value.to_bits() as u64,
            Arg::F64(value) => value.to_bits(),
        }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Stats {
    /// Changes from one thread to another.
    pub switches: u64,
    /// Arrivals of threads at block barriers.
    pub block_barriers: u64,
    /// Arrivals of threads at warp barriers, shuffles and votes.
    pub warp_operations: u64,
    /// Calls of `__nanosleep`.
    pub yields: u64,
    /// Static shared memory of the kernel, with padding.
    pub static_shared_bytes: u64,
}

/// A compiled kernel, loaded into this process.
#[derive(Debug)]
pub struct Module {
    kernel: String,
    library: Library,
    /// Kept while the library is loaded, so that no other library gets its path.
    _directory: TempDir,
}

/// `CuemuRequest` of `device/launch.h`.
#[repr(C)]
struct Request {
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u64,
    seed: u64,
    order: u32,
}

/// `CuemuReport` of `device/launch.h`.
#[repr(C)]
struct Report {
    stats: Stats,
    message: [c_char; 2048],
}

type LaunchFunction = unsafe extern "C" fn(*const Request, *mut *mut c_void, *mut Report) -> c_int;
type SignatureFunction = unsafe extern "C" fn() -> *const c_char;

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Module {
    /// Loads the library that the compiler left in `directory`.
    pub(super) fn load(directory: TempDir, kernel: &str) -> Result<Module, Error> {
        // SAFETY: the library was made from our headers and a kernel; its only initialisers are those of constants
        // in the kernel's text, which the caller of `compile` answers for.
        let library = unsafe { Library::new(directory.path().join(LIBRARY)) }?;
        Ok(Module { kernel: kernel.to_owned(), library, _directory: directory })
    }

    /// Runs the kernel over the whole grid and returns when it has ended.
    ///
    /// # Safety
    /// Every [`Arg::Pointer`] must be valid for whatever the kernel reads and writes through it, and no reference
    /// may watch that memory meanwhile. Put buffers into [`GuardedBuffer`](super::GuardedBuffer)s to have accesses
    /// beyond their ends reported.
    ///
    /// # Errors
    /// [`Error::BadLaunch`] before anything runs; [`Error::Kernel`] when a barrier is missed, memory is misused or
    /// the threads deadlock: the buffers then hold whatever was written until then.
    pub unsafe fn launch(&self, launch: &Launch, args: &[Arg]) -> Result<Stats, Error> {
        check_sizes(launch)?;
        self.check_arguments(args)?;
        let mut words: Vec<u64> = args.iter().map(|arg| arg.word()).collect();
        let mut addresses: Vec<*mut c_void> =
            words.iter_mut().map(|word| (word as *mut u64).cast()).collect();
        let mut report = Report { stats: Stats::default(), message: [0; 2048] };
        // SAFETY: `device/launch.h` defines the function with this type.
        let function = unsafe { self.library.get::<LaunchFunction>(b"cuemu_launch\0") }?;
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: request and report match their C++ twins, each address points at a word that holds its parameter
        // (checked above), and the caller answers for the pointers among them.
        let failed = unsafe { function(&request(launch), addresses.as_mut_ptr(), &mut report) } != 0;
        if failed {
            return Err(Error::Kernel { kernel: self.kernel.clone(), text: c_text(report.message.as_ptr()) });
        }
        Ok(report.stats)
    }

    fn check_arguments(&self, args: &[Arg]) -> Result<(), Error> {
        // SAFETY: `device/launch.h` defines the function with this type; it returns a constant string.
        let expected = c_text(unsafe { self.library.get::<SignatureFunction>(b"cuemu_signature\0")?() });
        let given: String = args.iter().map(|arg| arg.letter()).collect();
        if expected == given {
            return Ok(());
        }
        Err(Error::BadLaunch(format!(
            "kernel `{}` takes ({}), the arguments are ({})",
            self.kernel,
            spell(&expected),
            spell(&given)
        )))
    }
}

fn request(launch: &Launch) -> Request {
    let (order, seed) = match launch.order {
        Order::Forward => (0, 0),
        Order::Reverse => (1, 0),
        Order::Random(seed) => (2, seed),
    };
    let dynamic_shared_bytes = launch.dynamic_shared_bytes as u64;
    Request { grid: launch.grid, block: launch.block, dynamic_shared_bytes, seed, order }
}

fn check_sizes(launch: &Launch) -> Result<(), Error> {
    const MOST_BLOCKS: [u32; 3] = [0x7fff_ffff, 65535, 65535];
    const MOST_THREADS: [u32; 3] = [1024, 1024, 64];
    let within = |sizes: [u32; 3], most: [u32; 3]| (0..3).all(|axis| (1..=most[axis]).contains(&sizes[axis]));
    if !within(launch.grid, MOST_BLOCKS) {
        return Err(Error::BadLaunch(format!("grid {:?} is not within 1..={MOST_BLOCKS:?}", launch.grid)));
    }
    if !within(launch.block, MOST_THREADS) {
        return Err(Error::BadLaunch(format!("block {:?} is not within 1..={MOST_THREADS:?}", launch.block)));
    }
    let threads: u64 = launch.block.iter().map(|&size| u64::from(size)).product();
    if threads > 1024 {
        return Err(Error::BadLaunch(format!(
            "block {:?} has {threads} threads, at most 1024",
            launch.block
        )));
    }
    Ok(())
}

fn spell(letters: &str) -> String {
    let name = |letter| match letter {
        'p' => "pointer",
        'l' => "64-bit integer",
        'i' => "32-bit integer",
        'f' => "float",
        'd' => "double",
        _ => "something no argument can be",
    };
    letters.chars().map(name).collect::<Vec<_>>().join(", ")
}

/// Copies a C string.
fn c_text(text: *const c_char) -> String {
    // SAFETY: both callers pass a string that the C++ side ended with a zero and that outlives this call.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
