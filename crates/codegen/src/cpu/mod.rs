//! CPU code: a kernel program to LLVM IR, and by `llvm` to callable code.
//!
//! Makes no decisions about the kernel except those in `analyses`, and needs no LLVM to build.

mod analyses;
mod compiled;
mod emit;
pub mod externals;
mod isa;

pub use compiled::{CompiledKernel, Error, SCRATCH_UNIT, compile_kernel};
pub use emit::{EmitError, Module, emit};
pub use isa::Isa;
