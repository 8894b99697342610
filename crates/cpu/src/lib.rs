//! What runs on the CPU beside kernels: their threads and memory, the cache of their code and its names for `perf`, and what a
//! library computes in their place.
//!
//! `pool` (threads) · `alloc` (memory) · `fork` (what it waits for) · `objects` (cached code) · `perf_map` · `external` (library
//! ops). Knows no plans, and calls no kernel.

pub mod alloc;
pub mod external;
pub mod fork;
pub mod objects;
pub mod perf_map;
pub mod pool;

#[cfg(test)]
mod tests;
