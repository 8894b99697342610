//! Numbers of CPUs in general that decide schedules. What differs from one CPU to the next is in
//! [`Cpu`](crate::target::Cpu).

/// Operations of a segment up to which rows are jammed at all: each is a copy of its code.
pub(super) const MAX_JAMMED_OPS: usize = 64;

/// Folds over rows that lie in scratch, from which on rows share its loads and stores. For fewer, what rows side by
/// side cost is more, unless the scratch is in L2: memory gives one run after the other faster. Measured on backward
/// passes (Zen 4): with one or two such folds rows of 256 to 4096 elements took 0.46 to 0.99 of the time one by one
/// that they took in fours, with four folds 0.87 in twos.
pub(super) const MIN_SHARED_FOLDS: usize = 3;

/// Of the fast memory that serves a block, the part from which on scratch is in L2.
pub(super) const L2_PART: u64 = 4;

/// Bytes that operands and outputs of a row have together, up to which it is short: folds then wait longer than they
/// work.
pub(super) const SHORT_ROW_BYTES: u64 = 768;

/// Bytes of the pages that most memory lies in. Neighbours may lie anywhere, so that a run of reads ends with each.
pub(super) const PAGE_BYTES: u64 = 4096;

/// Fewest iterations of a loop over many lanes: the last is masked, and costs as much as a whole one.
pub(super) const MIN_WIDE_TRIP_COUNT: u64 = 4;

/// The most operations of a segment whose values fit the registers when there are many lanes.
pub(super) const MAX_WIDE_OPS: usize = 64;

/// The most breakpoints that are told apart: a loop in more subranges is short in any case.
pub(super) const MAX_BREAKPOINTS: usize = 64;

/// Fewest bytes of a row: of shorter ones the machine fetches the next by itself, as they lie behind each other.
pub(super) const MIN_PREFETCHED_BYTES: u64 = 1 << 11;

/// Fewest rows of a block: behind the last one another block's are fetched.
pub(super) const MIN_PREFETCHED_ROWS: u64 = 4;

/// Operations up to which the machine looks far enough ahead by itself, as it holds those of several lines in flight.
pub(super) const MAX_UNFETCHED_OPS: usize = 6;

/// Bytes from what the lanes read to what is fetched for them. Of 512, 1024, 2048, 4096 and 8192 measured best on
/// gelu, silu and rope (an Intel Xeon with 480 MiB of last-level cache), though not by much.
pub(super) const PREFETCH_BYTES: usize = 1 << 11;
