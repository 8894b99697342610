//! Ops of nvFuser's language that are refused, each with the reason.

/// By name, what an op is that makes it no op here.
const REFUSED: &[(&str, &str)] = &[
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

/// Why the op called `name` is refused, if it is one of these.
pub fn refused(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, why)| *why)
}
