"""The names of nvFuser's language, those of them that stand for one maker's hardware, and those that are missing."""

NVFUSER = """
abs acos acosh add addcmul argsort asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor broadcast broadcast_in_dim cast cat ceil clamp complex cos cosh cummax cummin cumprod cumsum
cutlass_nvfp4_grouped_mm div embedding_fwd eq erf erfc erfcinv erfinv exp exp2 expand expm1 floor fmod frac full gather gcd ge
grouped_mm gt imag index_select iota isfinite isinf isnan isneginf isposinf isreal le lerp lgamma linear log log10 log1p log2
logical_and logical_not logical_or logical_right_shift lt matmul max maximum min minimum mod mul ne neg nextafter normal
nv_block_quantize nv_grouped_block_quantize pad permute pow preprocess_grouped_matmul_input_sf prod rand_like randn_like real
reciprocal relu remainder reshape round rsqrt scaled_mm scatter sdpfa_bwd sdpfa_fwd segment_set select set shape sigmoid sign
signbit silu sin sinh size slice sqrt squeeze stride_order sub sum take_along_axis tan tanh threshold topk triu truediv trunc
uniform var var_mean welford where
""".split()

# Block-scaled formats and matmuls that only NVIDIA's libraries have.
NVIDIA_ONLY = """
cutlass_nvfp4_grouped_mm nv_block_quantize nv_grouped_block_quantize preprocess_grouped_matmul_input_sf scaled_mm
""".split()

# What is still to be written. An op that is there may not stand here.
MISSING = """
""".split()
