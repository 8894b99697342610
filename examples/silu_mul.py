# The gate of a gated feed-forward layer, silu(gate) * up: two bf16 tensors in, one out, computed in f32. Purely
# elementwise, so its speed is that of memory: six bytes an element.
import torch
from nvfuser_direct import DataType, FusionDefinition


def silu_mul(fd: FusionDefinition) -> None:
    gate = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    up = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.ops.cast(gate, dtype=DataType.Float)
    y = fd.ops.cast(up, dtype=DataType.Float)
    activated = fd.ops.mul(x, fd.ops.sigmoid(x))
    product = fd.ops.mul(activated, y)
    fd.add_output(fd.ops.cast(product, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    silu_mul(fd)

inputs = [
    torch.randn((4096, 8192), dtype=torch.bfloat16),
    torch.randn((4096, 8192), dtype=torch.bfloat16),
]
fd.execute(inputs)
