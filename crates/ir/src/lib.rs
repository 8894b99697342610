//! What a program is: array views, graphs and their texts, definitions. No backend, no I/O, no meaning.

pub mod array;
pub mod definition;
pub mod graph;
pub mod interrupt;
pub mod parallel;
mod span;

pub use span::{Diagnostic, Span};
