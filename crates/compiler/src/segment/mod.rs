//! Segments: which values are kept in memory, and which groups of values become one kernel each.

mod legal;
mod witness;

pub use legal::{Refusal, legal};
pub use witness::{Fold, Store, When, Witness};
