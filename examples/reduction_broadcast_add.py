# Sums along the rows and along the columns of a tensor, both added back to it: each element waits for its row
# and for its column, so no division of the rows or of the columns alone makes workers independent.
import torch
from nvfuser_direct import DataType, FusionDefinition


def reduction_broadcast_add(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(x)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    row_sums = fd.ops.broadcast_in_dim(fd.ops.sum(wide, dims=[1]), shape=[rows, columns], broadcast_dims=[0])
    column_sums = fd.ops.broadcast_in_dim(fd.ops.sum(wide, dims=[0]), shape=[rows, columns], broadcast_dims=[1])
    result = fd.ops.add(fd.ops.add(wide, row_sums), column_sums)
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    reduction_broadcast_add(fd)

inputs = [
    torch.randn((8192, 4096), dtype=torch.bfloat16),
]
fd.execute(inputs)
