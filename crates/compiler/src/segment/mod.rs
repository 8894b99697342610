//! Segments: which values are kept in memory, and which groups of values become one kernel each.
//!
//! `legal` (can a group be one kernel, with the `witness`) · `cost` (bytes and seconds) · `segmentation` (the value and
//! its text) · `greedy`, `recompute` (how one is found).

pub mod cost;
mod greedy;
mod legal;
mod recompute;
mod segmentation;
mod witness;

pub use greedy::{greedy, unfused};
pub use legal::{Refusal, legal};
pub use recompute::recompute;
pub use segmentation::{Segmentation, SegmentationError};
pub use witness::{Fold, Store, When, Witness};
