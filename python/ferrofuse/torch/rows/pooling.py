"""Averages over windows one step apart, computed as sums of shifted tensors."""

from functools import partial
from itertools import product
from math import prod
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ..._native import DataType
from .row import Call, Result, Row, Size, Unsupported
from .views import after

# The limit on the elements of a window: each is an addition of a tensor that is read again, from a cache.
LARGEST = 27


def _avg_pool(
    rank: int,
    call: Call,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Optional[int] = None,
) -> Result:
    kernel, padding = _window(rank, call, kernel, stride, padding)
    sizes = call.sizes_of(0)[-len(kernel) :]
    sums = _sums(call, x, kernel, padding, call.shape)
    return call.ops.div(sums, _counts(call, kernel, padding, sizes, count_include_pad, divisor_override))


def _avg_pool_backward(
    rank: int,
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
    """Each element contributes to the windows that contain it: these form a window, too."""
    kernel, padding = _window(rank, call, kernel, stride, padding)
    sizes = call.sizes_of(1)[-len(kernel) :]
    counts = _counts(call, kernel, padding, sizes, count_include_pad, divisor_override)
    behind = [length - 1 - width for length, width in zip(kernel, padding)]
    return _sums(call, call.ops.div(gradient, counts), kernel, behind, call.shape)


def _window(rank: int, call: Call, kernel: Any, stride: Any, padding: Any) -> Tuple[Sequence[int], Sequence[int]]:
    """The sizes of windows along each axis of an image, and the padding before and after it.

    Raises:
        Unsupported: for elements that are integers, and windows that are large or more than one step apart.
    """
    if not call.operands[0].dtype.is_floating_point:
        raise Unsupported("averages of integers")
    kernel, stride, padding = (_of_each(numbers, rank) for numbers in (kernel, stride or kernel, padding))
    if any(step != 1 for step in stride):
        raise Unsupported("windows more than one step apart")
    if prod(kernel) > LARGEST:
        raise Unsupported(f"windows of more than {LARGEST} elements")
    return kernel, padding


def _of_each(numbers: Any, rank: int) -> Sequence[int]:
    """A number for each axis; a single number holds for all."""
    given = [numbers] if isinstance(numbers, int) else list(numbers)
    return given * rank if len(given) == 1 else given


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
    """The divisor of the sum of each window: a number, or one for each position in the last axes."""
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
    f"aten.avg_pool{rank}d{way}.default": Row(partial(lower, rank), weight=4, limit=_LIMIT)
    for rank in (2, 3)
    for way, lower in (("", _avg_pool), ("_backward", _avg_pool_backward))
}
