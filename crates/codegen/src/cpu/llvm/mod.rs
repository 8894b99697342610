//! libLLVM, found at run time: textual IR in; object code, assembly or optimised IR out.
//!
//! [`Llvm::open`] finds the library and [`Llvm::compile`] compiles one module. Nothing here links against
//! LLVM, caches results or knows what a kernel means.

mod compile;
mod error;
mod identity;
mod library;
mod owned;
mod target;

pub use compile::{Compiled, Llvm, LlvmOptions, Output, Times};
pub use error::Error;
pub use identity::Identity;
pub use target::{CpuTarget, OptLevel, TargetMachineSpec};

#[cfg(test)]
mod tests;
