//! The CPU without its kernels: threads that call and compile kernels, their memory, the cache of their code (GPUs' too) and
//! its names for `perf`, and external ops.
//!
//! `pool` (threads) · `side_by_side` (threads for a list) · `last_call` (a cache that nobody waits for) · `alloc` (memory) ·
//! `fork` (sections that it waits for) · `background` (work that outlives an interrupted caller) · `generator` (the state
//! of random numbers) · `objects` (cached code) · `perf_map` · `external` (library ops) · `limits` (what the system says of
//! memory and caches) · `facts` (measurements). Knows no plans, and calls no kernel.

pub mod alloc;
pub mod background;
pub mod external;
pub mod facts;
pub mod fork;
pub mod generator;
pub mod last_call;
pub mod limits;
pub mod objects;
pub mod perf_map;
pub mod pool;
pub mod side_by_side;

#[cfg(test)]
mod tests;
