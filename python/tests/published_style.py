"""Definitions in the style of nvFuser's published examples and benchmarks: `nvfuser_direct` is what they import.

Each is a function of `fd` and the inputs to run it on, with what NumPy says of them. None needs tensor cores.
"""

import math

import numpy as np
from nvfuser_direct import DataType, FusionDefinition

ROWS, COLUMNS = 64, 96
F, H, B, I = DataType.Float, DataType.Half, DataType.BFloat16, DataType.Int


def draw(*sizes, seed=0):
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def matrix(fd, dtype=F):
    return fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=dtype, is_cpu=False)


def vector(fd, dtype=F):
    return fd.define_tensor(shape=[-1], contiguity=[True], dtype=dtype, is_cpu=False)


def column_mean(fd, x, size):
    return fd.ops.mul(fd.ops.sum(x, dims=[1], keepdim=True), fd.define_scalar(1.0 / size, dtype=DataType.Double))


DEFINITIONS = {}


def definition(*inputs):
    """Registers a definition with its inputs; it gives what NumPy should give, of the same inputs."""

    def register(make):
        DEFINITIONS[make.__name__] = (make, inputs)
        return make

    return register


X, Y, V = draw(ROWS, COLUMNS), draw(ROWS, COLUMNS, seed=1), draw(COLUMNS, seed=2)
POSITIVE = np.abs(X) + 0.5


@definition(X)
def copy(fd: FusionDefinition):
    fd.add_output(fd.ops.set(matrix(fd)))
    return lambda x: [x]


@definition(X, Y)
def add(fd: FusionDefinition):
    fd.add_output(fd.ops.add(matrix(fd), matrix(fd)))
    return lambda x, y: [x + y]


@definition(X, Y)
def silu_mul(fd: FusionDefinition):
    x, y = matrix(fd), matrix(fd)
    gate = fd.ops.mul(x, fd.ops.reciprocal(fd.ops.add(fd.define_scalar(1.0), fd.ops.exp(fd.ops.neg(x)))))
    fd.add_output(fd.ops.mul(gate, y))
    return lambda x, y: [x / (1 + np.exp(-x)) * y]


@definition(X, V)
def gelu_bias(fd: FusionDefinition):
    x, bias = matrix(fd), vector(fd)
    biased = fd.ops.add(x, fd.ops.broadcast_in_dim(bias, shape=[ROWS, COLUMNS], broadcast_dims=[1]))
    inner = fd.ops.mul(biased, fd.ops.add(fd.define_scalar(1.0), fd.ops.mul(0.044715, fd.ops.mul(biased, biased))))
    inner = fd.ops.tanh(fd.ops.mul(inner, math.sqrt(2 / math.pi)))
    fd.add_output(fd.ops.mul(fd.ops.mul(biased, 0.5), fd.ops.add(inner, 1.0)))

    def reference(x, bias):
        b = x + bias
        return [0.5 * b * (1 + np.tanh(math.sqrt(2 / math.pi) * b * (1 + 0.044715 * b * b)))]

    return reference


@definition(X, Y)
def gelu_backward(fd: FusionDefinition):
    x, grad = matrix(fd), matrix(fd)
    cdf = fd.ops.mul(fd.ops.add(fd.ops.erf(fd.ops.mul(x, math.sqrt(0.5))), 1.0), 0.5)
    pdf = fd.ops.mul(fd.ops.exp(fd.ops.mul(fd.ops.mul(x, x), -0.5)), 1 / math.sqrt(2 * math.pi))
    fd.add_output(fd.ops.mul(grad, fd.ops.add(cdf, fd.ops.mul(x, pdf))))
    return None


@definition(X)
def softmax(fd: FusionDefinition):
    x = matrix(fd)
    top = fd.ops.broadcast_in_dim(fd.ops.max(x, [1]), shape=[ROWS, COLUMNS], broadcast_dims=[0])
    powers = fd.ops.exp(fd.ops.sub(x, top))
    total = fd.ops.broadcast_in_dim(fd.ops.sum(powers, [1]), shape=[ROWS, COLUMNS], broadcast_dims=[0])
    fd.add_output(fd.ops.mul(powers, fd.ops.reciprocal(total)))

    def reference(x):
        powers = np.exp(x - x.max(1, keepdims=True))
        return [powers / powers.sum(1, keepdims=True)]

    return reference


@definition(X, Y)
def softmax_backward(fd: FusionDefinition):
    y, grad = matrix(fd), matrix(fd)
    dots = fd.ops.sum(fd.ops.mul(y, grad), dims=[1], keepdim=True)
    fd.add_output(fd.ops.mul(y, fd.ops.sub(grad, dots)))
    return lambda y, g: [y * (g - (y * g).sum(1, keepdims=True))]


@definition(X, V, V)
def layer_norm(fd: FusionDefinition):
    x, weight, bias = matrix(fd), vector(fd), vector(fd)
    var, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
    normed = fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, fd.define_scalar(1e-5))))
    fd.add_output(fd.ops.add(fd.ops.mul(normed, weight), bias))
    fd.add_output(mean)
    return lambda x, w, b: [
        (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b,
        x.mean(1, keepdims=True),
    ]


@definition(X, Y, V)
def layer_norm_backward(fd: FusionDefinition):
    x, grad, weight = matrix(fd), matrix(fd), vector(fd)
    var, mean = fd.ops.var_mean(x, dims=[1], correction=0, keepdim=True)
    scale = fd.ops.rsqrt(fd.ops.add(var, 1e-5))
    normed = fd.ops.mul(fd.ops.sub(x, mean), scale)
    weighted = fd.ops.mul(grad, weight)
    inner = fd.ops.sub(weighted, column_mean(fd, weighted, COLUMNS))
    inner = fd.ops.sub(inner, fd.ops.mul(normed, column_mean(fd, fd.ops.mul(weighted, normed), COLUMNS)))
    fd.add_output(fd.ops.mul(inner, scale))
    fd.add_output(fd.ops.sum(fd.ops.mul(grad, normed), dims=[0]))
    fd.add_output(fd.ops.sum(grad, dims=[0]))
    return None


@definition(X, V)
def rms_norm(fd: FusionDefinition):
    x, weight = matrix(fd), vector(fd)
    square = column_mean(fd, fd.ops.mul(x, x), COLUMNS)
    fd.add_output(fd.ops.mul(fd.ops.mul(x, fd.ops.rsqrt(fd.ops.add(square, 1e-6))), weight))
    return lambda x, w: [x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * w]


@definition(X, Y, V)
def rms_norm_backward(fd: FusionDefinition):
    x, grad, weight = matrix(fd), matrix(fd), vector(fd)
    scale = fd.ops.rsqrt(fd.ops.add(column_mean(fd, fd.ops.mul(x, x), COLUMNS), 1e-6))
    weighted = fd.ops.mul(grad, weight)
    dots = column_mean(fd, fd.ops.mul(weighted, x), COLUMNS)
    cubed = fd.ops.mul(scale, fd.ops.mul(scale, scale))
    fd.add_output(fd.ops.sub(fd.ops.mul(weighted, scale), fd.ops.mul(fd.ops.mul(x, dots), cubed)))
    fd.add_output(fd.ops.sum(fd.ops.mul(fd.ops.mul(grad, x), scale), [0]))
    return None


@definition(draw(8, 16, 4, 4), draw(16, seed=3))
def batch_norm(fd: FusionDefinition):
    x = fd.define_tensor(shape=[-1] * 4, contiguity=[True] * 4, dtype=F)
    weight = fd.ops.broadcast_in_dim(vector(fd), shape=[1, 16, 1, 1], broadcast_dims=[1])
    var, mean = fd.ops.var_mean(x, dims=[0, 2, 3], correction=0, keepdim=True)
    fd.add_output(fd.ops.mul(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5))), weight))

    def reference(x, w):
        mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
        return [(x - mean) / np.sqrt(var + 1e-5) * w[None, :, None, None]]

    return reference


@definition(draw(4, 8, 6, 6))
def group_norm(fd: FusionDefinition):
    x = fd.define_tensor(shape=[4, 8, 6, 6], contiguity=[True] * 4, dtype=F)
    groups = fd.ops.reshape(x, new_shape=[4, 2, 4 * 36])
    var, mean = fd.ops.var_mean(groups, dims=[2], correction=0, keepdim=True)
    normed = fd.ops.mul(fd.ops.sub(groups, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5)))
    fd.add_output(fd.ops.reshape(normed, new_shape=[4, 8, 6, 6]))

    def reference(x):
        groups = x.reshape(4, 2, -1)
        normed = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + 1e-5)
        return [normed.reshape(x.shape)]

    return reference


@definition(draw(4, 6, 8, 8))
def instance_norm(fd: FusionDefinition):
    x = fd.define_tensor(shape=[-1] * 4, contiguity=True, dtype=F)
    var, mean = fd.ops.var_mean(x, dims=[2, 3], correction=0, keepdim=True)
    fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5))))
    return lambda x: [(x - x.mean((2, 3), keepdims=True)) / np.sqrt(x.var((2, 3), keepdims=True) + 1e-5)]


@definition(X)
def sum_of_rows(fd: FusionDefinition):
    fd.add_output(fd.ops.sum(matrix(fd), [-1], False, DataType.Float))
    return lambda x: [x.sum(1)]


@definition(X)
def sum_of_columns(fd: FusionDefinition):
    fd.add_output(fd.ops.sum(matrix(fd), dims=[0], keepdim=False, dtype=DataType.Null))
    return lambda x: [x.sum(0)]


@definition(X)
def sum_of_all(fd: FusionDefinition):
    fd.add_output(fd.ops.sum(matrix(fd)))
    return lambda x: [x.sum()]


@definition(X, Y)
def transpose_add(fd: FusionDefinition):
    fd.add_output(fd.ops.permute(fd.ops.add(matrix(fd), matrix(fd)), dims=[1, 0]))
    return lambda x, y: [(x + y).T]


@definition(draw(2, 4, 8, 16), draw(8, 16, seed=4), draw(8, 16, seed=5))
def rope(fd: FusionDefinition):
    x = fd.define_tensor(shape=[2, 4, 8, 16], contiguity=[True] * 4, dtype=F)
    cos, sin = (fd.ops.broadcast_in_dim(matrix(fd), [2, 4, 8, 16], [2, 3]) for _ in range(2))
    first = fd.ops.slice(x, start_indices=[0, 0, 0, 0], end_indices=[2, 4, 8, 8], strides=[1, 1, 1, 1])
    second = fd.ops.slice(x, start_indices=[0, 0, 0, 8], end_indices=[2, 4, 8, 16], strides=[1, 1, 1, 1])
    transposed = fd.ops.cat([fd.ops.neg(second), first], dim=-1)
    fd.add_output(fd.ops.add(fd.ops.mul(x, cos), fd.ops.mul(transposed, sin)))
    return lambda x, c, s: [x * c + np.concatenate([-x[..., 8:], x[..., :8]], -1) * s]


@definition(X, np.arange(ROWS) % COLUMNS)
def cross_entropy(fd: FusionDefinition):
    logits, labels = matrix(fd), vector(fd, I)
    top = fd.ops.max(logits, dims=[1], keepdim=True)
    total = fd.ops.log(fd.ops.sum(fd.ops.exp(fd.ops.sub(logits, top)), dims=[1], keepdim=True))
    index = fd.ops.broadcast_in_dim(labels, shape=[ROWS, 1], broadcast_dims=[0])
    picked = fd.ops.take_along_axis(logits, index, dim=1)
    fd.add_output(fd.ops.mul(fd.ops.sum(fd.ops.sub(fd.ops.add(total, top), picked), [0, 1]), 1.0 / ROWS))

    def reference(x, labels):
        top = x.max(1, keepdims=True)
        logs = np.log(np.exp(x - top).sum(1)) + top[:, 0]
        return [(logs - x[np.arange(len(x)), labels]).mean()]

    return reference


@definition(draw(50, 16), np.arange(30) % 50)
def embedding(fd: FusionDefinition):
    fd.add_output(fd.ops.index_select(matrix(fd), vector(fd, I), dim=0))
    return lambda table, index: [table[index]]


@definition(X)
def half_precision(fd: FusionDefinition):
    x = fd.ops.cast(matrix(fd), dtype=H)
    scaled = fd.ops.mul(fd.ops.cast(x, dtype=F), 2.0)
    fd.add_output(fd.ops.cast(fd.ops.cast(scaled, dtype=H), dtype=F))
    return lambda x: [(x.astype(np.float16).astype(np.float32) * 2).astype(np.float16).astype(np.float32)]


@definition(X, 3.5)
def scalar_input(fd: FusionDefinition):
    x, factor = matrix(fd), fd.define_scalar(None, dtype=DataType.Double)
    fd.add_output(fd.ops.mul(x, factor))
    return lambda x, s: [x * np.float32(s)]


@definition(X)
def where_and_compare(fd: FusionDefinition):
    x = matrix(fd)
    fd.add_output(fd.ops.where(fd.ops.gt(x, 0.0), x, fd.ops.mul(x, 0.1)))
    return lambda x: [np.where(x > 0, x, x * np.float32(0.1))]


@definition(X)
def pad_and_slice(fd: FusionDefinition):
    padded = fd.ops.pad(matrix(fd), [1, 2, 3, 0], fd.define_scalar(1.0, dtype=DataType.Float))
    fd.add_output(fd.ops.slice(padded, [1, 1], [ROWS, COLUMNS], [1, 1]))
    return lambda x: [np.pad(x, ((3, 0), (1, 2)), constant_values=1)[1:ROWS, 1:COLUMNS]]


@definition(X)
def iota_and_mask(fd: FusionDefinition):
    x = matrix(fd)
    rows = fd.ops.broadcast_in_dim(fd.ops.iota(ROWS, dtype=I), [ROWS, COLUMNS], [0])
    columns = fd.ops.broadcast_in_dim(fd.ops.iota(COLUMNS, dtype=I), [ROWS, COLUMNS], [1])
    fd.add_output(fd.ops.where(fd.ops.ge(rows, columns), x, float("-inf")))
    return lambda x: [np.where(np.arange(ROWS)[:, None] >= np.arange(COLUMNS), x, -np.inf)]


@definition(X)
def triangle(fd: FusionDefinition):
    fd.add_output(fd.ops.triu(matrix(fd), 1))
    return lambda x: [np.triu(x, 1)]


@definition(X)
def running_sum(fd: FusionDefinition):
    fd.add_output(fd.ops.cumsum(matrix(fd), 1))
    return lambda x: [np.cumsum(x, 1)]


@definition(X)
def largest(fd: FusionDefinition):
    values, places = fd.ops.topk(matrix(fd), fd.define_scalar(3, dtype=I), -1, True, True)
    fd.add_output(values)
    fd.add_output(places)
    return lambda x: [-np.sort(-x, 1)[:, :3], np.argsort(-x, 1, kind="stable")[:, :3]]


@definition(X)
def order(fd: FusionDefinition):
    fd.add_output(fd.ops.argsort(matrix(fd), 1, False, True))
    return lambda x: [np.argsort(x, 1, kind="stable")]


@definition(X, Y)
def matrix_product(fd: FusionDefinition):
    x, y = matrix(fd), matrix(fd)
    fd.add_output(fd.ops.matmul(x, fd.ops.permute(y, [1, 0])))
    fd.add_output(fd.ops.linear(x, y))
    return lambda x, y: [x @ y.T, x @ y.T]


@definition(POSITIVE, POSITIVE, X)
def adam_step(fd: FusionDefinition):
    moment, second, grad = matrix(fd), matrix(fd), matrix(fd)
    moment = fd.ops.add(fd.ops.mul(moment, 0.9), fd.ops.mul(grad, 0.1))
    second = fd.ops.add(fd.ops.mul(second, 0.999), fd.ops.mul(fd.ops.mul(grad, grad), 0.001))
    fd.add_output(fd.ops.div(moment, fd.ops.add(fd.ops.sqrt(second), 1e-8)))
    return lambda m, s, g: [(0.9 * m + 0.1 * g) / (np.sqrt(0.999 * s + 0.001 * g * g) + 1e-8)]


@definition(draw(2, 3, 8, 8), draw(1, 1, 8, 8, seed=6))
def attention_scores(fd: FusionDefinition):
    x = fd.define_tensor(shape=[-1] * 4, contiguity=[True] * 4, dtype=F)
    mask = fd.define_tensor(shape=[1, 1, -1, -1], contiguity=[None, None, True, True], dtype=F)
    masked = fd.ops.add(fd.ops.mul(x, 0.125), mask)
    powers = fd.ops.exp(fd.ops.sub(masked, fd.ops.max(masked, [-1], True)))
    fd.add_output(fd.ops.div(powers, fd.ops.sum(powers, [-1], True)))

    def reference(x, mask):
        powers = np.exp(x * 0.125 + mask - (x * 0.125 + mask).max(-1, keepdims=True))
        return [powers / powers.sum(-1, keepdims=True)]

    return reference


@definition(draw(2, 6, 8), draw(2, 6, 8, seed=7))
def reshape_and_permute(fd: FusionDefinition):
    x, y = (fd.define_tensor(shape=[2, 6, 8], contiguity=[True] * 3, dtype=F) for _ in range(2))
    heads = fd.ops.permute(fd.ops.reshape(fd.ops.add(x, y), new_shape=[2, 6, 4, 2]), dims=[0, 2, 1, 3])
    fd.add_output(fd.ops.mul(heads, 2.0))
    return lambda x, y: [(x + y).reshape(2, 6, 4, 2).transpose(0, 2, 1, 3) * 2]


@definition(X, V, X)
def dropout_add_layer_norm(fd: FusionDefinition):
    x, weight, residual = matrix(fd), vector(fd), matrix(fd)
    draws = fd.ops.uniform(0.0, 1.0, [ROWS, COLUMNS], rng_seed=1, rng_offset=0, dtype=F)
    kept = fd.ops.where(fd.ops.lt(draws, 0.9), fd.ops.mul(x, 1 / 0.9), 0.0)
    summed = fd.ops.add(kept, residual)
    var, mean = fd.ops.var_mean(summed, dims=[1], correction=0, keepdim=True)
    normed = fd.ops.mul(fd.ops.sub(summed, mean), fd.ops.rsqrt(fd.ops.add(var, 1e-5)))
    fd.add_output(fd.ops.mul(normed, weight))
    return None
