//! CPU code: a kernel program to LLVM IR, and to callable code by way of `llvm`.
//!
//! Takes no decision about the kernel but those that `analyses` lists, and needs no LLVM to build.

mod analyses;
pub mod compiled;
pub mod emit;
pub mod externals;
mod isa;

pub use compiled::{CompiledKernel, Error, SCRATCH_UNIT, compile_kernel};
pub use emit::{Module, emit};
pub use isa::Isa;
