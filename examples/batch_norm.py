# Batch normalization in training, channels first: mean and variance over batch, height and width for each
# channel, the normalized tensor, and running statistics brought up to date in place. The folds go over an outer
# axis and two inner ones, and channels are what workers may divide.
import torch
from nvfuser_direct import DataType, FusionDefinition


def batch_norm(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, -1, -1, -1], contiguity=True, dtype=DataType.Float)
    weight = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    bias = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    running_mean = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    running_var = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
    n, c, h, w = fd.ops.shape(x)
    variance, mean = fd.ops.var_mean(x, dims=[0, 2, 3], correction=0)
    shape = [n, c, h, w]
    mean_all = fd.ops.broadcast_in_dim(mean, shape=shape, broadcast_dims=[1])
    invstd = fd.ops.rsqrt(fd.ops.add(variance, 1e-05))
    invstd_all = fd.ops.broadcast_in_dim(invstd, shape=shape, broadcast_dims=[1])
    weight_all = fd.ops.broadcast_in_dim(weight, shape=shape, broadcast_dims=[1])
    bias_all = fd.ops.broadcast_in_dim(bias, shape=shape, broadcast_dims=[1])
    normalized = fd.ops.mul(fd.ops.sub(x, mean_all), invstd_all)
    result = fd.ops.add(fd.ops.mul(normalized, weight_all), bias_all)
    count = fd.ops.cast(fd.ops.mul(fd.ops.mul(n, h), w), dtype=DataType.Float)
    unbiased = fd.ops.mul(variance, fd.ops.div(count, fd.ops.sub(count, 1.0)))
    new_mean = fd.ops.add(fd.ops.mul(running_mean, 0.9), fd.ops.mul(mean, 0.1))
    new_var = fd.ops.add(fd.ops.mul(running_var, 0.9), fd.ops.mul(unbiased, 0.1))
    fd.add_output(result)
    fd.add_output(mean)
    fd.add_output(invstd)
    fd.add_output(new_mean, running_mean)
    fd.add_output(new_var, running_var)


with FusionDefinition() as fd:
    batch_norm(fd)

inputs = [
    torch.randn((32, 128, 56, 56), dtype=torch.float32),
    torch.randn((128,), dtype=torch.float32),
    torch.randn((128,), dtype=torch.float32),
    torch.randn((128,), dtype=torch.float32),
    torch.rand((128,), dtype=torch.float32),
]
fd.execute(inputs)
