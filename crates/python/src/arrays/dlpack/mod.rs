//! DLPack: arrays of other libraries in, memory of ours out.
//!
//! `tensor` (the structures that describe an array, and what is taken of them) · `capsule` (the protocol's first version, which
//! every library has) · `exchange` (its table of C functions, which takes a quarter of the time where a library has it: torch
//! from 2.10 on). Layouts and rules of ownership are those of `dlpack.h` (github.com/dmlc/dlpack, 1.3).

mod capsule;
mod exchange;
mod tensor;

pub use capsule::{Imported, export};
pub use exchange::{Borrowed, Exchange};
pub use tensor::Device;
