"""The gradient of padding by reflection. Torch's decomposition looks up each element of each part by a masked index."""

from typing import Any, Sequence

import torch
from torch.nn.functional import pad


def reflection_pad_backward(grad: Any, x: Any, padding: Sequence[Any]) -> Any:
    """The decomposition of `aten.reflection_pad{1,2,3}d_backward`: the widths of the last axis come first."""
    for place in range(len(padding) // 2):
        grad = _of_axis(grad, x.ndim - 1 - place, place, *padding[2 * place : 2 * place + 2])
    return grad


def _of_axis(grad: Any, axis: int, place: int, left: Any, right: Any) -> Any:
    """The gradient with what an axis was padded with added, backwards, to what that was a copy of."""
    size = grad.shape[axis] - left - right

    def placed(part: Any, before: Any, behind: Any) -> Any:
        return pad(part, [0, 0] * place + [before, behind])

    inner = placed(grad, -left, -right)
    if left > 0:
        inner = inner + placed(grad.narrow(axis, 0, left).flip(axis), 1, size - 1 - left)
    if right > 0:
        inner = inner + placed(grad.narrow(axis, left + size, right).flip(axis), size - 1 - right, 1)
    return inner
