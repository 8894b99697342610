# A transposed matrix plus another one. One operand is read along columns and the other along rows, so a kernel
# that moves each cache line once has to work in tiles.
import torch
from nvfuser_direct import DataType, FusionDefinition


def transpose_add(fd: FusionDefinition) -> None:
    a = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    b = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    flipped = fd.ops.permute(a, dims=[1, 0])
    fd.add_output(fd.ops.add(flipped, b))


with FusionDefinition() as fd:
    transpose_add(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.float32),
    torch.randn((4096, 8192), dtype=torch.float32),
]
fd.execute(inputs)
