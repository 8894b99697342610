"""Ops that torch decomposes before regions are cut, so that the table of ops can be short.

Torch's core set, without ops that its libraries compute whole, and without decompositions made for inference: that of
attention returns no log-sum-exp, without which a gradient is wrong.
"""

from typing import Any, Callable, Dict, Sequence

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch._prims_common import suggest_memory_format

from . import foreach, reflections, scatters

_MORE = """_softmax _log_softmax native_layer_norm native_group_norm _native_batch_norm_legit
_native_batch_norm_legit_functional _native_batch_norm_legit_no_training _batch_norm_with_update_functional elu leaky_relu
hardtanh linalg_vector_norm masked_fill masked_fill_ addcmul addcdiv lerp rsub empty_like nll_loss_forward
nll_loss_backward native_batch_norm native_batch_norm_backward tril triu silu silu_backward mish softplus
_to_copy logit rms_norm _fused_rms_norm unbind native_dropout"""
_WHOLE = """_scaled_dot_product_flash_attention_for_cpu embedding_dense_backward _embedding_bag index_add _unsafe_index
_unsafe_masked_index _unsafe_masked_index_put_accumulate select_scatter slice_scatter split split_with_sizes baddbmm
addmv grid_sampler_2d upsample_bilinear2d upsample_nearest2d max_pool2d_with_indices_backward"""
_DRAWS = "native_dropout bernoulli"


def table(fallback_random: bool) -> Dict[Any, Callable[..., Any]]:
    """Decompositions by op. With `fallback_random` ops that draw numbers stay whole, so that eager draws them."""
    chosen = {**core_aten_decompositions(), **get_decompositions(_packets(_MORE)), **foreach.table()}
    chosen[torch.ops.aten.index_put.default] = scatters.index_put
    for packet in _packets("reflection_pad1d_backward reflection_pad2d_backward reflection_pad3d_backward"):
        chosen[packet.default] = reflections.reflection_pad_backward
    chosen[torch.ops.aten.roll.default] = _roll(chosen[torch.ops.aten.roll.default])
    chosen[torch.ops.aten.channel_shuffle.default] = _channel_shuffle
    chosen[torch.ops.aten.native_channel_shuffle.default] = _channel_shuffle
    chosen[torch.ops.aten.addcmul.default] = _addcmul(chosen[torch.ops.aten.addcmul.default])
    chosen[torch.ops.aten.threshold.default] = _threshold
    chosen[torch.ops.aten.native_dropout_backward.default] = _native_dropout_backward
    whole = _packets(_WHOLE + " " + _DRAWS if fallback_random else _WHOLE)
    kept = {getattr(packet, name) for packet in whole for name in packet.overloads()}
    return {op: decomposition for op, decomposition in chosen.items() if op not in kept}


def _addcmul(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """Torch's decomposition rejects floats for integers: eager truncates them."""

    def addcmul(x: Any, first: Any, second: Any, *, value: Any = 1) -> Any:
        is_float = any(each.is_floating_point() or each.is_complex() for each in (x, first, second))
        return decomposition(x, first, second, value=value if is_float or not isinstance(value, float) else int(value))

    return addcmul


def _threshold(x: Any, threshold: Any, value: Any) -> Any:
    """Torch's decomposition computes integers beside a float in f32: eager truncates the numbers."""
    if not x.is_floating_point():
        threshold, value = int(threshold), int(value)
    return torch.where(x <= threshold, value, x)


def _native_dropout_backward(gradient: Any, mask: Any, scale: float) -> Any:
    """Torch's decomposition makes a contiguous tensor: eager keeps the order of the gradient in memory."""
    return gradient * (mask.to(gradient.dtype) * scale)


def _roll(decomposition: Callable[..., Any]) -> Callable[..., Any]:
    """Torch's decomposition makes a contiguous tensor: eager keeps images channels-last."""

    def roll(x: Any, shifts: Sequence[Any], dims: Sequence[int] = ()) -> Any:
        if not dims or suggest_memory_format(x) == torch.contiguous_format:
            return decomposition(x, shifts, dims)
        order = [0, *range(2, x.dim()), 1]
        rolled = decomposition(x.permute(order), shifts, [order.index(dim % x.dim()) for dim in dims])
        return rolled.permute([order.index(axis) for axis in range(x.dim())])

    return roll


def _channel_shuffle(x: Any, groups: int) -> Any:
    """Torch's decomposition makes a contiguous tensor: eager keeps images channels-last."""
    last = 1 if suggest_memory_format(x) == torch.contiguous_format else x.dim() - 1
    moved = x.movedim(1, last)
    shuffled = moved.unflatten(last, (groups, -1)).transpose(last, last + 1).flatten(last, last + 1)
    return shuffled.movedim(last, 1)


def _packets(names: str) -> Any:
    """The ops with these names that this version of torch has."""
    return [getattr(torch.ops.aten, name) for name in names.split() if hasattr(torch.ops.aten, name)]
