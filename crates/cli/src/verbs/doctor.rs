//! `ferrofuse doctor`: what was found on this machine, and the command that installs what is missing.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use codegen::cpu::Isa;
use cpu::pool::Pool;
use cuda::{CublasLt, Cuda, LibraryPaths, Nvrtc};
use ferrofuse::{CacheOptions, CpuFacts, ObjectCache, table};
use llvm::{CpuTarget, Llvm, LlvmOptions};

use crate::failure::{Failure, Outcome};
use crate::verbs::cache::summary;

/// Say what was found: libLLVM, the CPU's vectors, GPUs, threads, targets.
#[derive(Args)]
pub struct Options {}

/// Files and folders that persist between processes, if they exist.
pub struct Kept {
    pub facts: Option<PathBuf>,
    pub cache: Option<CacheOptions>,
}

/// Writes what was found.
pub fn run(
    _: &Options,
    llvm: &LlvmOptions,
    nvidia: &LibraryPaths,
    kept: Kept,
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
        ("facts", facts(found.as_ref().ok(), kept.facts.as_deref())),
        ("cache", kept.cache.map_or_else(|| "none: each process compiles anew".to_owned(), code)),
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

/// The library for products of matrices.
fn products(paths: &LibraryPaths) -> String {
    CublasLt::open(paths).map_or_else(|error| format!("none: {error}"), |library| library.to_string())
}

/// The cost model's facts about the machine, and their source.
fn facts(llvm: Option<&Llvm>, path: Option<&Path>) -> String {
    const MEASURE: &str = "`ferrofuse bench --calibrate` measures this machine";
    let facts = match path.map(CpuFacts::read) {
        Some(Ok(facts)) => facts,
        Some(Err(error)) => return format!("none: {error}"),
        None => None,
    };
    let (Some(facts), Some(path)) = (facts, path) else {
        return format!("what is usual of CPUs; {MEASURE}");
    };
    let (cpu, threads) = (llvm.map(|llvm| llvm.spec(CpuTarget::Host)), Pool::new(None).threads());
    let are_of_this = cpu.is_some_and(|spec| facts.are_of(spec.cpu(), threads));
    let CpuFacts { cpu, threads, bandwidth, .. } = &facts;
    let measured =
        format!("{cpu} with {threads} threads, {:.1} GB/s, in {}", bandwidth / 1e9, path.display());
    match are_of_this {
        true => measured,
        false => format!("what is usual of CPUs: {measured} are another machine's; {MEASURE}"),
    }
}

/// The cache of machine code, or why it is not used.
fn code(options: CacheOptions) -> String {
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

/// The CPU, and those of its features that kernels use.
fn vectors(llvm: &Llvm) -> String {
    const TELLING: [&str; 8] = ["sse4.2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bf16", "neon"];
    let spec = llvm.spec(CpuTarget::Host);
    let features: Vec<&str> = TELLING.into_iter().filter(|feature| spec.lists(feature)).collect();
    let bits = Isa::new(llvm, CpuTarget::Host).vector_bits;
    format!("{}, vectors of {bits} bits, {}", spec.cpu(), features.join(" "))
}
