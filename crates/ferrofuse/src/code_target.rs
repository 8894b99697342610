//! The machines that code can be made for, by their names for users, and the facts that decisions depend on.

use std::fmt;
use std::str::FromStr;

use ir::definition::Definition;
use ir::graph::Fusion;
use llvm::CpuTarget;
use runtime::Machine;
use scheduler::hints::Hints;
use target::Target;

use crate::languages::{CUDA_CPP, LANGUAGES, Language};

/// A machine to make code for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeTarget {
    /// A CPU.
    Cpu(CpuTarget),
    /// A machine of a language of the C family, such as a GPU of NVIDIA's, by its own name or that of its architecture.
    Gpu(&'static str),
}

/// A name that is no target of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = CodeTarget::all().map(CodeTarget::name).collect();
        write!(f, "unknown target `{}`; known are {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownTarget {}

impl CodeTarget {
    /// The machine this runs on.
    pub const HOST: CodeTarget = CodeTarget::Cpu(CpuTarget::Host);

    /// The GPU that code is made for if none is named.
    pub const CUDA: CodeTarget = CodeTarget::Gpu(CUDA_CPP.usual_target);

    /// All targets: CPUs, architectures of GPUs, and GPUs.
    pub fn all() -> impl Iterator<Item = CodeTarget> {
        let gpus = LANGUAGES.iter().flat_map(|language| {
            let mut names: Vec<&str> = language.models.iter().map(|model| model.architecture).collect();
            names.dedup();
            names.extend(language.models.iter().map(|model| model.name));
            names
        });
        CpuTarget::ALL.into_iter().map(CodeTarget::Cpu).chain(gpus.map(CodeTarget::Gpu))
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CodeTarget::Cpu(cpu) => cpu.name(),
            CodeTarget::Gpu(name) => name,
        }
    }

    /// The architecture of a GPU, as in `sm_90`.
    pub fn architecture(self) -> Option<&'static str> {
        match self {
            CodeTarget::Cpu(_) => None,
            CodeTarget::Gpu(name) => Language::of(name).map(|(_, model)| model.architecture),
        }
    }

    /// The language that kernels for it are written in, if it is one of the C family.
    pub(crate) fn language(self) -> Option<&'static Language> {
        match self {
            CodeTarget::Cpu(_) => None,
            CodeTarget::Gpu(name) => Language::of(name).map(|(language, _)| language),
        }
    }

    /// The fusion that text is emitted for: on a GPU, for calls whose rows are whole vectors if the expected ones are.
    pub fn fusion(self, definition: &Definition, hints: &Hints) -> Fusion {
        match self {
            CodeTarget::Cpu(_) => definition.fusion.clone(),
            CodeTarget::Gpu(_) => hints.with_gpu_rows(&definition.graph, &definition.fusion),
        }
    }

    /// The facts that the compiler needs; for CPUs, a machine's libLLVM provides them.
    pub fn facts_on(self, machine: &Machine) -> Target {
        match self {
            CodeTarget::Cpu(cpu) => machine.target(cpu),
            CodeTarget::Gpu(_) => self.facts(|| machine.target(CpuTarget::Host)),
        }
    }

    /// The facts that the compiler needs; `host` returns those of this machine.
    pub fn facts(self, host: impl FnOnce() -> Target) -> Target {
        match self {
            CodeTarget::Cpu(CpuTarget::Host) => host(),
            CodeTarget::Cpu(CpuTarget::X86_64 | CpuTarget::Aarch64) => Target::cpu(128),
            CodeTarget::Cpu(CpuTarget::Avx2) => Target::cpu(256),
            CodeTarget::Cpu(CpuTarget::Avx512) => Target::cpu(512),
            CodeTarget::Gpu(name) => {
                Language::of(name).map_or_else(Target::cuda, |(_, model)| Target::gpu(model))
            }
        }
    }
}

impl FromStr for CodeTarget {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<CodeTarget, UnknownTarget> {
        CodeTarget::all().find(|target| target.name() == name).ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}
