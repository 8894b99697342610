# The gradient of rotary position embedding with grouped queries: 32 query heads in 8 groups of 4 that share a key and
# a value. Each half of a head's gradient is padded with zeros to the whole and added to a tensor of zeros, as automatic
# differentiation of two slices leaves it; keys and values are summed over their group; all three are put side by side
# as the projection made them. The zeros are a factory: they are computed where they are needed, and never stored.
import torch
from nvfuser_direct import DataType, FusionDefinition


def rope_backward(fd: FusionDefinition) -> None:
    cos = fd.define_tensor(shape=[-1, 64], contiguity=True, dtype=DataType.BFloat16)
    sin = fd.define_tensor(shape=[-1, 64], contiguity=True, dtype=DataType.BFloat16)
    grad_query = fd.define_tensor(shape=[-1, 32, -1, 64], contiguity=True, dtype=DataType.BFloat16)
    grad_key = fd.define_tensor(shape=[-1, 32, -1, 64], contiguity=True, dtype=DataType.BFloat16)
    grad_value = fd.define_tensor(shape=[-1, 32, -1, 64], contiguity=True, dtype=DataType.BFloat16)
    shape = fd.ops.shape(grad_query)
    batch, _, tokens, _ = shape
    zeros = fd.ops.full(shape, fill_value=0.0, dtype=DataType.BFloat16)
    cos_wide = fd.ops.broadcast_in_dim(cos, shape=shape, broadcast_dims=[2, 3])
    sin_wide = fd.ops.broadcast_in_dim(sin, shape=shape, broadcast_dims=[2, 3])
    query_sin = fd.ops.cast(fd.ops.mul(grad_query, sin_wide), dtype=DataType.BFloat16)
    query_low = fd.ops.slice(query_sin, start_indices=[0, 0, 0, 0], end_indices=[batch, 32, tokens, 32])
    query_high = fd.ops.slice(query_sin, start_indices=[0, 0, 0, 32], end_indices=[batch, 32, tokens, 64])
    query_low = fd.ops.cast(fd.ops.neg(query_low), dtype=DataType.BFloat16)
    query_rotated = fd.ops.add(fd.ops.add(zeros, fd.ops.pad(query_high, [0, 32])), fd.ops.pad(query_low, [32, 0]))
    query = fd.ops.cast(fd.ops.add(fd.ops.mul(grad_query, cos_wide), query_rotated), dtype=DataType.BFloat16)
    key_sin = fd.ops.cast(fd.ops.mul(grad_key, sin_wide), dtype=DataType.BFloat16)
    key_low = fd.ops.slice(key_sin, start_indices=[0, 0, 0, 0], end_indices=[batch, 32, tokens, 32])
    key_high = fd.ops.slice(key_sin, start_indices=[0, 0, 0, 32], end_indices=[batch, 32, tokens, 64])
    key_low = fd.ops.cast(fd.ops.neg(key_low), dtype=DataType.BFloat16)
    key_rotated = fd.ops.add(fd.ops.add(zeros, fd.ops.pad(key_high, [0, 32])), fd.ops.pad(key_low, [32, 0]))
    key = fd.ops.add(fd.ops.mul(grad_key, cos_wide), key_rotated)
    key_groups = fd.ops.reshape(key, new_shape=[batch, 8, 4, tokens, 64])
    value_groups = fd.ops.reshape(grad_value, new_shape=[batch, 8, 4, tokens, 64])
    key_sum = fd.ops.cast(fd.ops.sum(key_groups, dims=[2], keepdim=True), dtype=DataType.BFloat16)
    value_sum = fd.ops.sum(value_groups, dims=[2], keepdim=True)
    query_groups = fd.ops.reshape(query, new_shape=[batch, 8, 4, tokens, 64])
    packed = fd.ops.cat([query_groups, key_sum, value_sum], dim=2)
    by_token = fd.ops.permute(packed, dims=[0, 3, 1, 2, 4])
    fd.add_output(fd.ops.reshape(by_token, new_shape=[batch, tokens, 3072]))


with FusionDefinition() as fd:
    rope_backward(fd)

inputs = [
    torch.randn((8192, 64), dtype=torch.bfloat16),
    torch.randn((8192, 64), dtype=torch.bfloat16),
    torch.randn((1, 32, 8192, 64), dtype=torch.bfloat16),
    torch.randn((1, 32, 8192, 64), dtype=torch.bfloat16),
    torch.randn((1, 32, 8192, 64), dtype=torch.bfloat16),
]
fd.execute(inputs)
