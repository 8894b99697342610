# A residual with dropout, then layer normalization, as after each block of a transformer. The random numbers are
# computed where they are needed, again where that is cheaper than to store them, and the mask goes out for the
# backward pass.
import torch
from nvfuser_direct import DataType, FusionDefinition


def dropout_layer_norm(fd: FusionDefinition) -> None:
    block = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    residual = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(block)
    mask = fd.ops.lt(fd.ops.uniform(0.0, 1.0, shape=[rows, columns], dtype=DataType.Float), 0.8)
    kept = fd.ops.mul(fd.ops.mul(fd.ops.cast(block, dtype=DataType.Float), mask), 1.25)
    x = fd.ops.add(fd.ops.cast(residual, dtype=DataType.Float), kept)
    variance, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
    invstd = fd.ops.rsqrt(fd.ops.add(variance, 1e-05))
    normalized = fd.ops.mul(fd.ops.sub(x, mean), invstd)
    weight_rows = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    bias_rows = fd.ops.broadcast_in_dim(fd.ops.cast(bias, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    result = fd.ops.add(fd.ops.mul(normalized, weight_rows), bias_rows)
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))
    fd.add_output(mask)
    fd.add_output(mean)
    fd.add_output(invstd)


with FusionDefinition() as fd:
    dropout_layer_norm(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((4096,), dtype=torch.bfloat16),
    torch.randn((4096,), dtype=torch.bfloat16),
]
fd.execute(inputs)
