//! LLVM as a library, opened at run time: textual IR in; object code, assembly, optimised IR or callable code out.
//!
//! [`Llvm::open`] finds libLLVM and [`Llvm::compile`] compiles one module; [`loader`] makes its objects callable. Nothing
//! here links against LLVM, caches results or knows what a kernel means.

mod at_exit;
mod compile;
mod error;
mod identity;
mod library;
pub mod loader;
mod owned;
mod target;

pub use compile::{Compiled, Llvm, LlvmOptions, Output, Times};
pub use error::Error;
pub use identity::Identity;
pub use target::{CpuTarget, TargetMachineSpec};

#[cfg(test)]
mod tests;
