//! What a program is: array views, graphs, kernels and their texts, definitions. No backend, no I/O, no meaning.

pub mod array;
pub mod beside;
pub mod definition;
pub mod graph;
pub mod interrupt;
pub mod kernel;
mod span;

pub use span::{Diagnostic, Span};
