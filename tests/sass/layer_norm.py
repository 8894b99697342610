# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def layer_norm(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    variance, mean = fd.ops.var_mean(wide, dims=[1], correction=0, keepdim=True)
    invstd = fd.ops.rsqrt(fd.ops.add(variance, 1e-05))
    normalized = fd.ops.mul(fd.ops.sub(wide, mean), invstd)
    weight_rows = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    bias_rows = fd.ops.broadcast_in_dim(fd.ops.cast(bias, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    result = fd.ops.add(fd.ops.mul(normalized, weight_rows), bias_rows)
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.squeeze(mean, dims=[1]))
    fd.add_output(invstd)


with FusionDefinition() as fd:
    layer_norm(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((4096,), dtype=torch.bfloat16),
    torch.randn((4096,), dtype=torch.bfloat16),
]
fd.execute(inputs)

# ---- expect
# seg0: 76 registers, 0 bytes of local memory, 748 instructions
#   6 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   2 stores of 16 bytes, global
#   2 loads of 16 bytes, shared
#   2 stores of 16 bytes, shared
#   1 barriers, 72 shuffles, 2 calls in loops
