# test: target=sm_90
import torch
from nvfuser_direct import DataType, FusionDefinition


def adam_step(fd: FusionDefinition) -> None:
    param = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    grad = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    mean = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    square = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    steps = fd.define_tensor(shape=[1], contiguity=True, dtype=DataType.Float)
    step = fd.ops.add(steps, 1.0)
    new_mean = fd.ops.add(fd.ops.mul(mean, 0.9), fd.ops.mul(grad, 0.1))
    new_square = fd.ops.add(fd.ops.mul(square, 0.999), fd.ops.mul(fd.ops.mul(grad, grad), 0.001))
    unbiased_mean = fd.ops.div(new_mean, fd.ops.sub(1.0, fd.ops.pow(0.9, step)))
    unbiased_square = fd.ops.div(new_square, fd.ops.sub(1.0, fd.ops.pow(0.999, step)))
    size = fd.ops.add(fd.ops.sqrt(unbiased_square), 1e-08)
    decayed = fd.ops.mul(param, 0.99999)
    new_param = fd.ops.sub(decayed, fd.ops.mul(fd.ops.div(unbiased_mean, size), 0.001))
    fd.add_output(new_param, param)
    fd.add_output(new_mean, mean)
    fd.add_output(new_square, square)
    fd.add_output(step, steps)


with FusionDefinition() as fd:
    adam_step(fd)

inputs = [
    torch.randn((16777216,), dtype=torch.float32),
    torch.randn((16777216,), dtype=torch.float32),
    torch.randn((16777216,), dtype=torch.float32),
    torch.rand((16777216,), dtype=torch.float32),
    torch.ones((1,), dtype=torch.float32),
]
fd.execute(inputs)

# ---- expect
# seg0: 10 registers, 0 bytes of local memory, 12 instructions
#   1 loads of 4 bytes, global
#   1 stores of 4 bytes, global
#   0 barriers, 0 shuffles, 0 calls in loops
# seg1: 32 registers, 0 bytes of local memory, 576 instructions
#   1 loads of 4 bytes, global
#   4 loads of 16 bytes, global
#   3 stores of 16 bytes, global
#   0 barriers, 0 shuffles, 16 calls in loops
