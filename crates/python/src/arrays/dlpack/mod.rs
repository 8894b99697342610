//! DLPack: arrays of other libraries in, our memory out.
//!
//! `tensor` (the structures that describe an array, and their contents) · `capsule` (the protocol's first version, which
//! every library has) · `exchange` (its table of C functions, which takes a quarter of the time if a library has it: torch
//! from 2.10 on). Layouts and rules of ownership are those of `dlpack.h` (github.com/dmlc/dlpack, 1.3).

mod capsule;
mod exchange;
mod tensor;

pub use capsule::{Imported, export};
pub use exchange::{Borrowed, Exchange};
pub use tensor::Device;
