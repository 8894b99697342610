//! The representation of programs: array views, graphs and their texts, definitions. No backend, no I/O, no semantics.
//!
//! For all crates above there is `interrupt` (work that the caller may stop).

pub mod array;
pub mod definition;
pub mod graph;
pub mod interrupt;
mod span;

pub use span::{Diagnostic, Span};
