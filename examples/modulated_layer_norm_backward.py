# The backward pass of a layer normalization whose result is modulated by a scale and a shift for each sample, y
# = (norm(x) * weight + bias) * (1 + scale) + shift, at 56 x 1024 x 1024. Its five results are the gradients of
# shift and scale (sums over axis 1), of bias and weight (sums over axes 0 and 1) and of x (two sums along axis
# 2 for each row). weight and bias come expanded, with stride 0. Cut carelessly it writes tensors of full size
# between kernels; reading x and the gradient once is enough.
import torch
from nvfuser_direct import DataType, FusionDefinition


def modulated_layer_norm_backward(fd: FusionDefinition) -> None:
    weight = fd.define_tensor(shape=[-1, -1, -1], contiguity=[None, None, True], dtype=DataType.BFloat16)
    bias = fd.define_tensor(shape=[-1, -1, -1], contiguity=[None, None, True], dtype=DataType.BFloat16)
    scale = fd.define_tensor(shape=[-1, 1, -1], contiguity=[True, None, True], dtype=DataType.BFloat16)
    grad = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.BFloat16)
    mean = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
    invstd = fd.define_tensor(shape=[-1, -1, 1], contiguity=[True, True, None], dtype=DataType.Float)
    x = fd.define_tensor(shape=[-1, -1, -1], contiguity=True, dtype=DataType.BFloat16)
    n, rows, columns = fd.ops.shape(x)
    full = [n, rows, columns]

    # The forward pass as far as it is needed again.
    mean_rows = fd.ops.broadcast_in_dim(mean, shape=full, broadcast_dims=[0, 1])
    invstd_rows = fd.ops.broadcast_in_dim(invstd, shape=full, broadcast_dims=[0, 1, 2])
    centred = fd.ops.sub(fd.ops.cast(x, dtype=DataType.Float), mean_rows)
    normalized = fd.ops.mul(centred, invstd_rows)
    weight_wide = fd.ops.cast(weight, dtype=DataType.Float)
    affine = fd.ops.add(fd.ops.mul(normalized, weight_wide), fd.ops.cast(bias, dtype=DataType.Float))
    factor = fd.ops.cast(fd.ops.add(fd.ops.cast(scale, dtype=DataType.Float), 1.0), dtype=DataType.BFloat16)
    factor_rows = fd.ops.broadcast_in_dim(factor, shape=full, broadcast_dims=[0, 1, 2])
    g = fd.ops.cast(grad, dtype=DataType.Float)

    # shift and scale: sums over the rows of a sample.
    d_shift = fd.ops.cast(fd.ops.sum(g, dims=[1]), dtype=DataType.BFloat16)
    d_scale = fd.ops.cast(fd.ops.sum(fd.ops.mul(affine, g), dims=[1]), dtype=DataType.BFloat16)

    # bias and weight: sums over samples and rows.
    g_affine = fd.ops.mul(fd.ops.cast(factor_rows, dtype=DataType.Float), g)
    d_bias = fd.ops.cast(fd.ops.sum(g_affine, dims=[0, 1]), dtype=DataType.BFloat16)
    d_weight = fd.ops.cast(fd.ops.sum(fd.ops.mul(normalized, g_affine), dims=[0, 1]), dtype=DataType.BFloat16)

    # x: through the normalization, by way of the gradients of variance and mean.
    g_normalized = fd.ops.mul(weight_wide, g_affine)
    g_centred = fd.ops.mul(invstd_rows, g_normalized)
    g_invstd = fd.ops.sum(fd.ops.mul(centred, g_normalized), dims=[2], keepdim=True)
    g_mean = fd.ops.sum(fd.ops.neg(g_centred), dims=[2], keepdim=True)
    g_var = fd.ops.mul(fd.ops.mul(g_invstd, -0.5), fd.ops.pow(invstd, 3.0))
    share = fd.ops.reciprocal(fd.ops.cast(columns, dtype=DataType.Float))
    from_mean = fd.ops.mul(fd.ops.broadcast_in_dim(g_mean, shape=full, broadcast_dims=[0, 1, 2]), share)
    g_var_rows = fd.ops.broadcast_in_dim(g_var, shape=full, broadcast_dims=[0, 1, 2])
    from_var = fd.ops.mul(fd.ops.mul(fd.ops.mul(g_var_rows, 2.0), centred), share)
    d_x = fd.ops.add(g_centred, fd.ops.add(from_mean, from_var))
    fd.add_output(d_shift)
    fd.add_output(d_scale)
    fd.add_output(d_bias)
    fd.add_output(d_weight)
    fd.add_output(fd.ops.cast(d_x, dtype=DataType.BFloat16))


with FusionDefinition() as fd:
    modulated_layer_norm_backward(fd)

inputs = [
    torch.randn((1024,), dtype=torch.bfloat16).as_strided((56, 1024, 1024), (0, 0, 1)),
    torch.randn((1024,), dtype=torch.bfloat16).as_strided((56, 1024, 1024), (0, 0, 1)),
    torch.randn((56, 1, 1024), dtype=torch.bfloat16),
    torch.randn((56, 1024, 1024), dtype=torch.bfloat16),
    torch.randn((56, 1024), dtype=torch.float32),
    torch.rand((56, 1024, 1), dtype=torch.float32),
    torch.randn((56, 1024, 1024), dtype=torch.bfloat16),
]
fd.execute(inputs)
