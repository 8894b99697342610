//! CPUs: the facts that differ between them, and constants measured on CPUs that decide schedules. `limits` has those that
//! GPUs use too.

use crate::{Processor, Target};

/// Facts of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Lanes of a block whose operations have long dependence chains: more of them are in flight.
    pub wide: u32,
    /// Bytes of a row of the tiles in which memory across the lanes is transposed.
    pub tile_bytes: u32,
    /// The most rows that are worth walking together.
    pub rows: u32,
    /// Vector registers.
    pub registers: u32,
    /// The most bytes that are prefetched.
    pub prefetch_bytes: u64,
}

/// The fewest vector registers with which rows of pages are folded together that a later stage walks again. With fewer, and
/// shorter, registers that stage stores halves of lines in turn, and four rows do not stay in L1: gradients of softmax of
/// 1024 to 32768 columns took 5.0 to 6.2 ms in fours, 2.6 to 4.5 in twos, 2.3 to 3.5 one by one (Zen 3).
pub const WALKED_AGAIN_REGISTERS: u32 = 32;

/// The fewest operations whose results a row keeps for later stages, as long as they fit.
pub const MIN_KEPT_OPS: usize = 8;

/// The smallest tensor whose softmax along an outer axis folds maximum and sum at once: smaller ones are in a cache for the
/// second fold. Softmax along the first axis: of 64 MiB of bf16 0.8 of the time of two folds on two threads, 0.7 on one. Of f32,
/// whose exponentials take longer and for which it is not done, 1.1 to 1.2 on two threads with 4 to 16 MiB, 1.0 with 32 and
/// 64 (Xeon with AVX-512).
pub const MIN_ONLINE_BYTES: u64 = 32 << 20;

/// The fewest elements that lie beside each other for that, so that all lanes of a block have one: with rows of 4 of a million
/// it took 1.5 times as long.
pub const MIN_ONLINE_ROW: u64 = 64;

/// Bytes of a row up to which its moments are computed in two passes.
pub const MAX_TWO_PASS_BYTES: u64 = 1 << 11;

/// Rows that a processor walks as fast as one: their pages are in the TLB, and it detects each as a stream.
pub const MAX_STREAMED_ROWS: u64 = 256;

/// How many rows ahead a tile prefetches along the lanes: about the latency of memory.
pub const TILE_ROWS_AHEAD: i64 = 8;

/// How many results a block of a combine step makes.
pub const COMBINED_RESULTS: u32 = 256;

/// The most subranges of all loops together: shared code is repeated in each.
pub const MAX_SUBRANGES: usize = 32;

/// The most subranges of a loop along which tensors are concatenated: each has only the code of its own subrange.
pub const MAX_CONCATENATED: usize = 128;

/// Statements of the loop of a subrange.
pub const LOOP_STATEMENTS: u64 = 4;

/// Rows that are scanned together, element by element: as many as hide the latency of an addition. If rows are a power of
/// two apart, lines of more operands and results than this evict each other from L1.
pub const SCANNED_ROWS: u32 = 4;

/// The most operations of a segment whose rows are jammed at all: each row is a copy of its code.
pub const MAX_JAMMED_OPS: usize = 64;

/// The most operations of a segment of which eight rows are jammed that are only folded.
pub const MAX_FOLDED_OPS: usize = 16;

/// The fewest folds over rows in scratch for which rows share its loads and stores. For fewer, walking rows side by side
/// costs more, unless the scratch is in L2: memory is faster with one run after the other. Measured on backward passes (Zen
/// 4): with one or two such folds rows of 256 to 4096 elements took 0.46 to 0.99 of the time one by one that they took in
/// fours, with four folds 0.87 in twos.
pub const MIN_SHARED_FOLDS: usize = 3;

/// Bytes of the rows of less than a page that are folded together: more of them are no longer one run of memory, and fewer
/// wait for the states stored by the row before. Measured on 16 Mi elements (Zen 4), one by one and in eights: a sum and a
/// maximum of rows of 32 bytes 5.0 and 1.5 ms, of 64 bytes 1.41 and 0.71, of a KiB 1.92 and 3.5; moments of rows of 256
/// bytes in twos 0.6 of the time one by one.
pub const SHARED_BYTES: u64 = 512;

/// Bytes of a line of the caches: a single fold of little work gains by jammed rows if a row has no more. A sum of rows of
/// 16 bytes 16.1 and 2.2 ms, of 64 bytes 4.2 and 1.5, of 256 bytes 1.0 and 2.3.
pub const LINE_BYTES: u64 = 64;

/// The fewest bytes of scratch of moments, with three states a column, or of sums of few costly operations, for which rows
/// that are only folded share its loads and stores. With 9 KiB of moments rows took 0.92 to 1.17 of the time in eights that
/// they took one by one, 0.57 to 0.78 with 12, 0.4 to 0.57 with 24 and 96; sums of exponentials 1.4 with 8 KiB, 0.7 with 16
/// and 32 (Zen 4).
pub const MIN_COSTLY_BYTES: u64 = 12 << 10;

/// The part of a block's fast memory, as its divisor, above which scratch is in L2.
pub const L2_PART: u64 = 4;

/// The most bytes of operands and outputs together of a short row: folds then wait longer than they work.
pub const SHORT_ROW_BYTES: u64 = 768;

/// Bytes of a page of most memory. Neighbouring pages may be anywhere, so a run of reads ends with each.
pub const PAGE_BYTES: u64 = 4096;

/// The fewest iterations of a loop over many lanes: the last is masked, and costs as much as a whole one.
pub const MIN_WIDE_TRIP_COUNT: u64 = 4;

/// The most operations of a segment whose values fit the registers when there are many lanes.
pub const MAX_WIDE_OPS: usize = 64;

/// The most elements of rows for whose number a kernel that folds them is compiled: loops over vectors vanish, and up to
/// [`MAX_UNROLLED`] the fold. Norms of rows of 5 to 16 f32 took 0.4 of the time, of 24 and 32 0.8 (Zen 4).
pub const MAX_FEW: i64 = 16;

/// Neighbours that a block walks together if lanes cross tensors: of each tensor it accesses that many lines at a time.
/// Measured on a layer norm of 1500x512 f32 whose residuals are transposed (Zen 4): 2.0 to 2.3 ms with 32 to 256 and a
/// register of lanes, 2.8 with 512, 4.0 with 1024 and two registers.
pub const CROSSING_STRIP: u64 = 128;

/// Fewest bytes of a row: after a shorter row the hardware prefetches the next, as rows are contiguous.
pub const MIN_PREFETCHED_BYTES: u64 = 1 << 11;

/// Fewest rows of a block: the prefetches of the last ones are of another block's rows.
pub const MIN_PREFETCHED_ROWS: u64 = 4;

/// The most operations for which the hardware looks far enough ahead by itself, as it has those of several lines in flight.
pub const MAX_UNPREFETCHED_OPS: usize = 6;

/// The most inputs that are prefetched along the lanes. More are slower, and take libLLVM cubic time: 0.7 s for 200 inputs, 0.05
/// without (`docs/internals/performance.md`).
pub const MAX_PREFETCHED_INPUTS: usize = 64;

/// The prefetch distance along the lanes, in bytes. It was the best of 512, 1024, 2048, 4096 and 8192 on gelu, silu and rope
/// (an Intel Xeon with 480 MiB of last-level cache), though not by much.
pub const PREFETCH_BYTES: usize = 1 << 11;

impl Target {
    /// A CPU whose vectors hold `vector_bits` bits. A block takes two vectors of f32 at a time, or four: folds then have as
    /// many chains in flight. Four measured 1.1 to 1.35 times as fast as two on normalizations, and slower on jammed rows
    /// and memory-bound groups. Jammed rows that are only summed take one each.
    pub fn cpu(vector_bits: u32) -> Target {
        Target {
            lanes: (vector_bits / 16).max(1),
            block_bytes: 512 << 10,
            blocks: 64,
            grain: 1 << 14,
            strip: 1 << 10,
            column_strip: 1 << 6,
            run: 1 << 13,
            partial: 32,
            little: 8,
            bandwidth: 30e9,
            in_columns: 2.0,
            across_lanes: 4.0,
            in_tiles: 2.0,
            cores: 2,
            throughput: 325e6 * f64::from(vector_bits),
            launch: 2e-6,
            processor: Processor::Cpu(Cpu {
                wide: (vector_bits / 8).max(1),
                tile_bytes: 256,
                rows: 8,
                registers: if vector_bits < 512 { 16 } else { 32 },
                prefetch_bytes: 256 << 10,
            }),
        }
    }
}
