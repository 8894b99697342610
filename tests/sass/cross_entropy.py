# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def cross_entropy(fd: FusionDefinition) -> None:
    logits = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    labels = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
    wide = fd.ops.cast(logits, dtype=DataType.Float)
    largest = fd.ops.max(wide, dims=[1])
    shifted = fd.ops.sub(wide, fd.ops.broadcast(largest, is_broadcast_dim=[False, True]))
    total = fd.ops.sum(fd.ops.exp(shifted), dims=[1])
    column = fd.ops.broadcast(labels, is_broadcast_dim=[False, True])
    chosen = fd.ops.squeeze(fd.ops.take_along_axis(wide, column, dim=1), dims=[1])
    loss = fd.ops.sub(fd.ops.add(fd.ops.log(total), largest), chosen)
    rows = fd.ops.cast(fd.ops.size(logits, dim=0), dtype=DataType.Float)
    fd.add_output(loss)
    fd.add_output(fd.ops.div(fd.ops.sum(loss, dims=[0]), rows))


with FusionDefinition() as fd:
    cross_entropy(fd)

inputs = [
    torch.randn((1024, 32000), dtype=torch.bfloat16),
    torch.randint(0, 32000, (1024,)),
]
fd.execute(inputs)

# ---- expect
# seg0: 40 registers, 0 bytes of local memory, 1612 instructions
#   1 loads of 2 bytes, global
#   1 loads of 8 bytes, global
#   17 loads of 16 bytes, global
#   2 stores of 4 bytes, global
#   1 loads of 4 bytes, shared
#   1 loads of 8 bytes, shared
#   1 stores of 4 bytes, shared
#   1 stores of 8 bytes, shared
#   2 barriers, 30 shuffles, 0 calls in loops
# seg0_combine0: 32 registers, 0 bytes of local memory, 339 instructions
#   29 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   1 loads of 8 bytes, shared
#   1 stores of 8 bytes, shared
#   1 barriers, 20 shuffles, 0 calls in loops
