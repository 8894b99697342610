//! Ops of nvFuser's language that are rejected, each with the reason.

/// Unsupported ops by name, each with the reason.
const REJECTED: &[(&str, &str)] = &[
    ("scaled_mm", BLOCK_SCALED),
    ("cutlass_nvfp4_grouped_mm", BLOCK_SCALED),
    ("nv_block_quantize", QUANTIZED),
    ("nv_grouped_block_quantize", QUANTIZED),
    ("preprocess_grouped_matmul_input_sf", SWIZZLED),
];

const BLOCK_SCALED: &str =
    "for NVIDIA GPUs alone: it multiplies block-scaled formats, which their tensor cores hold";
const QUANTIZED: &str =
    "for NVIDIA GPUs alone: it makes the block-scaled formats that their tensor cores multiply";
const SWIZZLED: &str =
    "for NVIDIA GPUs alone: it lays out scales as their tensor cores read block-scaled formats";

/// Why the op called `name` is rejected, if it is one of these.
pub fn rejected(name: &str) -> Option<&'static str> {
    REJECTED.iter().find(|(rejected, _)| *rejected == name).map(|(_, why)| *why)
}
