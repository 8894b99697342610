//! Limits of kernels and schedules on all machines. They were measured on CPUs, and serve GPUs until theirs are.

/// The most statements of a kernel: code longer than that does not stay in the instruction cache, and takes long to compile.
pub const MAX_STATEMENTS: u64 = 1024;

/// The most statements of a kernel whose loops are cut into subranges: none of them selects between parts for each element.
/// Twelve rolls of rows in five kernels took 16.4 ms with 1,024 of them and 10.3 with 2,048 (Zen 4).
pub const MAX_PARTITIONED_STATEMENTS: u64 = 2 * MAX_STATEMENTS;

/// The number of statements of a kernel beyond which fewer bytes no longer save time.
pub const MAX_JOINED_STATEMENTS: u64 = MAX_STATEMENTS / 4;

/// Elements up to which one worker may do a whole group alone.
pub const MAX_SERIAL_ELEMENTS: i64 = 1 << 16;

/// The longest side of a tile: one of half-precision values fits L1, one of the largest elements L2.
pub const MAX_TILE_SIDE: u32 = 128;

/// The most rows that are walked together: the code grows with them.
pub const MAX_JAMMED_ROWS: u32 = 16;

/// The most indices of an axis that is unrolled in a loop over others, and the most elements of an unrolled fold: shuffles
/// put up to four neighbours in order. Sums of rows of 2 and 4 f32 took 0.14 and 0.2 of the time unrolled, of 5 and 8 twice
/// the time (Zen 4).
pub const MAX_UNROLLED: i64 = 4;

/// Elements of the largest value below which all calls are small, and of one order: nothing is divided in them, and the sizes
/// that are expected say nothing of their rows.
pub const MAX_SMALL_CALL_ELEMENTS: usize = 1 << 14;
