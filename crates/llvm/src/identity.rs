//! What code depends on besides its IR: which libLLVM on which CPU. Plain data, so that it can be kept and spare
//! opening the library where all code is already there.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A libLLVM on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The library's file, or the name under which it was found where the system does not tell the file.
    pub file: PathBuf,
    /// Major, minor and patch version.
    pub version: (u32, u32, u32),
    /// LLVM's name of the machine's CPU.
    pub host_cpu: String,
    /// LLVM's list of the CPU's features.
    pub host_features: String,
}
