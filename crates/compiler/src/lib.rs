//! The compiler: graph passes, segments, and a kernel for each. Pure functions: no I/O, no clock, no environment.
//!
//! `pipeline` (the compiler on a page) · `plan` (its result) · `certificate` (how close that is to the best) · `baseline` (what to compare it with) · `passes`
//! (graph passes) · `products` (of matrices: by a library or a kernel) · `distribution` (lambdas: as one fold or several) ·
//! `softmaxes` (as one fold or two) · `batch` (what one launch runs) · `outputs` and `in_place` (the buffers of outputs).
//! A plan describes segments and kernels by values of `segmenter`, `scheduler` and `lowering`.

mod baseline;
mod batch;
mod certificate;
mod distribution;
mod in_place;
pub mod outputs;
pub mod passes;
pub mod pipeline;
pub mod plan;
mod products;
mod softmaxes;

pub use baseline::Baseline;
pub use certificate::Certificate;
pub use distribution::Distribution;
pub use pipeline::{cut, evaluated, plan};
pub use plan::{Cut, Decision, Kernels, Plan, PlanError, PlanOptions, PlanRequest, SegmentId, SegmentPlan};
pub use products::{JudgedProducts, ShallowProduct};
pub use softmaxes::Softmaxes;
