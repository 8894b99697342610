"""Averages over windows one step apart, computed as sums of shifted tensors."""

from itertools import product
from math import prod
from typing import Any, Dict, List, Optional, Sequence

from ..._native import DataType
from .row import Call, Result, Row, Size, Unsupported
from .views import after

# Elements of a window, at most: each is an addition of a tensor that is read once more, from a cache.
LARGEST = 27


def _avg_pool(
    call: Call,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Optional[int] = None,
) -> Result:
    padding = _padding(call, kernel, stride, padding)
    sizes = call.sizes_of(0)[-len(kernel) :]
    sums = _sums(call, x, kernel, padding, call.shape)
    return call.ops.div(sums, _counts(call, kernel, padding, sizes, count_include_pad, divisor_override))


def _avg_pool_backward(
    call: Call,
    gradient: Any,
    x: Any,
    kernel: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Optional[int],
) -> Result:
    """Each element has a part of each window that it stands in: these lie in a window of their own."""
    padding = _padding(call, kernel, stride, padding)
    sizes = call.sizes_of(1)[-len(kernel) :]
    counts = _counts(call, kernel, padding, sizes, count_include_pad, divisor_override)
    behind = [length - 1 - width for length, width in zip(kernel, padding)]
    return _sums(call, call.ops.div(gradient, counts), kernel, behind, call.shape)


def _padding(call: Call, kernel: Sequence[int], stride: Any, padding: Any) -> Sequence[int]:
    """What is padded before and after each of the last axes.

    Raises:
        Unsupported: where elements are integers, windows are large, or more than one step apart.
    """
    if not call.operands[0].dtype.is_floating_point:
        raise Unsupported("averages of integers")
    if any(step != 1 for step in stride or kernel):
        raise Unsupported("windows more than one step apart")
    if prod(kernel) > LARGEST:
        raise Unsupported(f"windows of more than {LARGEST} elements")
    return [padding] * len(kernel) if isinstance(padding, int) else padding


def _sums(call: Call, x: Any, kernel: Sequence[int], padding: Sequence[int], shape: Sequence[Size]) -> Any:
    """The sum of the window that begins at each element of this shape, in a tensor with zeros around it."""
    around = [width for width in reversed(padding) for _ in range(2)]
    padded = call.ops.pad(x, around) if any(around) else x
    outer: List[int] = [0] * (len(shape) - len(kernel))
    total: Any = None
    for place in product(*map(range, kernel)):
        starts = outer + list(place)
        ends = [after(call, size, start) for size, start in zip(shape, starts)]
        part = call.ops.slice(padded, starts, ends)
        total = part if total is None else call.ops.add(total, part)
    return total


def _counts(
    call: Call,
    kernel: Sequence[int],
    padding: Sequence[int],
    sizes: Sequence[Size],
    include_pad: bool,
    divisor: Optional[int],
) -> Any:
    """By what the sum of each window is divided: a number, or one for each place in the last axes."""
    if divisor or include_pad:
        return float(divisor or prod(kernel))
    counts: Any = None
    for axis, (length, width, size) in enumerate(zip(kernel, padding, sizes)):
        windows = after(call, size, 2 * width - length + 1)
        end = call.ops.minimum(call.ops.iota(windows, length - width, 1, DataType.Float), size)
        count = call.ops.sub(end, call.ops.maximum(call.ops.iota(windows, -width, 1, DataType.Float), 0))
        count = call.ops.broadcast(count, [other != axis for other in range(len(kernel))])
        counts = count if counts is None else call.ops.mul(counts, count)
    return counts


_LIMIT = f"integers, windows more than one step apart, or of more than {LARGEST} elements"

ROWS: Dict[str, Row] = {
    "aten.avg_pool2d.default": Row(_avg_pool, weight=4, limit=_LIMIT),
    "aten.avg_pool3d.default": Row(_avg_pool, weight=4, limit=_LIMIT),
    "aten.avg_pool2d_backward.default": Row(_avg_pool_backward, weight=4, limit=_LIMIT),
    "aten.avg_pool3d_backward.default": Row(_avg_pool_backward, weight=4, limit=_LIMIT),
}
