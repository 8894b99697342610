//! What code depends on besides its IR: the libLLVM and the CPU. Plain data, so that it can be stored, and the library need
//! not be opened if all code is cached.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A libLLVM on a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The library's file, or the name under which it was found if the system does not tell the file.
    pub file: PathBuf,
    /// Major, minor and patch version.
    pub version: (u32, u32, u32),
    /// LLVM's name of the machine's CPU.
    pub host_cpu: String,
    /// LLVM's list of the CPU's features.
    pub host_features: String,
}
