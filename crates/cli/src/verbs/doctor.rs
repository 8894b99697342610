//! `ferrofuse doctor`: what was found on this machine, and the command that mends what is missing.

use std::io::Write;

use clap::Args;
use codegen::cpu::Isa;
use cpu::pool::Pool;
use cuda::{CublasLt, Cuda, LibraryPaths, Nvrtc};
use ferrofuse::{CacheOptions, ObjectCache, table};
use llvm::{CpuTarget, Llvm, LlvmOptions};

use crate::failure::{Failure, Outcome};
use crate::verbs::cache::summary;

/// Say what was found: libLLVM, the CPU's vectors, GPUs, threads, targets.
#[derive(Args)]
pub struct Options {}

/// Writes what was found.
pub fn run(
    _: &Options,
    llvm: &LlvmOptions,
    nvidia: &LibraryPaths,
    cache: Option<CacheOptions>,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let found = Llvm::open(llvm);
    let (library, vectors) = match &found {
        Ok(llvm) => (library(llvm), vectors(llvm)),
        Err(error) => {
            (format!("none; everything runs on the evaluator, slowly: {error}"), "unknown".to_owned())
        }
    };
    let (driver, nvrtc) = (gpus(nvidia), compiler(nvidia));
    let targets = CpuTarget::ALL.map(CpuTarget::name).join(", ");
    let rows = [
        ("libLLVM", library),
        ("CPU", vectors),
        ("NVIDIA GPUs", driver),
        ("NVRTC", nvrtc),
        ("cuBLASLt", products(nvidia)),
        ("threads", Pool::new(None).threads().to_string()),
        ("targets", format!("{targets}; CUDA C++ as text")),
        ("cache", cache.map_or_else(|| "none: each process compiles anew".to_owned(), kept)),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    write!(out, "{}", table::columns(&rows))?;
    Ok(Outcome::Fine)
}

/// The GPUs and the driver, or why there are none.
fn gpus(paths: &LibraryPaths) -> String {
    match Cuda::driver(paths) {
        Ok(driver) => driver.to_string(),
        Err(error) => format!("none: {error}"),
    }
}

/// The compiler of CUDA C++.
fn compiler(paths: &LibraryPaths) -> String {
    Nvrtc::open(paths).map_or_else(|error| format!("none: {error}"), |nvrtc| nvrtc.to_string())
}

/// The library that multiplies matrices.
fn products(paths: &LibraryPaths) -> String {
    CublasLt::open(paths).map_or_else(|error| format!("none: {error}"), |library| library.to_string())
}

/// The cache of machine code, or why it is not used.
fn kept(options: CacheOptions) -> String {
    let folder = options.folder.clone();
    match ObjectCache::open(options) {
        Ok(cache) => summary(&cache),
        Err(error) => format!("none: {}: {error}", folder.display()),
    }
}

fn library(llvm: &Llvm) -> String {
    let (major, minor, patch) = llvm.version();
    format!("{major}.{minor}.{patch}, {}", llvm.path().display())
}

/// The CPU, and those of its features that kernels are made for.
fn vectors(llvm: &Llvm) -> String {
    const TELLING: [&str; 8] = ["sse4.2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bf16", "neon"];
    let spec = llvm.spec(CpuTarget::Host);
    let features: Vec<&str> = TELLING.into_iter().filter(|feature| spec.lists(feature)).collect();
    let bits = Isa::new(llvm, CpuTarget::Host).vector_bits;
    format!("{}, vectors of {bits} bits, {}", spec.cpu(), features.join(" "))
}
