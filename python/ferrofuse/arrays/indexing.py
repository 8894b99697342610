"""`x[…]` of a tensor, as in NumPy, with integers, slices, `None`, `...` and one tensor of integers.

Slices with step 1 and integers are views if the tensor is an input. Other steps and index tensors are gathers.
"""

from numbers import Integral
from typing import Any, List, Tuple

from .. import caller
from .._native import DataType, TensorView, Val
from ..errors import argument_error
from .calls import apply
from .shapes import flatten

# Dtypes of index tensors that ops take, and those that are cast to i64 first.
_INDICES = (DataType.Int, DataType.Int32, DataType.UInt64)
_CAST = (DataType.Char, DataType.Short, DataType.Byte, DataType.UInt16, DataType.UInt32)


def indexed(x: Any, key: Any) -> Any:
    """`x[key]`."""
    keys = _key_per_axis(x, key if isinstance(key, tuple) else (key,))
    x = _sliced(x, keys)
    axis, new = x.ndim, []
    for key in reversed(keys):
        if key is None:
            new.append(True)
            continue
        axis -= 1
        if isinstance(key, TensorView):
            x, rank = _gathered(x, key, axis), key.ndim
            new += [False] * rank
        elif isinstance(key, slice):
            x = _stepped(x, 1 if key.step is None else key.step, axis)
            new.append(False)
        else:
            x = apply("select", x, key, axis)
    x = apply("broadcast", x, new[::-1]) if any(new) else x
    return _with_index_axes_first(x, keys)


def _with_index_axes_first(x: Any, keys: List[Any]) -> Any:
    """Moves the axes of an index tensor to the front if a slice or a new axis is between it and an integer, as NumPy does."""
    places = [place for place, key in enumerate(keys) if key is not None and not isinstance(key, slice)]
    index = next((place for place in places if isinstance(keys[place], TensorView)), None)
    if index is None or places[-1] - places[0] < len(places):
        return x
    begin = index - sum(place < index for place in places)
    moved = list(range(begin, begin + keys[index].ndim))
    return apply("permute", x, [*moved, *(axis for axis in range(x.ndim) if axis not in moved)])


def _key_per_axis(x: Any, keys: Tuple[Any, ...]) -> List[Any]:
    """A key for each axis, `None` for each new one."""
    keys = tuple(map(_normalized, keys))
    for key in keys:
        _require_supported(key)
    if sum(isinstance(key, TensorView) for key in keys) > 1:
        raise argument_error("`x[…]`: only one index tensor is supported, but several are given: index with one after the other")
    named = sum(key is not None and key is not Ellipsis for key in keys)
    if named > x.ndim:
        raise argument_error(f"`x[…]`: {named} indices are given, but the tensor has {x.ndim} axes")
    if sum(key is Ellipsis for key in keys) > 1:
        raise argument_error("`x[…]`: `...` may be given only once")
    place = next((place for place, key in enumerate(keys) if key is Ellipsis), len(keys))
    rest = [slice(None)] * (x.ndim - named)
    return [*keys[:place], *rest, *keys[place + 1 :]]


def _normalized(key: Any) -> Any:
    """A key with integers of any library as Python's, and index tensors of a dtype that ops take."""
    if isinstance(key, slice):
        return slice(*map(_normalized, (key.start, key.stop, key.step)))
    if isinstance(key, TensorView) and key.dtype() in _CAST:
        return apply("cast", key, DataType.Int)
    return int(key) if isinstance(key, Integral) and not isinstance(key, bool) else key


def _require_supported(key: Any) -> None:
    if isinstance(key, TensorView):
        if key.dtype() == DataType.Bool:
            raise argument_error(
                "`x[…]`: how many elements a mask keeps is known only when the definition runs: "
                "fd.ops.where(mask, x, 0) keeps the shape"
            )
        if key.dtype() not in _INDICES:
            raise argument_error(f"`x[…]`: an index tensor must have integers, but has {key.dtype()!r}")
    elif isinstance(key, bool) or not (key is None or key is Ellipsis or isinstance(key, (int, slice, Val))):
        raise argument_error(
            "`x[…]`: expected an int, a slice, None, `...` or a tensor of integers, got "
            f"{type(key).__name__}: an array of indices is an input of the definition"
        )


def _sliced(x: Any, keys: List[Any]) -> Any:
    """Applies the bounds of slices, but not their steps."""
    starts: List[Any] = [0] * x.ndim
    ends: List[Any] = [x.size(axis) for axis in range(x.ndim)]
    is_sliced = False
    for axis, key in enumerate(key for key in keys if key is not None):
        if not isinstance(key, slice):
            continue
        step = 1 if key.step is None else key.step
        if not isinstance(step, int) or step == 0:
            raise argument_error(f"`x[…]`: a step must be an integer other than 0, but is {step!r}")
        if key.start is None and key.stop is None:
            continue
        if step < 0:
            raise argument_error("`x[…]`: a slice with a negative step must have no bounds: slice first, as in x[2:5][::-1]")
        starts[axis], ends[axis] = _bounds(ends[axis], key)
        is_sliced = True
    return apply("slice", x, starts, ends) if is_sliced else x


def _bounds(size: Any, key: slice) -> Tuple[Any, Any]:
    """The start and the end of a slice: negative numbers count from the end, and an end before the start is the start."""
    start, stop = 0 if key.start is None else key.start, key.stop
    begin = size + start if _is_from_end(start) else start
    if stop is None:
        return begin, size
    end = size + stop if _is_from_end(stop) else stop
    if not isinstance(start, int) or not isinstance(stop, int):
        return begin, end
    if _is_from_end(start) != _is_from_end(stop):
        return begin, apply("maximum", *((begin, end) if isinstance(begin, Val) else (end, begin)))
    return (begin, end) if start < stop else (0, 0)  # nothing, whatever the size


def _is_from_end(bound: Any) -> bool:
    return isinstance(bound, int) and bound < 0


def _stepped(x: Any, step: int, axis: int) -> Any:
    """Every `step`-th element of an axis, from the last one backward if `step` is negative."""
    if step == 1:
        return x
    size = x.size(axis)
    start, by = (0, step) if step > 0 else (size - 1, -step)
    whole = apply("add", size, by - 1) if isinstance(size, Val) else size + by - 1
    count = apply("div", whole, by) if isinstance(whole, Val) else whole // by
    return apply("index_select", x, iota(x, count, start, step), axis)


def iota(x: Any, count: Any, start: Any, step: int) -> Any:
    """`start + i * step` for each `i` below a count, in the definition of a tensor."""
    return x._apply("iota", caller.place(), count, start, step, DataType.Int)


def _gathered(x: Any, index: Any, axis: int) -> Any:
    """The elements of an axis that an index tensor selects. The axes of the index replace that axis."""
    if index.ndim == 1:
        return apply("index_select", x, index, axis)
    before, after = [x.size(place) for place in range(axis)], [x.size(place) for place in range(axis + 1, x.ndim)]
    taken = apply("index_select", x, flatten(index), axis)
    return apply("reshape", taken, [*before, *index.shape(), *after])
