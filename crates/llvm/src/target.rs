//! The CPUs that code can be made for.
//!
//! A closed set, because LLVM ends the process when given the name of a CPU it does not know. Gives the
//! triple, CPU name and features that LLVM and the IR's function attributes need; knows no vector widths
//! and no caches.

use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// A CPU to generate code for, by the name users give it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuTarget {
    /// The machine this runs on, with all features it has.
    #[default]
    Host,
    /// Any 64-bit x86: SSE2 only.
    X86_64,
    /// x86-64-v3: AVX2, FMA, F16C, BMI.
    Avx2,
    /// x86-64-v4: AVX-512 F, BW, CD, DQ, VL.
    Avx512,
    /// Any 64-bit Arm: NEON.
    Aarch64,
}

impl CpuTarget {
    /// All targets, in the order in which they are listed to users.
    pub const ALL: [CpuTarget; 5] =
        [CpuTarget::Host, CpuTarget::X86_64, CpuTarget::Avx2, CpuTarget::Avx512, CpuTarget::Aarch64];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            CpuTarget::Host => "host",
            CpuTarget::X86_64 => "x86-64",
            CpuTarget::Avx2 => "avx2",
            CpuTarget::Avx512 => "avx512",
            CpuTarget::Aarch64 => "aarch64",
        }
    }
}

impl fmt::Display for CpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for CpuTarget {
    type Err = Error;

    fn from_str(name: &str) -> Result<CpuTarget, Error> {
        let known = CpuTarget::ALL.into_iter().find(|target| target.name() == name);
        known.ok_or_else(|| Error::UnknownTarget { name: name.to_owned() })
    }
}

/// What LLVM must know about the machine: made by [`Llvm::spec`](super::Llvm::spec).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetMachineSpec {
    triple: String,
    cpu: String,
    features: String,
}

impl TargetMachineSpec {
    /// The spec of `target`, where the host's CPU is called `host_cpu` and has `host_features`.
    pub(crate) fn new(target: CpuTarget, host_cpu: &str, host_features: &str) -> TargetMachineSpec {
        let (arch, cpu, features) = match target {
            CpuTarget::Host => (std::env::consts::ARCH, host_cpu, host_features),
            CpuTarget::X86_64 => ("x86_64", "x86-64", ""),
            CpuTarget::Avx2 => ("x86_64", "x86-64-v3", ""),
            CpuTarget::Avx512 => ("x86_64", "x86-64-v4", ""),
            CpuTarget::Aarch64 => ("aarch64", "generic", ""),
        };
        TargetMachineSpec {
            triple: format!("{arch}-unknown-linux-gnu"),
            cpu: cpu.to_owned(),
            features: features.to_owned(),
        }
    }

    /// A machine of any triple, for the tests of what LLVM rejects.
    #[cfg(test)]
    pub(crate) fn for_test(triple: &str) -> TargetMachineSpec {
        let spec = TargetMachineSpec::new(CpuTarget::X86_64, "", "");
        TargetMachineSpec { triple: triple.to_owned(), ..spec }
    }

    /// The target triple, such as `x86_64-unknown-linux-gnu`.
    pub fn triple(&self) -> &str {
        &self.triple
    }

    /// LLVM's name of the CPU, such as `znver4`.
    pub fn cpu(&self) -> &str {
        &self.cpu
    }

    /// LLVM's feature list, such as `+avx2,-avx512f`; empty where the CPU name says it all.
    pub fn features(&self) -> &str {
        &self.features
    }

    /// Whether a feature is in the list with a plus; false for features that only the CPU name implies.
    pub fn lists(&self, feature: &str) -> bool {
        self.features.split(',').any(|listed| listed.strip_prefix('+') == Some(feature))
    }

    /// The attributes every function of the module needs, as IR text: without them passes fall back to a
    /// baseline CPU when they judge widths and costs.
    pub fn function_attributes(&self) -> String {
        match self.features.as_str() {
            "" => format!("\"target-cpu\"=\"{}\"", self.cpu),
            features => format!("\"target-cpu\"=\"{}\" \"target-features\"=\"{features}\"", self.cpu),
        }
    }
}
