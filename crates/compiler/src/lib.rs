//! How a program gets fast: segments, schedules, lowering. Pure functions: no I/O, no clock, no environment.
//!
//! `plan` (the compiler on a page) · `certificate` (how close to the best) · `passes` (graph passes) · `space` (the axes a
//! group shares) · `segment` (legality, cost, which groups become kernels) · `products` (of matrices: by a library or a
//! kernel) · `distribution` (lambdas: as one fold or several) · `schedule` (the choices within a kernel) · `lower` (kernel
//! programs) · `outputs` and `in_place` (the buffers of outputs) · `hints`, `layout`, `target` (facts that decisions rest on).

mod certificate;
mod distribution;
mod hints;
mod in_place;
pub mod layout;
pub mod lower;
pub mod outputs;
pub mod passes;
pub mod plan;
mod products;
pub mod schedule;
pub mod segment;
pub mod space;
pub mod target;

pub use certificate::Certificate;
pub use distribution::Distribution;
pub use hints::{Hints, WholeRow, row_sizes};
pub use plan::{Decision, Kernels, Plan, PlanError, PlanOptions, SegmentPlan, plan};
pub use products::ShallowProduct;
