# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def gelu_bias(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    bias_wide = fd.ops.cast(bias, dtype=DataType.Float)
    rows, columns = fd.ops.shape(x)
    bias_rows = fd.ops.broadcast_in_dim(bias_wide, shape=[rows, columns], broadcast_dims=[1])
    t = fd.ops.add(wide, bias_rows)
    cubic = fd.ops.mul(fd.ops.mul(t, t), t)
    inner = fd.ops.add(t, fd.ops.mul(cubic, 0.044715))
    bent = fd.ops.tanh(fd.ops.mul(inner, 0.7978845608028654))
    half = fd.ops.mul(t, 0.5)
    gelu = fd.ops.mul(half, fd.ops.add(bent, 1.0))
    fd.add_output(fd.ops.cast(gelu, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    gelu_bias(fd)

inputs = [
    torch.randn((4096, 8192), dtype=torch.bfloat16),
    torch.randn((8192,), dtype=torch.bfloat16),
]
fd.execute(inputs)

# ---- expect
# seg0: 45 registers, 0 bytes of local memory, 395 instructions
#   4 loads of 16 bytes, global
#   2 stores of 16 bytes, global
#   0 barriers, 0 shuffles, 0 calls in loops
