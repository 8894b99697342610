//! Environment variables: the only file of the package that reads them.

#![allow(clippy::disallowed_methods, reason = "forbidden elsewhere so that it is done here")]

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use cuda::LibraryPaths;
use ferrofuse::{CacheOptions, CpuFacts, CpuTarget, LlvmOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A variable that is set, and not to nothing.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The place of libLLVM: that of `FERROFUSE_LIBLLVM`, else the usual places.
pub fn llvm_options() -> LlvmOptions {
    LlvmOptions { path: set("FERROFUSE_LIBLLVM").map(PathBuf::from) }
}

/// The places of NVIDIA's libraries: see [`LibraryPaths::of_environment`].
pub fn cuda_libraries(folders: Vec<PathBuf>) -> LibraryPaths {
    LibraryPaths::of_environment(|name| env::var_os(name), folders)
}

/// Whether tracebacks show the package's own frames: `FERROFUSE_TRACEBACK=full`.
#[pyfunction]
pub fn full_tracebacks() -> bool {
    env::var_os("FERROFUSE_TRACEBACK").is_some_and(|said| said == "full")
}

/// The file of measured facts about the machine, if there is any: see [`CpuFacts::path_of_environment`].
pub fn facts_path() -> Option<PathBuf> {
    CpuFacts::path_of_environment(|name| env::var_os(name))
}

/// The folder of cached machine code, if there is any: see [`CacheOptions::of_environment`].
pub fn cache_options() -> Option<CacheOptions> {
    CacheOptions::of_environment(|name| env::var_os(name))
}

/// The CPU that kernels are made for: that in `FERROFUSE_TARGET`, else the host.
///
/// # Errors
/// `ValueError` for a name that is none of a CPU's.
pub fn cpu_target() -> PyResult<CpuTarget> {
    let Some(name) = set("FERROFUSE_TARGET") else { return Ok(CpuTarget::Host) };
    CpuTarget::ALL.into_iter().find(|target| name == target.name()).ok_or_else(|| {
        let known: Vec<&str> = CpuTarget::ALL.into_iter().map(CpuTarget::name).collect();
        let name = name.to_string_lossy();
        PyValueError::new_err(format!(
            "FERROFUSE_TARGET: unknown CPU `{name}`; known are {}",
            known.join(", ")
        ))
    })
}
