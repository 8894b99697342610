//! What a program is: graphs, views, kernels, their texts and their meaning. No backend, no I/O.

pub mod array;
pub mod define;
pub mod dtype;
pub mod graph;
pub mod index;
pub mod interrupt;
pub mod kernel;
mod lanes;
pub mod literal;
pub mod ops;
pub mod philox;
pub mod scalar;
pub mod small_float;
pub mod span;
pub mod text;

pub use dtype::DType;
pub use scalar::Scalar;
pub use span::{Diagnostic, Span};
