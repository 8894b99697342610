"""`x[…]` of a tensor, as in NumPy: integers, slices, `None`, `...` and one tensor of integers.

Slices with step 1 and integers are views if the tensor is an input. Other steps, and index tensors, are gathers.
"""

from numbers import Integral
from typing import Any, List, Tuple

from . import tensor_methods as methods
from ._native import DataType, TensorView, Val
from .errors import argument_error

# Dtypes of index tensors, and whether they are used as they are or as i64.
_INDICES = (DataType.Int, DataType.Int32, DataType.UInt64)
_NARROW = (DataType.Char, DataType.Short, DataType.Byte, DataType.UInt16, DataType.UInt32)


def part(x: Any, key: Any) -> Any:
    """The part of a tensor that a key selects."""
    keys = _whole(x, key if isinstance(key, tuple) else (key,))
    x = _cut(x, keys)
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
            x = methods.apply("select", x, key, axis)
    x = methods.apply("broadcast", x, new[::-1]) if any(new) else x
    return _with_looked_up_first(x, keys)


def _with_looked_up_first(x: Any, keys: List[Any]) -> Any:
    """The axes of an index tensor first, if a slice or a new axis is between it and an integer."""
    places = [place for place, key in enumerate(keys) if key is not None and not isinstance(key, slice)]
    index = next((place for place in places if isinstance(keys[place], TensorView)), None)
    if index is None or places[-1] - places[0] < len(places):
        return x
    begin = index - sum(place < index for place in places)
    moved = list(range(begin, begin + keys[index].ndim))
    return methods.apply("permute", x, [*moved, *(axis for axis in range(x.ndim) if axis not in moved)])


def _whole(x: Any, keys: Tuple[Any, ...]) -> List[Any]:
    """A key for each axis, `None` for each new one."""
    keys = tuple(map(_plain, keys))
    for key in keys:
        _require_known(key)
    if sum(isinstance(key, TensorView) for key in keys) > 1:
        raise argument_error("`x[…]`: one index tensor is taken, but several are given: index by one after the other")
    named = sum(key is not None and key is not Ellipsis for key in keys)
    if named > x.ndim:
        raise argument_error(f"`x[…]`: {named} indices are given, but the tensor has {x.ndim} axes")
    if sum(key is Ellipsis for key in keys) > 1:
        raise argument_error("`x[…]`: `...` stands for all other axes, so it is given once at most")
    place = next((place for place, key in enumerate(keys) if key is Ellipsis), len(keys))
    rest = [slice(None)] * (x.ndim - named)
    return [*keys[:place], *rest, *keys[place + 1 :]]


def _plain(key: Any) -> Any:
    """Integers of any library as Python's, index tensors of narrow integers as i64."""
    if isinstance(key, slice):
        return slice(*map(_plain, (key.start, key.stop, key.step)))
    if isinstance(key, TensorView) and key.dtype() in _NARROW:
        return methods.apply("cast", key, DataType.Int)
    return int(key) if isinstance(key, Integral) and not isinstance(key, bool) else key


def _require_known(key: Any) -> None:
    if isinstance(key, TensorView):
        if key.dtype() == DataType.Bool:
            raise argument_error(
                "`x[…]`: how many elements a mask keeps is known only when the definition runs: "
                "fd.ops.where(mask, x, 0) keeps the shape"
            )
        if key.dtype() not in _INDICES:
            raise argument_error(f"`x[…]`: an index tensor has integers, but this one is {key.dtype()!r}")
    elif isinstance(key, bool) or not (key is None or key is Ellipsis or isinstance(key, (int, slice, Val))):
        raise argument_error(
            "`x[…]`: expected an int, a slice, None, `...` or a tensor of integers, got "
            f"{type(key).__name__}: an array of indices is an input of the definition"
        )


def _cut(x: Any, keys: List[Any]) -> Any:
    """The elements of slices, ignoring steps other than 1. Backward slices are of whole axes."""
    starts: List[Any] = [0] * x.ndim
    ends: List[Any] = [x.size(axis) for axis in range(x.ndim)]
    is_cut = False
    for axis, key in enumerate(key for key in keys if key is not None):
        if not isinstance(key, slice):
            continue
        step = 1 if key.step is None else key.step
        if not isinstance(step, int) or step == 0:
            raise argument_error(f"`x[…]`: a step is a whole number that is not zero, but is {step!r}")
        if key.start is None and key.stop is None:
            continue
        if step < 0:
            raise argument_error("`x[…]`: a negative step is taken without bounds: x[::-1] of a slice")
        starts[axis], ends[axis] = _bounds(ends[axis], key)
        is_cut = True
    return methods.apply("slice", x, starts, ends) if is_cut else x


def _bounds(size: Any, key: slice) -> Tuple[Any, Any]:
    """The start and the end of a slice: negative numbers count from the end."""

    def bound(given: Any, absent: Any) -> Any:
        if given is None:
            return absent
        return size + given if isinstance(given, int) and given < 0 else given

    if isinstance(key.start, int) and isinstance(key.stop, int) and (key.start < 0) == (key.stop < 0) and key.start >= key.stop:
        return 0, 0  # nothing, whatever the size
    return bound(key.start, 0), bound(key.stop, size)


def _stepped(x: Any, step: int, axis: int) -> Any:
    """Every `step`-th element of an axis; counts down from the last element if `step` is negative."""
    if step == 1:
        return x
    size = x.size(axis)
    start, by = (0, step) if step > 0 else (size - 1, -step)
    whole = methods.apply("add", size, by - 1) if isinstance(size, Val) else size + by - 1
    count = methods.apply("div", whole, by) if isinstance(whole, Val) else whole // by
    return methods.apply("index_select", x, _iota(x, count, start, step), axis)


def _iota(x: Any, count: Any, start: Any, step: int) -> Any:
    return x._apply("iota", methods.caller.place(), count, start, step, DataType.Int)


def _gathered(x: Any, index: Any, axis: int) -> Any:
    """The elements of an axis that an index tensor selects, with the index's axes in place of that one."""
    if index.ndim == 1:
        return methods.apply("index_select", x, index, axis)
    before, after = [x.size(place) for place in range(axis)], [x.size(place) for place in range(axis + 1, x.ndim)]
    taken = methods.apply("index_select", x, methods.flatten(index), axis)
    return methods.apply("reshape", taken, [*before, *index.shape(), *after])
