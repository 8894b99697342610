//! What CPU kernels run on: threads and memory.
//!
//! Knows nothing of kernels, plans or tensors.

pub mod alloc;
pub mod pool;
