//! CPU code: LLVM found at run time, and the loader that makes its objects callable.
//!
//! Takes LLVM IR as text and gives machine code, assembly or optimised IR. Takes no decision about the
//! kernel, and needs no LLVM to build.

pub mod llvm;
pub mod object;
