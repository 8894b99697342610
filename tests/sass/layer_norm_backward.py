# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def layer_norm_backward(fd: FusionDefinition) -> None:
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    mean = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    invstd = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(x)
    g = fd.ops.cast(grad, dtype=DataType.Float)
    mean_rows = fd.ops.broadcast_in_dim(mean, shape=[rows, 1], broadcast_dims=[0])
    centred = fd.ops.sub(fd.ops.cast(x, dtype=DataType.Float), mean_rows)
    normalized = fd.ops.mul(centred, invstd)
    weight_rows = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    gw = fd.ops.mul(g, weight_rows)
    share = fd.ops.reciprocal(fd.ops.cast(columns, dtype=DataType.Float))
    mean_gw = fd.ops.mul(fd.ops.sum(gw, dims=[1], keepdim=True), share)
    mean_gwn = fd.ops.mul(fd.ops.sum(fd.ops.mul(gw, normalized), dims=[1], keepdim=True), share)
    inner = fd.ops.sub(fd.ops.sub(gw, mean_gw), fd.ops.mul(normalized, mean_gwn))
    dx = fd.ops.mul(inner, invstd)
    dw = fd.ops.sum(fd.ops.mul(g, normalized), dims=[0])
    db = fd.ops.sum(g, dims=[0])
    fd.add_output(fd.ops.cast(dx, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.cast(dw, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.cast(db, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    layer_norm_backward(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((8192,), dtype=torch.float32),
    torch.rand((8192, 1), dtype=torch.float32),
    torch.randn((4096,), dtype=torch.bfloat16),
]
fd.execute(inputs)

# ---- expect
# seg0: 124 registers, 0 bytes of local memory, 633 instructions
#   2 loads of 4 bytes, global
#   8 loads of 16 bytes, global
#   10 stores of 16 bytes, global
#   2 loads of 4 bytes, shared
#   2 stores of 4 bytes, shared
#   4 barriers, 18 shuffles, 0 calls in loops
# seg0_combine0: 72 registers, 0 bytes of local memory, 444 instructions
#   66 loads of 4 bytes, global
#   2 stores of 2 bytes, global
#   0 barriers, 0 shuffles, 0 calls in loops
