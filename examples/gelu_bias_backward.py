# The gradients of a bias over the columns and gelu in its tanh approximation: for the input element by element, for
# the bias a sum over all rows of what the input gets.
import torch
from nvfuser_direct import DataType, FusionDefinition


def gelu_bias_backward(fd: FusionDefinition) -> None:
    grad = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.BFloat16)
    rows, columns = fd.ops.shape(x)
    g = fd.ops.cast(grad, dtype=DataType.Float)
    bias_rows = fd.ops.broadcast_in_dim(fd.ops.cast(bias, dtype=DataType.Float), shape=[rows, columns], broadcast_dims=[1])
    t = fd.ops.add(fd.ops.cast(x, dtype=DataType.Float), bias_rows)
    square = fd.ops.mul(t, t)
    inner = fd.ops.add(t, fd.ops.mul(fd.ops.mul(square, t), 0.044715))
    bent = fd.ops.tanh(fd.ops.mul(inner, 0.7978845608028654))
    slope = fd.ops.mul(fd.ops.add(fd.ops.mul(square, 0.134145), 1.0), 0.7978845608028654)
    steepness = fd.ops.mul(fd.ops.sub(1.0, fd.ops.mul(bent, bent)), slope)
    twice = fd.ops.add(fd.ops.add(bent, 1.0), fd.ops.mul(t, steepness))
    dt = fd.ops.mul(fd.ops.mul(g, 0.5), twice)
    fd.add_output(fd.ops.cast(dt, dtype=DataType.BFloat16))
    fd.add_output(fd.ops.cast(fd.ops.sum(dt, dims=[0]), dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    gelu_bias_backward(fd)

inputs = [
    torch.randn((4096, 8192), dtype=torch.bfloat16),
    torch.randn((4096, 8192), dtype=torch.bfloat16),
    torch.randn((8192,), dtype=torch.bfloat16),
]
fd.execute(inputs)
