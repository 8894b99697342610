//! The data of a launch: sizes, arguments and order in, counts out, with the C++ twins of `device/launch.h`. Launches
//! nothing.

use std::ffi::{c_char, c_int, c_void};

use crate::Error;

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
    /// The order of threads, warps and blocks.
    pub order: Order,
}

/// One kernel argument. It must fit the parameter: pointer, `long long`, `int`, `float`, `double` or a structure of words;
/// unsigned parameters take the integer of their size.
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
    /// A structure of words of 8 bytes, which stay where they are until the launch has ended.
    Table {
        /// The first word.
        words: *const u64,
        /// How many there are.
        count: usize,
    },
}

impl Arg {
    /// The letter that `device/launch.h` gives a parameter of this kind.
    pub(crate) fn letter(self) -> char {
        match self {
            Arg::Pointer(_) => 'p',
            Arg::I64(_) => 'l',
            Arg::I32(_) => 'i',
            Arg::F32(_) => 'f',
            Arg::F64(_) => 'd',
            Arg::Table { .. } => 's',
        }
    }

    /// The argument of the kind of this letter that is stored here; `None` for other letters, tables among them.
    ///
    /// # Safety
    /// A value of that kind is stored here, aligned or not.
    pub(crate) unsafe fn read(letter: char, place: *const c_void) -> Option<Arg> {
        // SAFETY: the caller says so.
        unsafe {
            Some(match letter {
                'p' | 'r' => Arg::Pointer(place.cast::<*mut u8>().read_unaligned()),
                'l' => Arg::I64(place.cast::<i64>().read_unaligned()),
                'i' => Arg::I32(place.cast::<i32>().read_unaligned()),
                'f' => Arg::F32(place.cast::<f32>().read_unaligned()),
                'd' => Arg::F64(place.cast::<f64>().read_unaligned()),
                _ => return None,
            })
        }
    }

    /// The argument's bytes at the low end of an aligned word, as a little-endian machine stores them; the address of a
    /// table.
    pub(crate) fn word(self) -> u64 {
        match self {
            Arg::Pointer(address) => address as u64,
            Arg::I64(value) => value as u64,
            Arg::I32(value) => value as u32 as u64,
            Arg::F32(value) => value.to_bits() as u64,
            Arg::F64(value) => value.to_bits(),
            Arg::Table { words, .. } => words as u64,
        }
    }
}

/// Counts of a launch.
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

/// `CuemuRequest` of `device/launch.h`.
#[repr(C)]
pub(crate) struct Request {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub static_shared_bytes: u64,
    pub dynamic_shared_bytes: u64,
    pub seed: u64,
    pub order: u32,
    pub cluster: u32,
}

/// `CuemuReport` of `device/launch.h`.
#[repr(C)]
pub(crate) struct Report {
    pub stats: Stats,
    pub message: [c_char; 2048],
}

/// `cuemu_launch_NAME` of `device/launch.h`.
pub(crate) type LaunchEntry = unsafe extern "C" fn(*const Request, *mut *mut c_void, *mut Report) -> c_int;

/// Rejects sizes that the driver rejects.
pub(crate) fn check_sizes(launch: &Launch) -> Result<(), Error> {
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
