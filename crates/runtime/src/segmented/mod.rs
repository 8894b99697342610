//! A definition that runs as a chain of definitions, its segments: each has an executable; they run in order.
//!
//! Takes the definition that inputs are checked against and its segments; a value that one makes for others is freed after
//! its last reader. `parts` (the elements of a chain) · `slots` (values between segments) · `account` (the report of a timed
//! call) · `in_place` (outputs that are written to inputs) · `late_copies` (outputs that are copied at the end) ·
//! `executable` (calls) · `on_gpu` (calls on tensors of a GPU) · `placed_on_gpu` (outputs that segments write directly to
//! their destination).

mod account;
mod executable;
mod in_place;
mod late_copies;
mod on_gpu;
mod parts;
mod placed_on_gpu;
mod slots;

pub use executable::SegmentedExecutable;
pub use parts::{SegmentDefinition, SegmentInput};
