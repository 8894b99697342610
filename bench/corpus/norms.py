"""Normalizations, forward and backward: one fold along a row, a channel or a group, whose result all of it needs."""

from corpus.writer import FLOAT


def normalize(fd, x, dims, rank):
    """(x - mean) * invstd over `dims`, and the two statistics."""
    variance, mean = fd.ops.var(x, dims=dims, correction=0, keepdim=True), fd.ops.mean(x, dims=dims, keepdim=True)
    invstd = fd.ops.rsqrt(variance + 1e-5)
    return (x - mean) * invstd, mean, invstd


def rms(fd, x, axis):
    """x over the root of its mean square along an axis, and one over that root."""
    scale = fd.ops.rsqrt(fd.ops.mean(x * x, dims=[axis], keepdim=True) + 1e-6)
    return x * scale, scale


def layer_norm(fd):
    "Layer norm of rows with weight and bias; mean and invstd are kept for the backward pass."
    x, weight, bias = fd.tensor([8192, 4096]), fd.tensor([4096]), fd.tensor([4096])
    normalized, mean, invstd = normalize(fd, fd.f32(x), [1], 2)
    fd.output(fd.bf16(normalized * fd.along(fd.f32(weight), 2, 1) + fd.along(fd.f32(bias), 2, 1)))
    fd.output(mean)
    fd.output(invstd)


def layer_norm_backward(fd):
    "All gradients of a layer norm: of the rows, of weight and bias (sums along the rows)."
    grad, x = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([8192, 4096]))
    mean, invstd = fd.tensor([8192, 1], FLOAT), fd.tensor([8192, 1], FLOAT)
    weight = fd.f32(fd.tensor([4096]))
    normalized = (x - mean) * invstd
    scaled = grad * fd.along(weight, 2, 1)
    average = fd.ops.mean(scaled, dims=[1], keepdim=True)
    dot = fd.ops.mean(scaled * normalized, dims=[1], keepdim=True)
    fd.output(fd.bf16((scaled - average - normalized * dot) * invstd))
    fd.output(fd.bf16(fd.ops.sum(grad * normalized, dims=[0])))
    fd.output(fd.bf16(fd.ops.sum(grad, dims=[0])))


def rms_norm(fd):
    "RMS norm of rows with a weight."
    x, weight = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([4096]))
    fd.output(fd.bf16(rms(fd, x, 1)[0] * fd.along(weight, 2, 1)))


def rms_norm_backward(fd):
    "Both gradients of an RMS norm."
    grad, x, weight = fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([8192, 4096])), fd.f32(fd.tensor([4096]))
    normalized, scale = rms(fd, x, 1)
    scaled = grad * fd.along(weight, 2, 1)
    dot = fd.ops.mean(scaled * normalized, dims=[1], keepdim=True)
    fd.output(fd.bf16((scaled - normalized * dot) * scale))
    fd.output(fd.bf16(fd.ops.sum(grad * normalized, dims=[0])))


def residual_layer_norm(fd):
    "A bias, dropout and a residual before a layer norm; the sum goes on beside it."
    x, residual = fd.f32(fd.tensor([8192, 2048])), fd.f32(fd.tensor([8192, 2048]))
    bias, weight = fd.f32(fd.tensor([2048])), fd.f32(fd.tensor([2048]))
    shifted = x + fd.along(bias, 2, 1)
    kept = fd.ops.lt(fd.ops.rand_like(shifted), 0.9)
    total = fd.ops.where(kept, shifted * (1 / 0.9), 0.0) + residual
    normalized, _, _ = normalize(fd, total, [1], 2)
    fd.output(fd.bf16(total))
    fd.output(fd.bf16(normalized * fd.along(weight, 2, 1)))


def batch_norm(fd):
    "Batch norm of images, channels first: statistics of each channel over batch and image."
    x, weight, bias = fd.f32(fd.tensor([32, 64, 56, 56])), fd.tensor([64], FLOAT), fd.tensor([64], FLOAT)
    normalized, mean, invstd = normalize(fd, x, [0, 2, 3], 4)
    scaled = normalized * fd.along(weight, 4, 1) + fd.along(bias, 4, 1)
    fd.output(fd.bf16(fd.ops.relu(scaled)))
    fd.output(mean)
    fd.output(invstd)


def batch_norm_backward(fd):
    "All gradients of a batch norm, channels first."
    grad, x = fd.f32(fd.tensor([32, 64, 56, 56])), fd.f32(fd.tensor([32, 64, 56, 56]))
    mean, invstd, weight = fd.tensor([1, 64, 1, 1], FLOAT), fd.tensor([1, 64, 1, 1], FLOAT), fd.tensor([64], FLOAT)
    normalized = (x - mean) * invstd
    average = fd.ops.mean(grad, dims=[0, 2, 3], keepdim=True)
    dot = fd.ops.mean(grad * normalized, dims=[0, 2, 3], keepdim=True)
    fd.output(fd.bf16((grad - average - normalized * dot) * (invstd * fd.along(weight, 4, 1))))
    fd.output(fd.ops.sum(grad * normalized, dims=[0, 2, 3]))
    fd.output(fd.ops.sum(grad, dims=[0, 2, 3]))


def batch_norm_channels_last(fd):
    "Batch norm with channels innermost: statistics of columns."
    x, weight, bias = fd.f32(fd.tensor([100352, 128])), fd.tensor([128], FLOAT), fd.tensor([128], FLOAT)
    normalized, mean, invstd = normalize(fd, x, [0], 2)
    fd.output(fd.bf16(normalized * fd.along(weight, 2, 1) + fd.along(bias, 2, 1)))
    fd.output(mean)
    fd.output(invstd)


def group_norm_silu(fd):
    "Group norm of 32 groups and a SiLU, as in a diffusion model."
    x, weight, bias = fd.tensor([4, 320, 64, 64], static=(1,)), fd.tensor([320], static=(0,)), fd.tensor([320], static=(0,))
    batch, height, width = (fd.ops.size(x, axis) for axis in (0, 2, 3))
    groups = fd.ops.reshape(fd.f32(x), new_shape=[batch, 32, 10, height, width])
    normalized, _, _ = normalize(fd, groups, [2, 3, 4], 5)
    images = fd.ops.reshape(normalized, new_shape=[batch, 320, height, width])
    scaled = images * fd.along(fd.f32(weight), 4, 1) + fd.along(fd.f32(bias), 4, 1)
    fd.output(fd.bf16(fd.ops.silu(scaled)))


def padded_layer_norm(fd):
    "Layer norm of the last axis, padded and rolled along the middle ones, as window attention does."
    x, weight = fd.tensor([16, 56, 56, 96], static=(1, 2, 3)), fd.f32(fd.tensor([96], static=(0,)))
    normalized, _, _ = normalize(fd, fd.f32(x), [3], 4)
    padded = fd.ops.pad(fd.bf16(normalized * fd.along(weight, 4, 3)), [0, 0, 0, 4, 0, 4], 0.0)
    batch = fd.ops.size(x, 0)
    first = fd.ops.slice(padded, [0, 3, 0, 0], [batch, 60, 60, 96])
    fd.output(fd.ops.cat([first, fd.ops.slice(padded, [0, 0, 0, 0], [batch, 3, 60, 96])], dim=1))


def weight_norm(fd):
    "A weight over the norm of its rows, times a gain; and the gradient of the gain."
    weight, gain, grad = fd.f32(fd.tensor([4096, 4096])), fd.f32(fd.tensor([4096, 1])), fd.f32(fd.tensor([4096, 4096]))
    unit = weight * fd.ops.rsqrt(fd.ops.sum(weight * weight, dims=[1], keepdim=True) + 1e-12)
    fd.output(fd.bf16(unit * gain))
    fd.output(fd.bf16(fd.ops.sum(grad * unit, dims=[1])))


GRAPHS = [
    layer_norm, layer_norm_backward, rms_norm, rms_norm_backward, residual_layer_norm, batch_norm, batch_norm_backward,
    batch_norm_channels_last, group_norm_silu, padded_layer_norm, weight_norm,
]
