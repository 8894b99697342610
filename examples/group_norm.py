# Group normalization: mean and variance over the 10 channels of a group and all of the image, a weight and a bias for
# each channel. The reshape splits the channels, and what was folded over a part of them goes back to the whole.
import torch
from nvfuser_direct import DataType, FusionDefinition


def group_norm(fd: FusionDefinition) -> None:
    x = fd.define_tensor(shape=[-1, 320, -1, -1], contiguity=True, dtype=DataType.BFloat16)
    weight = fd.define_tensor(shape=[320], contiguity=True, dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[320], contiguity=True, dtype=DataType.BFloat16)
    batch, channels, height, width = fd.ops.shape(x)
    wide = fd.ops.cast(x, dtype=DataType.Float)
    groups = fd.ops.reshape(wide, new_shape=[batch, 32, 10, height, width])
    variance, mean = fd.ops.var_mean(groups, dims=[2, 3, 4], correction=0, keepdim=True)
    invstd = fd.ops.rsqrt(fd.ops.add(variance, 1e-05))
    normalized = fd.ops.mul(fd.ops.sub(groups, mean), invstd)
    images = fd.ops.reshape(normalized, new_shape=[batch, 320, height, width])
    weight_all = fd.ops.broadcast_in_dim(fd.ops.cast(weight, dtype=DataType.Float), shape=[1, 320, 1, 1], broadcast_dims=[1])
    bias_all = fd.ops.broadcast_in_dim(fd.ops.cast(bias, dtype=DataType.Float), shape=[1, 320, 1, 1], broadcast_dims=[1])
    result = fd.ops.add(fd.ops.mul(images, weight_all), bias_all)
    fd.add_output(fd.ops.cast(result, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    group_norm(fd)

inputs = [
    torch.randn((8, 320, 64, 64), dtype=torch.bfloat16),
    torch.randn((320,), dtype=torch.bfloat16),
    torch.randn((320,), dtype=torch.bfloat16),
]
fd.execute(inputs)
