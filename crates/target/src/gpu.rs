//! GPUs: the facts that differ from one to the next, and numbers of GPUs in general that decide schedules.

use crate::Multiprocessor;

/// Facts of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// Threads that run in step.
    pub warp: u32,
    /// The most threads of a block that walk one row: more of them wait for each other longer than memory takes.
    pub most_threads: u32,
    /// Bytes that a thread loads before it uses the first of them, so that all threads of a multiprocessor keep its share of
    /// memory busy.
    pub in_flight: u64,
    /// The most blocks of a cluster; 1 where there are none.
    pub max_cluster: u32,
    /// Side of the tiles in which memory that lies across the lanes is transposed: a block's threads walk a row of it.
    pub tile_side: u32,
    /// Blocks of a multiprocessor that leave partial results, at least: with many more, adding these up takes longer than it saves.
    pub partials: u64,
    /// Seconds that memory takes to answer under load.
    pub latency: f64,
    /// What each multiprocessor has.
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

/// Elements of a row that a thread has at most: those of a block of a fold, so that no total is added up in between.
pub const MAX_ROW_ELEMENTS: u64 = 16;

/// The same where all threads that may walk a row do, and columns have no sums.
pub const MAX_LONG_ROW_ELEMENTS: u64 = 32;

/// The longest row that fits registers: as many elements as all threads of a block have there.
pub const MAX_REGISTER_ROW: u64 = 512 * MAX_LONG_ROW_ELEMENTS;

/// The longest row of which it is worth to know so: of half types it fits the shared memory of a block.
pub const MAX_KEPT_ROW: u64 = 1 << 16;

/// The most bytes of registers that a thread keeps from row to row or from stage to stage.
pub const MAX_KEPT_BYTES: u64 = 256;

/// Elements of a row that a thread has where it keeps sums of columns, if there are enough threads.
pub const MAX_SUMS_ELEMENTS: u64 = 8;

/// The same where it keeps two rows as they are in memory: little else needs registers then.
pub const MAX_RING_BYTES: u64 = 320;

/// Steps of a thread along a row: more threads wait for each other at each fold, fewer leave memory idle.
pub const STEPS: u64 = 4;

/// The most blocks of a multiprocessor that leave partial results: further ones wait for its registers.
pub const MAX_PARTIALS: u64 = 8;

/// Partial results that a thread of a combine step loads before it uses the first.
pub const COMBINED_CHUNKS: u64 = 8;

/// Registers of a thread that keeps a row and the sums of its columns.
pub const KEEPERS_REGISTERS: u64 = 128;

/// Rows of a block that are added up in f32: with more of them its columns have totals in f64 as well.
pub const MAX_PARTIAL_ROWS: u64 = 64;
