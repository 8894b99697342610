//! The representation of programs: array views, graphs and their texts, definitions. No backend, no I/O, no semantics.

pub mod array;
pub mod definition;
pub mod graph;
pub mod interrupt;
pub mod parallel;
mod span;

pub use span::{Diagnostic, Span};
