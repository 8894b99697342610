# The gradients of normalization by the root mean square: for the input, which needs one sum along each row, and for
# the weight, a sum over all rows.
import torch
from nvfuser_direct import DataType, FusionDefinition


def rms_norm_backward(fd: FusionDefinition) -> None:
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    scale = fd.define_tensor(shape=[-1, 1], contiguity=[True, None], dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(x)
    g = fd.ops.cast(grad, dtype=DataType.Float)
    scaled = fd.ops.mul(fd.ops.cast(x, dtype=DataType.Float), scale)
    weight_rows = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    gw = fd.ops.mul(g, weight_rows)
    total = fd.ops.sum(fd.ops.mul(gw, scaled), dims=[1], keepdim=True)
    drift = fd.ops.div(total, fd.ops.cast(columns, dtype=DataType.Float))
    dx = fd.ops.mul(fd.ops.sub(gw, fd.ops.mul(scaled, drift)), scale)
    dw = fd.ops.sum(fd.ops.mul(g, scaled), dims=[0])
    fd.add_output(fd.ops.cast(dx, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.cast(dw, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    rms_norm_backward(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.randn((8192, 4096), dtype=torch.bfloat16),
    torch.rand((8192, 1), dtype=torch.float32),
    torch.randn((4096,), dtype=torch.bfloat16),
]
fd.execute(inputs)
