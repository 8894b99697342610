//! What the environment says: the only file that reads it. Everything else is told by options.

#![allow(clippy::disallowed_methods, reason = "forbidden elsewhere so that it is done here")]

use std::env;
use std::path::PathBuf;

use cuda::LibraryPaths;
use ferrofuse::{CacheOptions, CpuFacts};
use llvm::LlvmOptions;

/// Where libLLVM is: as the option says, else as `FERROFUSE_LIBLLVM` says, else in the usual places. A path at which
/// there is none, such as `none`, does without.
pub fn llvm_options(option: Option<PathBuf>) -> LlvmOptions {
    LlvmOptions { path: option.or_else(|| env::var_os("FERROFUSE_LIBLLVM").map(PathBuf::from)) }
}

/// Where NVIDIA's libraries are: as `FERROFUSE_LIBCUDA`, `FERROFUSE_LIBNVRTC` and `FERROFUSE_LIBCUBLASLT` say, else in the usual places.
pub fn cuda_libraries() -> LibraryPaths {
    let path = |name| env::var_os(name).map(PathBuf::from);
    LibraryPaths {
        cuda: path("FERROFUSE_LIBCUDA"),
        nvrtc: path("FERROFUSE_LIBNVRTC"),
        cublaslt: path("FERROFUSE_LIBCUBLASLT"),
        folders: Vec::new(),
    }
}

/// Where what was measured of the machine is kept, if anywhere: see [`CpuFacts::path_of_environment`].
pub fn facts_path() -> Option<PathBuf> {
    CpuFacts::path_of_environment(|name| env::var_os(name))
}

/// Where machine code is kept, if anywhere: see [`CacheOptions::of_environment`].
pub fn cache_options() -> Option<CacheOptions> {
    CacheOptions::of_environment(|name| env::var_os(name))
}

/// Whether kernels shall have names in `perf`: `FERROFUSE_PERF=1`.
pub fn perf_map() -> bool {
    is_set("FERROFUSE_PERF")
}

/// Whether file tests shall be rewritten to what is: `BLESS=1`.
pub fn bless() -> bool {
    is_set("BLESS")
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}
