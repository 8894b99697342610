//! What code generation must know about an instruction set: which forms select well. Takes a libLLVM target.

use std::fmt;

use llvm::{CpuTarget, Llvm, TargetMachineSpec};

/// A target and the features that change which IR is written for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isa {
    spec: TargetMachineSpec,
    /// Bits of the widest vector registers.
    pub vector_bits: u32,
    /// Fused multiply-add is an instruction.
    pub fma: bool,
    /// Conversions between f16 and f32 are instructions.
    pub f16_conversions: bool,
    /// Vectors of floats convert to integers in one instruction that saturates.
    pub saturating_conversions: bool,
    /// AVX-512 F, BW, DQ and VL are there.
    pub avx512: bool,
    /// AVX-512 BF16 is there, too.
    pub bf16_conversions: bool,
    /// Vectors can be stored non-temporally.
    pub non_temporal_stores: bool,
}

impl Isa {
    /// Lanes of which the even and the odd ones fill a register of f32 each.
    pub(crate) fn group(&self) -> u32 {
        2 * self.vector_bits / 32
    }

    /// The instruction set that `target` means here.
    pub fn new(llvm: &Llvm, target: CpuTarget) -> Isa {
        let spec = llvm.spec(target);
        let host = target == CpuTarget::Host;
        let arm = spec.triple().starts_with("aarch64");
        let has = |level: &[CpuTarget], features: &[&str]| {
            level.contains(&target) || (host && features.iter().all(|feature| spec.lists(feature)))
        };
        let avx512 = has(&[CpuTarget::Avx512], &["avx512f", "avx512bw", "avx512dq", "avx512vl"]);
        let avx2 = avx512 || has(&[CpuTarget::Avx2], &["avx2"]);
        let modern = [CpuTarget::Avx2, CpuTarget::Avx512];
        Isa {
            vector_bits: if avx512 {
                512
            } else if avx2 {
                256
            } else {
                128
            },
            fma: arm || has(&modern, &["fma"]),
            f16_conversions: arm || has(&modern, &["f16c"]),
            saturating_conversions: arm,
            avx512,
            bf16_conversions: avx512 && has(&[], &["avx512bf16"]),
            non_temporal_stores: spec.triple().starts_with("x86_64"),
            spec,
        }
    }

    /// Whether a machine with these instructions runs code that was made for others.
    pub fn runs(&self, other: &Isa) -> bool {
        let architecture = |isa: &Isa| isa.spec.triple().split('-').next().map(str::to_owned);
        architecture(self) == architecture(other)
            && self.vector_bits >= other.vector_bits
            && self.fma >= other.fma
            && self.f16_conversions >= other.f16_conversions
            && self.avx512 >= other.avx512
    }

    /// The target machine for [`Llvm::compile`].
    pub fn spec(&self) -> &TargetMachineSpec {
        &self.spec
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}-bit vectors)", self.spec.cpu(), self.spec.triple(), self.vector_bits)
    }
}
