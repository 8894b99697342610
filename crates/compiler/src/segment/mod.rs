//! Segments: which values are kept in memory, and which groups of values become one kernel each.
//!
//! `legal` (can a group be one kernel, with the `witness`) · `library` (groups that a library runs) · `engine` (either) ·
//! `code` (statements of a kernel) · `cost` (bytes and seconds) · `demand` (what is read of inputs) · `segmentation` (the value and
//! its text) · `greedy`, `recompute` (how one is found).

mod code;
pub mod cost;
mod demand;
mod engine;
mod greedy;
mod legal;
mod library;
mod recompute;
mod segmentation;
mod witness;

pub(crate) use code::LARGEST;
pub use demand::Demand;
pub use engine::{Engine, engine};
pub use greedy::{greedy, unfused};
pub use legal::{Refusal, legal};
pub(crate) use library::is_change_of_sight;
pub use library::{LibraryCall, Seen, Source, library_call};
pub use recompute::recompute;
pub use segmentation::{Segmentation, SegmentationError};
pub use witness::{Fold, Store, When, Witness};
