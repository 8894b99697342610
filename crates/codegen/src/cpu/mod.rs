//! CPU code: a kernel program to LLVM IR, and to callable code by way of `llvm`.
//!
//! Takes no decision about the kernel, and needs no LLVM to build.

pub mod compiled;
pub mod emit;
pub mod externals;

pub use compiled::{CompiledKernel, Error, SCRATCH_UNIT, compile_kernel};
pub use emit::{Isa, Module, emit};
