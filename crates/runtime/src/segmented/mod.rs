//! A definition run as a chain of definitions, its segments: each an executable of its own, run in order.
//!
//! Takes the definition that inputs are checked against and the segments of it; what one makes for others is freed after
//! its last reader. `parts` (what a chain is made of) · `slots` (what passes between segments) · `account` (what a timed call
//! did) · `in_place` (outputs that are written to inputs) · `late_copies` (outputs that are copied at the end) · `executable` (calls) ·
//! `on_gpu` (calls on tensors of a GPU) · `placed_on_gpu` (outputs that their segment writes where they go).

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
