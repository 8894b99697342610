# Causal self-attention as in a very small GPT: queries, keys and values from one linear layer, four heads of sixteen, the
# softmax of the scaled scores up to each position, and a projection. The products are a library's; the rest is kernels.
import torch
from nvfuser_direct import DataType, FusionDefinition


def nanogpt_attention(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, 64], contiguity=True)
    weight_qkv = fd.define_tensor(shape=[192, 64], contiguity=True)
    bias_qkv = fd.define_tensor(shape=[192], contiguity=True)
    weight_out = fd.define_tensor(shape=[64, 64], contiguity=True)
    bias_out = fd.define_tensor(shape=[64], contiguity=True)
    batch = fd.ops.size(x, 0)
    length = fd.ops.size(x, 1)
    qkv = fd.ops.linear(x, weight_qkv, bias_qkv)
    qkv = fd.ops.reshape(qkv, new_shape=[batch, length, 3, 4, 16])
    qkv = fd.ops.permute(qkv, dims=[2, 0, 3, 1, 4])
    q = fd.ops.squeeze(fd.ops.slice(qkv, [0, 0, 0, 0, 0], [1, batch, 4, length, 16]), dims=[0])
    k = fd.ops.squeeze(fd.ops.slice(qkv, [1, 0, 0, 0, 0], [2, batch, 4, length, 16]), dims=[0])
    v = fd.ops.squeeze(fd.ops.slice(qkv, [2, 0, 0, 0, 0], [3, batch, 4, length, 16]), dims=[0])
    scores = fd.ops.matmul(q, fd.ops.permute(k, dims=[0, 1, 3, 2]))
    scores = fd.ops.mul(scores, 0.25)
    positions = fd.ops.iota(length)
    rows = fd.ops.broadcast(positions, is_broadcast_dim=[False, True])
    columns = fd.ops.broadcast(positions, is_broadcast_dim=[True, False])
    seen = fd.ops.le(columns, rows)
    scores = fd.ops.where(seen, scores, float("-inf"))
    weights = fd.ops.softmax(scores, dim=3)
    heads = fd.ops.matmul(weights, v)
    heads = fd.ops.permute(heads, dims=[0, 2, 1, 3])
    heads = fd.ops.reshape(heads, new_shape=[batch, length, 64])
    fd.add_output(fd.ops.linear(heads, weight_out, bias_out))


with FusionDefinition() as fd:
    nanogpt_attention(fd)

inputs = [
    torch.randn((4, 256, 64)),
    torch.randn((192, 64)),
    torch.randn((192,)),
    torch.randn((64, 64)),
    torch.randn((64,)),
]
fd.execute(inputs)
