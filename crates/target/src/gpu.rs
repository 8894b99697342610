//! GPUs: the facts that differ between them, and constants for all GPUs that decide schedules.

use crate::Multiprocessor;

/// Facts of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Threads that run in step.
    pub warp: u32,
    /// The most threads of a block that walk one row: with more, they wait for each other longer than for memory.
    pub most_threads: u32,
    /// Bytes that a thread loads before it uses the first of them, so that all threads of a multiprocessor saturate its
    /// share of memory.
    pub in_flight: u64,
    /// The most blocks of a cluster; 1 without clusters.
    pub max_cluster: u32,
    /// Side of the tiles in which memory across the lanes is transposed: a block's threads walk a row of it.
    pub tile_side: u32,
    /// The fewest blocks of a multiprocessor that leave partial results: with many more, combining these takes longer than
    /// it saves.
    pub partials: u64,
    /// The latency of memory under load, in seconds.
    pub latency: f64,
    /// The resources of each multiprocessor.
    pub multiprocessor: Multiprocessor,
}

impl Gpu {
    /// Bytes of f32 that the threads of the largest cluster keep of a row.
    pub fn cluster_bytes(&self) -> u64 {
        u64::from(self.max_cluster * self.most_threads) * MAX_LONG_ROW_ELEMENTS * 4
    }
}

/// The most threads of a block.
pub const MAX_BLOCK_THREADS: u32 = 1024;

/// The most elements of a row that a thread has: those of a block of a fold, so that no total is added up in between.
pub const MAX_ROW_ELEMENTS: u64 = 16;

/// The same if all threads that may walk a row do, and columns have no sums.
pub const MAX_LONG_ROW_ELEMENTS: u64 = 32;

/// The longest row that fits registers: as many elements as all threads of a block have there.
pub const MAX_REGISTER_ROW: u64 = 512 * MAX_LONG_ROW_ELEMENTS;

/// The longest row whose bound is worth knowing: of half types it fits the shared memory of a block.
pub const MAX_KEPT_ROW: u64 = 1 << 16;

/// The most bytes of registers that a thread keeps from row to row or from stage to stage.
pub const MAX_KEPT_BYTES: u64 = 256;

/// Elements of a row that a thread has if it keeps sums of columns, and if there are enough threads.
pub const MAX_SUMS_ELEMENTS: u64 = 8;

/// The most bytes of registers that a thread keeps if two rows, as they are in memory, are among them: little else needs any
/// then.
pub const MAX_RING_BYTES: u64 = 320;

/// Steps of a thread along a row: with more threads they wait for each other at each fold, with fewer memory is idle.
pub const STEPS_PER_THREAD: u64 = 4;

/// The most blocks of a multiprocessor that leave partial results: more of them wait for registers.
pub const MAX_PARTIALS: u64 = 8;

/// Partial results that a thread of a combine step loads before it uses the first.
pub const COMBINED_CHUNKS: u64 = 8;

/// Registers of a thread that keeps a row and the sums of its columns.
pub const KEEPERS_REGISTERS: u64 = 128;

/// Rows of a block that are added up in f32: with more of them its columns have totals in f64 as well.
pub const MAX_PARTIAL_ROWS: u64 = 64;
