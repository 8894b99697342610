# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def rms_norm(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(x)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    total = fd.ops.sum(fd.ops.mul(wide, wide), dims=[1], keepdim=True)
    mean_square = fd.ops.div(total, fd.ops.cast(columns, dtype=DataType.Float))
    scale = fd.ops.rsqrt(fd.ops.add(mean_square, 1e-06))
    weight_rows = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    result = fd.ops.mul(fd.ops.mul(wide, scale), weight_rows)
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    rms_norm(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((4096,), dtype=torch.bfloat16),
]
fd.execute(inputs)

# ---- expect
# seg0: 56 registers, 0 bytes of local memory, 364 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   1 loads of 4 bytes, shared
#   1 stores of 4 bytes, shared
#   1 barriers, 9 shuffles, 1 calls in loops
