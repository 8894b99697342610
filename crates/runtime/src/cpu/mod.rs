//! What CPU kernels run on, threads and memory; the cache of their code, and its names for `perf`; and what a library computes in their place.
//!
//! Knows nothing of kernels or plans.

pub mod alloc;
pub mod external;
pub mod objects;
pub(crate) mod perf_map;
pub mod pool;
