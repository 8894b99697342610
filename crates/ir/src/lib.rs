//! The representation of programs: array views, graphs and their texts, definitions. No backend, no I/O, no semantics.
//!
//! `layout` is how inputs and outputs lie in memory, as far as code depends on it. For all crates above there is `interrupt`
//! (work that the caller may stop).

pub mod array;
pub mod definition;
pub mod graph;
pub mod interrupt;
pub mod layout;
mod span;

pub use span::{Diagnostic, Span};
