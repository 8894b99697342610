//! Environment variables: only this file reads them. Everything else gets options.

#![allow(clippy::disallowed_methods, reason = "forbidden elsewhere so that it is done here")]

use std::env;
use std::path::PathBuf;

use cuda::LibraryPaths;
use ferrofuse::{CacheOptions, CpuFacts};
use llvm::LlvmOptions;

/// The place of libLLVM: that of the option, else that of `FERROFUSE_LIBLLVM`, else the usual places. A path without a file,
/// such as `none`, means to do without.
pub fn llvm_options(option: Option<PathBuf>) -> LlvmOptions {
    LlvmOptions {
        path: option
            .or_else(|| env::var_os("FERROFUSE_LIBLLVM").filter(|path| !path.is_empty()).map(PathBuf::from)),
    }
}

/// The places of NVIDIA's libraries: see [`LibraryPaths::of_environment`].
pub fn cuda_libraries() -> LibraryPaths {
    LibraryPaths::of_environment(|name| env::var_os(name), Vec::new())
}

/// The file of measured facts about the machine, if there is any: see [`CpuFacts::path_of_environment`].
pub fn facts_path() -> Option<PathBuf> {
    CpuFacts::path_of_environment(|name| env::var_os(name))
}

/// The folder of cached machine code, if there is any: see [`CacheOptions::of_environment`].
pub fn cache_options() -> Option<CacheOptions> {
    CacheOptions::of_environment(|name| env::var_os(name))
}

/// Whether kernels get names in `perf`: `FERROFUSE_PERF=1`.
pub fn perf_map() -> bool {
    is_set("FERROFUSE_PERF")
}

/// Whether file tests are rewritten to the actual results: `BLESS=1`.
pub fn bless() -> bool {
    is_set("BLESS")
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}
