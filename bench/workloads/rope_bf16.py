# Rotary position embedding: each head's first and second half are rotated against each other. Slices and a cat are
# index maps of one kernel.
def rope(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, -1, 128], contiguity=True, dtype=DataType.BFloat16)
    cos = fd.define_tensor(shape=[-1, 128], contiguity=True, dtype=DataType.BFloat16)
    sin = fd.define_tensor(shape=[-1, 128], contiguity=True, dtype=DataType.BFloat16)
    batch, heads, tokens, width = fd.ops.shape(x)
    first = fd.ops.slice(x, start_indices=[0, 0, 0, 0], end_indices=[batch, heads, tokens, 64])
    second = fd.ops.slice(x, start_indices=[0, 0, 0, 64], end_indices=[batch, heads, tokens, 128])
    rotated = fd.ops.cat([fd.ops.cast(fd.ops.neg(second), dtype=DataType.BFloat16), first], dim=3)
    cos_wide = fd.ops.broadcast_in_dim(cos, shape=[batch, heads, tokens, width], broadcast_dims=[2, 3])
    sin_wide = fd.ops.broadcast_in_dim(sin, shape=[batch, heads, tokens, width], broadcast_dims=[2, 3])
    result = fd.ops.add(fd.ops.mul(x, cos_wide), fd.ops.mul(rotated, sin_wide))
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))


inputs = [
    torch.randn((1, 32, 1024, 128), dtype=torch.bfloat16),
    torch.randn((1024, 128), dtype=torch.bfloat16),
    torch.randn((1024, 128), dtype=torch.bfloat16),
]
