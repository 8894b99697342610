"""The standard workloads as users of torch and JAX write them: inputs, and one formula for both.

Formulas are over a `Torch` or a `Jax`, which say the few things that the two call differently, each with its own library
function where it has one.
"""

import dataclasses
import math
from collections.abc import Callable

import torch

BF16, F32 = torch.bfloat16, torch.float32


class Torch:
    """torch's names."""

    wide = staticmethod(torch.Tensor.float)
    narrow = staticmethod(torch.Tensor.bfloat16)
    exp, log, rsqrt, mean = torch.exp, torch.log, torch.rsqrt, torch.mean
    silu = staticmethod(torch.nn.functional.silu)

    @staticmethod
    def sum(x, axis, keep=False):
        return x.sum(axis, keepdim=keep)

    @staticmethod
    def softmax(x):
        return torch.softmax(x, -1)

    @staticmethod
    def gelu(x):
        return torch.nn.functional.gelu(x, approximate="tanh")

    @staticmethod
    def cat(parts):
        return torch.cat(parts, -1)

    @staticmethod
    def log_sum_exp(x):
        return torch.logsumexp(x, -1)

    @staticmethod
    def pick(x, index):
        return torch.gather(x, 1, index[:, None])[:, 0]

    @staticmethod
    def layer_norm(x, weight, bias):
        out, mean, invstd = torch.native_layer_norm(x, [x.shape[-1]], weight, bias, 1e-5)
        return out, mean.float(), invstd.float()


def jax_names():
    """JAX's names; JAX is imported by who asks for them."""
    import jax
    import jax.numpy as jnp

    class Jax:
        exp, log, rsqrt, mean = jnp.exp, jnp.log, jax.lax.rsqrt, jnp.mean
        silu = staticmethod(jax.nn.silu)

        @staticmethod
        def wide(x):
            return x.astype(jnp.float32)

        @staticmethod
        def narrow(x):
            return x.astype(jnp.bfloat16)

        @staticmethod
        def sum(x, axis, keep=False):
            return jnp.sum(x, axis, keepdims=keep)

        @staticmethod
        def softmax(x):
            return jax.nn.softmax(x, -1)

        @staticmethod
        def gelu(x):
            return jax.nn.gelu(x, approximate=True)

        @staticmethod
        def cat(parts):
            return jnp.concatenate(parts, -1)

        @staticmethod
        def log_sum_exp(x):
            return jax.nn.logsumexp(x, -1)

        @staticmethod
        def pick(x, index):
            return jnp.take_along_axis(x, index[:, None], 1)[:, 0]

        @staticmethod
        def layer_norm(x, weight, bias):
            x = Jax.wide(x)
            mean = jnp.mean(x, -1, keepdims=True)
            invstd = Jax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)
            out = (x - mean) * invstd * Jax.wide(weight) + Jax.wide(bias)
            return Jax.narrow(out), mean[:, 0], invstd

    return Jax


def softmax_backward(np, grad, y):
    g, y = np.wide(grad), np.wide(y)
    return np.narrow(y * (g - np.sum(y * g, -1, True)))


def layer_norm_backward(np, grad, x, mean, invstd, weight):
    g, normalized, share = np.wide(grad), (np.wide(x) - mean[:, None]) * invstd, 1.0 / x.shape[1]
    gw = g * np.wide(weight)
    inner = gw - np.sum(gw, -1, True) * share - normalized * (np.sum(gw * normalized, -1, True) * share)
    return tuple(map(np.narrow, (inner * invstd, np.sum(g * normalized, 0), np.sum(g, 0))))


def rms_norm(np, x, weight):
    x = np.wide(x)
    scale = np.rsqrt(np.sum(x * x, -1, True) / x.shape[-1] + 1e-6)
    return np.narrow(x * scale * np.wide(weight))


def rope(np, x, cos, sin):
    half, wide = x.shape[-1] // 2, np.wide(x)
    rotated = np.cat([-wide[..., half:], wide[..., :half]])
    return np.narrow(wide * np.wide(cos) + rotated * np.wide(sin))


def cross_entropy(np, logits, labels):
    x = np.wide(logits)
    loss = np.log_sum_exp(x) - np.pick(x, labels)
    return loss, np.mean(loss)


def modulated_layer_norm_backward(np, weight, bias, scale, grad, mean, invstd, x):
    centred, g = np.wide(x) - mean[:, :, None], np.wide(grad)
    normalized, weight = centred * invstd, np.wide(weight)
    affine = normalized * weight + np.wide(bias)
    g_affine = np.wide(np.narrow(np.wide(scale) + 1.0)) * g
    g_normalized = weight * g_affine
    g_centred = invstd * g_normalized
    g_var = np.sum(centred * g_normalized, 2, True) * -0.5 * invstd**3
    share = 1.0 / x.shape[2]
    dx = g_centred - np.sum(g_centred, 2, True) * share + g_var * 2.0 * centred * share
    sums = np.sum(g, 1), np.sum(affine * g, 1), np.sum(g_affine, (0, 1)), np.sum(normalized * g_affine, (0, 1))
    return *map(np.narrow, sums), np.narrow(dx)


def bf16(*shape):
    return torch.randn(shape, dtype=BF16)


def f32(*shape):
    return torch.randn(shape, dtype=F32)


@dataclasses.dataclass(frozen=True)
class Workload:
    """A row of the table: its definition file, its inputs by rows and columns, its formula."""

    id: str
    file: str
    inputs: Callable
    formula: Callable
    rows: int = 4096
    columns: int = 4096


def norm_backward_inputs(r, c):
    return [bf16(r, c), bf16(r, c), f32(r), torch.rand(r, 1), bf16(c)]


def modulated_inputs(r, c):
    row = [bf16(c).as_strided((r, c, c), (0, 0, 1)) for _ in range(2)]
    return [*row, bf16(r, 1, c), bf16(r, c, c), f32(r, c), torch.rand(r, c, 1), bf16(r, c, c)]


WORKLOADS = [
    Workload("add_mul_f32", "bench/workloads/add_mul_f32", lambda r, c: [f32(r, c) for _ in range(3)],
             lambda np, a, b, c: a * b + c),
    Workload("silu_mul_bf16", "examples/silu_mul", lambda r, c: [bf16(r, c) for _ in range(2)],
             lambda np, gate, up: np.narrow(np.silu(np.wide(gate)) * np.wide(up))),
    Workload("gelu_bias_bf16", "examples/gelu_bias", lambda r, c: [bf16(r, c), bf16(c)],
             lambda np, x, bias: np.narrow(np.gelu(np.wide(x) + np.wide(bias)))),
    Workload("softmax_f32", "bench/workloads/softmax_f32", lambda r, c: [f32(r, c)], lambda np, x: np.softmax(x)),
    Workload("softmax_bf16", "examples/softmax", lambda r, c: [bf16(r, c)], lambda np, x: np.softmax(x)),
    Workload("softmax_backward_bf16", "bench/workloads/softmax_backward", lambda r, c: [bf16(r, c) for _ in range(2)],
             softmax_backward),
    Workload("layer_norm_bf16", "examples/layer_norm", lambda r, c: [bf16(r, c), bf16(c), bf16(c)],
             lambda np, x, weight, bias: np.layer_norm(x, weight, bias)),
    Workload("rms_norm_bf16", "examples/rms_norm", lambda r, c: [bf16(r, c), bf16(c)], rms_norm),
    Workload("layer_norm_backward_bf16", "examples/layer_norm_backward", norm_backward_inputs, layer_norm_backward),
    Workload("sum_inner_f32", "bench/workloads/sum_inner_f32", lambda r, c: [f32(r, c)], lambda np, x: np.sum(x, 1)),
    Workload("sum_outer_f32", "bench/workloads/sum_outer_f32", lambda r, c: [f32(r, c)], lambda np, x: np.sum(x, 0)),
    Workload("transpose_add_f32", "examples/transpose_add", lambda r, c: [f32(r, c), f32(c, r)],
             lambda np, a, b: a.T + b),
    Workload("rope_bf16", "bench/workloads/rope_bf16",
             lambda r, c: [bf16(1, 32, r, c), bf16(r, c), bf16(r, c)], rope, 1024, 128),
    Workload("cross_entropy_bf16", "examples/cross_entropy",
             lambda r, c: [bf16(r, c), torch.randint(0, c, (r,))], cross_entropy, 1024, 32000),
    Workload("modulated_layer_norm_backward_bf16", "examples/modulated_layer_norm_backward", modulated_inputs,
             modulated_layer_norm_backward, 14, 1024),
]

# The sweep: every one of these at every one of these sizes (rows, columns).
SWEEP_IDS = ["silu_mul_bf16", "softmax_bf16", "layer_norm_bf16", "sum_outer_f32"]
SWEEP_SIZES = [(8, 64), (64, 1024), (512, 1024), (4096, 1000), (16384, 256), (256, 65536)]


def in_memory(tensor):
    """Bytes of a tensor, repeated axes once."""
    axes = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.element_size() * math.prod(size if stride else 1 for size, stride in axes)
