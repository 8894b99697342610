//! A definition that runs as a chain of definitions, its segments: each has an executable; they run in order.
//!
//! Takes the definition that inputs are checked against and its segments; a value that one makes for others is freed after
//! its last reader. `parts` (the elements of a chain) · `slots` (values between segments) · `in_place` (outputs that are
//! written to inputs) · `late_copies` (outputs that are copied at the end) · `executable` · `engine` (where a call runs) ·
//! `held` (contents of slots) · `call` · `destinations` (the caller's memory for outputs) · `account` (the report of a timed
//! call) · `on_host`, `on_gpu` (calls on arrays of the host, and on tensors of a GPU).

mod account;
mod call;
mod destinations;
mod engine;
mod executable;
mod fit;
mod held;
mod in_place;
mod late_copies;
mod on_gpu;
mod on_host;
mod parts;
mod slots;

pub use executable::SegmentedExecutable;
pub use fit::require_segments;
pub use parts::{SegmentDefinition, SegmentInput};
