//! The representation of programs: array views, graphs and their texts, definitions. No backend, no I/O, no semantics.
//!
//! For all crates above there are `draws` (random choices, for tests), `parallel` and `interrupt` (work on several threads).

pub mod array;
pub mod definition;
pub mod draws;
pub mod graph;
pub mod interrupt;
pub mod parallel;
mod span;

pub use span::{Diagnostic, Span};
