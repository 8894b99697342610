//! What the environment says: the only file that reads it. Everything else is told by options.

#![allow(clippy::disallowed_methods, reason = "forbidden elsewhere so that it is done here")]

use std::env;
use std::path::PathBuf;

use codegen::cpu::llvm::LlvmOptions;

/// Where libLLVM is: as the option says, else as `FERROFUSE_LIBLLVM` says, else in the usual places. A path at which
/// there is none, such as `none`, does without.
pub fn llvm_options(option: Option<PathBuf>) -> LlvmOptions {
    LlvmOptions { path: option.or_else(|| env::var_os("FERROFUSE_LIBLLVM").map(PathBuf::from)) }
}

/// Whether file tests shall be rewritten to what is: `BLESS=1`.
pub fn bless() -> bool {
    env::var_os("BLESS").is_some_and(|value| !value.is_empty() && value != "0")
}
