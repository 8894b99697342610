//! How a program gets fast: segments, schedules, lowering. Pure functions: no I/O, no clock, no environment.
//!
//! `space` (the axes a group shares) · `segment` (legality, cost, which groups become kernels) · `schedule` (the
//! choices within a kernel) · `lower` (kernel programs) · `layout`, `target` (facts that decisions rest on).

pub mod layout;
pub mod lower;
pub mod schedule;
pub mod segment;
pub mod space;
pub mod target;
