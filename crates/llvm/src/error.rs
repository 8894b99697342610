//! Errors between LLVM IR and machine code, and whose fault they are.

use std::path::PathBuf;

/// The oldest LLVM whose code generator handles bf16 without crashing.
pub(crate) const OLDEST: u32 = 19;

/// The command that installs it on Debian and Ubuntu.
pub(crate) const INSTALL: &str = "apt-get install libllvm19";

/// Everything that can fail while finding libLLVM or compiling with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No library of any of these names could be opened: the machine lacks LLVM.
    #[error("libLLVM was not found (tried {}); install it with `{hint}`", .tried.join(", "))]
    NotFound {
        /// The names or paths given to the dynamic loader, in order.
        tried: Vec<String>,
        /// The command that installs it on Debian and Ubuntu.
        hint: &'static str,
    },
    /// The file exists, but the dynamic loader rejects it.
    #[error("{} cannot be loaded: {reason}", .path.display())]
    Unloadable {
        /// The library.
        path: PathBuf,
        /// The dynamic loader's words.
        reason: String,
    },
    /// The library loads but is no LLVM, or so old that it cannot say its version (before 16).
    #[error("{} is not libLLVM, or is older than LLVM 16; version {OLDEST} or newer is needed: `{INSTALL}`", .path.display())]
    NotLlvm {
        /// The library.
        path: PathBuf,
    },
    /// An LLVM whose code generator is known to crash on our code.
    #[error("{} is LLVM {}.{}.{}; version {OLDEST} or newer is needed: `{INSTALL}`", .path.display(), .version.0, .version.1, .version.2)]
    TooOld {
        /// The library.
        path: PathBuf,
        /// Major, minor and patch version.
        version: (u32, u32, u32),
    },
    /// An LLVM from which a function we call has gone.
    #[error("{} has no function {symbol}", .path.display())]
    MissingSymbol {
        /// The library.
        path: PathBuf,
        /// The function of LLVM's C interface.
        symbol: String,
    },
    /// The file is no longer the library that was last opened.
    #[error("{} was replaced while it was in use; run again", .path.display())]
    Changed {
        /// The library.
        path: PathBuf,
    },
    /// A target name that is none of ours.
    #[error("unknown CPU target `{name}`; known are host, x86-64, avx2, avx512, aarch64")]
    UnknownTarget { name: String },
    /// This libLLVM was built without the target, or rejects the machine.
    #[error("libLLVM cannot generate code for {triple}: {message}")]
    Target { triple: String, message: String },
    /// The text is not LLVM IR.
    #[error("LLVM IR does not parse: {message}")]
    Parse {
        /// LLVM's words, with the guilty line and a caret.
        message: String,
        /// The guilty line, counted from 1, where LLVM names one.
        line: Option<u32>,
    },
    /// The module parses but breaks a rule of LLVM IR.
    #[error("LLVM IR is not valid: {message}")]
    Verify { message: String },
    /// An optimisation pass failed.
    #[error("LLVM's passes failed: {message}")]
    Passes { message: String },
    /// The code generator failed.
    #[error("LLVM's code generator failed: {message}")]
    Codegen { message: String },
}
