//! The representation of programs: array views, graphs and their texts, definitions. No backend, no I/O, no semantics.
//!
//! `draws` (random choices, for tests) · `parallel`, `interrupt` (work on several threads, and its end) serve all crates above.

pub mod array;
pub mod definition;
pub mod draws;
pub mod graph;
pub mod interrupt;
pub mod parallel;
mod span;

pub use span::{Diagnostic, Span};
