//! The numbers of an H100 SXM, by those of `CUdevice_attribute`.

use std::ffi::c_int;

/// Threads of a block.
pub const MOST_THREADS: u32 = 1024;
/// Bytes of shared memory of a block without being asked for more.
pub const SHARED_PER_BLOCK: usize = 48 * 1024;
/// Bytes of shared memory of a block at most.
pub const SHARED_OPT_IN: usize = 227 * 1024;
/// Bytes of shared memory of a multiprocessor.
pub const SHARED_PER_MULTIPROCESSOR: usize = 228 * 1024;
/// Bytes of shared memory that the system keeps of each block.
pub const SHARED_RESERVED: usize = 1024;
/// Registers of a block, and of a multiprocessor.
pub const REGISTERS: u32 = 65536;
/// Threads of a multiprocessor.
pub const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
/// Blocks of a multiprocessor.
pub const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
/// Threads of a warp.
pub const WARP: u32 = 32;
/// The compute capability.
pub const CAPABILITY: (c_int, c_int) = (9, 0);

/// An attribute of a device; `None` for unknown numbers.
pub fn attribute(number: c_int, device: usize) -> Option<c_int> {
    Some(match number {
        1..=8 | 10 | 12 | 39 | 81 | 82 | 97 | 106 | 111 => limit(number),
        // Constant memory, pitch, clock in kHz, alignments of textures.
        9 => 65536,
        11 => i32::MAX,
        13 => 1_980_000,
        14 => 512,
        51 => 32,
        // Multiprocessors, memory clock in kHz, bits of the bus, bytes of L2.
        16 => 132,
        36 => 2_619_000,
        37 => 5120,
        38 => 50 << 20,
        // PCI: bus, device, domain.
        33 => 0x18 + device as c_int,
        34 | 50 => 0,
        // Copy engines.
        40 => 3,
        75 => CAPABILITY.0,
        76 => CAPABILITY.1,
        // Overlap, mapped host memory, concurrent kernels, ECC, unified addressing, priorities, L1, managed memory, and so
        // on: what there is.
        15 | 19 | 31 | 32 | 41 | 78 | 79 | 80 | 83 | 89 | 90 | 91 | 95 | 99 | 102 | 103 | 115 | 120 => 1,
        // Time limit, integrated, compute mode, TCC, several GPUs on a board, pageable access: what there is not.
        17 | 18 | 20 | 35 | 84 | 85 | 86 | 88 | 96 | 98 | 100 | 101 | 107 | 116 => 0,
        87 => 2,
        108 => 32 << 20,
        109 => 128 << 20,
        119 => 1,
        _ => return None,
    })
}

/// An attribute that limits launches.
fn limit(number: c_int) -> c_int {
    match number {
        1..=3 => MOST_THREADS as c_int,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => SHARED_PER_BLOCK as c_int,
        10 => WARP as c_int,
        12 | 82 => REGISTERS as c_int,
        39 => THREADS_PER_MULTIPROCESSOR as c_int,
        81 => SHARED_PER_MULTIPROCESSOR as c_int,
        97 => SHARED_OPT_IN as c_int,
        106 => BLOCKS_PER_MULTIPROCESSOR as c_int,
        _ => SHARED_RESERVED as c_int,
    }
}
