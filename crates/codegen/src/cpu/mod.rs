//! CPU code: a kernel program to LLVM IR, LLVM found at run time, and the loader that makes its objects callable.
//!
//! Takes kernel programs and gives LLVM IR, assembly or callable code. Takes no decision about the kernel, and needs no
//! LLVM to build.

pub mod compiled;
pub mod emit;
pub mod externals;
pub mod llvm;
pub mod object;

pub use compiled::{CompiledKernel, Error, SCRATCH_UNIT, compile_kernel};
pub use emit::{Isa, Module, emit};
