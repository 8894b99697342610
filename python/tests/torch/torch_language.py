"""The definition language as torch means it: an `fd` whose ops compute at once, on tensors.

Ops that torch has not are missing; of several results, those that torch says otherwise are `None`.
"""

import types

import torch
import torch.nn.functional as F

import dtypes

DATA_TYPES = types.SimpleNamespace(**{dtype.language: getattr(torch, dtype.torch) for dtype in dtypes.ALL.values()})

SAME_NAME = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
bitwise_xor ceil complex cos cosh eq erf erfc exp exp2 expm1 floor fmod frac gcd ge gt hypot imag isfinite isinf isnan
isneginf isposinf isreal ldexp le lgamma log log10 log1p log2 logical_and logical_not logical_or logical_xor lt matmul
maximum minimum mul ne neg nextafter pow real reciprocal relu remainder round rsqrt sigmoid sign signbit sin sinh sqrt sub
tan tanh trunc where
""".split()
ACTIVATIONS = """
celu elu gelu hardshrink hardsigmoid hardswish leaky_relu linear logsigmoid mish relu6 selu silu softplus softshrink softsign
tanhshrink
""".split()


def full(shape, fill_value, dtype):
    return torch.full(shape, fill_value).to(dtype)


def iota(length, start=None, step=None, dtype=torch.int64):
    return (start or 0) + (1 if step is None else step) * torch.arange(length, dtype=dtype)


def broadcast_in_dim(arg, shape, broadcast_dims):
    kept = iter(arg.shape)
    return arg.reshape([next(kept) if axis in broadcast_dims else 1 for axis in range(len(shape))]).expand(shape)


def broadcast(arg, is_broadcast_dim):
    for axis, is_new in enumerate(is_broadcast_dim):
        arg = arg.unsqueeze(axis) if is_new else arg
    return arg


def cut(arg, start_indices, end_indices):
    return arg[tuple(slice(*limits) for limits in zip(start_indices, end_indices))]


def folded(one_axis):
    """A fold over some axes, or all, of one that torch has over all or over one."""

    def fold(arg, dims=None, keepdim=False):
        for axis in sorted(range(arg.ndim) if dims is None else dims, reverse=True):
            arg = one_axis(arg, axis, keepdim)
        return arg

    return fold


def scatter(arg, index, src, dim):
    return torch.scatter(arg, dim, index, src)


def sdpfa_fwd(query, key, value, dropout_p, is_causal):
    return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal), None, None, None


OPS = {name: getattr(torch, name) for name in SAME_NAME}
OPS.update({name: getattr(F, name) for name in ACTIVATIONS})
OPS.update(
    set=lambda x: x,
    segment_set=lambda x: x,
    erfinv=torch.special.erfinv,
    tanh_gelu=lambda x: F.gelu(x, approximate="tanh"),
    div=lambda a, b: torch.div(a, b, rounding_mode=None if a.is_floating_point() or a.is_complex() else "trunc"),
    truediv=torch.true_divide,
    mod=torch.fmod,
    clamp=torch.clamp,
    threshold=F.threshold,
    lerp=torch.lerp,
    addcmul=lambda a, b, c, alpha: torch.addcmul(a, b, c, value=alpha),
    cast=lambda x, dtype: x.to(dtype),
    sum=folded(lambda x, axis, keep: torch.sum(x, axis, keep)),
    prod=folded(lambda x, axis, keep: torch.prod(x, axis, keep)),
    any=folded(lambda x, axis, keep: torch.any(x, axis, keep)),
    all=folded(lambda x, axis, keep: torch.all(x, axis, keep)),
    max=lambda x, dims=None, keepdim=False: torch.amax(x, dims or (), keepdim),
    min=lambda x, dims=None, keepdim=False: torch.amin(x, dims or (), keepdim),
    mean=lambda x, dims=None, keepdim=False: torch.mean(x, dims, keepdim),
    argmax=lambda x, dim: torch.argmax(x, dim),
    argmin=lambda x, dim: torch.argmin(x, dim),
    var=lambda x, dims, correction=1: torch.var(x, dims, correction=correction),
    var_mean=lambda x, dims, correction=1: torch.var_mean(x, dims, correction=correction),
    cumsum=lambda x, dim: torch.cumsum(x, dim, dtype=x.dtype),
    cumprod=lambda x, dim: torch.cumprod(x, dim, dtype=x.dtype),
    cummax=lambda x, dim: torch.cummax(x, dim).values,
    cummin=lambda x, dim: torch.cummin(x, dim).values,
    argsort=lambda x, dim, descending, stable: torch.argsort(x, dim=dim, descending=descending, stable=stable),
    topk=lambda x, k, dim, largest, sorted: (torch.topk(x, k, dim, largest, sorted).values, None),
    broadcast=broadcast,
    broadcast_in_dim=broadcast_in_dim,
    expand=lambda x, shape: x.expand(shape),
    reshape=lambda x, new_shape: x.reshape(new_shape),
    permute=lambda x, dims: x.permute(dims),
    squeeze=lambda x, dims: x.squeeze(dims),
    slice=cut,
    pad=lambda x, pad_widths: F.pad(x, pad_widths),
    cat=lambda tensors, dim: torch.cat(tensors, dim),
    stride_order=lambda x, stride_order: x,
    triu=lambda x, diagonal: torch.triu(x, diagonal),
    full=full,
    iota=iota,
    take_along_axis=lambda x, index, dim: torch.take_along_dim(x, index.long(), dim),
    gather=lambda x, index, dim: torch.gather(x, dim, index.long()),
    index_select=lambda x, index, dim: torch.index_select(x, dim, index),
    select=lambda x, index, dim: torch.select(x, dim, index),
    embedding_fwd=lambda index, weight: F.embedding(index, weight),
    scatter=scatter,
    softmax=lambda x, dim: torch.softmax(x, dim),
    log_softmax=lambda x, dim: torch.log_softmax(x, dim),
    layer_norm=lambda x, normalized_shape: F.layer_norm(x, normalized_shape),
    rms_norm=lambda x, normalized_shape: F.rms_norm(x, normalized_shape, eps=1e-5),
    sdpfa_fwd=sdpfa_fwd,
)

FD = types.SimpleNamespace(ops=types.SimpleNamespace(**OPS))
