"""Functions of NumPy that join tensors, or place their elements elsewhere."""

from typing import Any, List, Optional, Tuple

from .. import caller
from .._native import DataType
from ..errors import argument_error
from . import indexing
from .axes import as_list, axes_in, axis_in, integer
from .calls import apply, require_tensor
from .promotion import cast, dtype_given, in_common_dtype, of_dtype
from .shapes import along, flatten, sizes, with_new_axes, with_rank


def concatenate(arrays: Any, axis: Optional[int] = 0, *, dtype: Any = None) -> Any:
    """`fd.ops.cat`."""
    tensors = _tensors("np.concatenate", "arrays", arrays)
    return _joined("np.concatenate", tensors if axis is not None else [flatten(each) for each in tensors], axis or 0, dtype)


def stack(arrays: Any, axis: int = 0, *, dtype: Any = None) -> Any:
    """Tensors of one shape along a new axis."""
    tensors = _tensors("np.stack", "arrays", arrays)
    _require_one_rank("np.stack", tensors)
    at = axis_in("np.stack", axis, tensors[0].ndim + 1)
    return _joined("np.stack", [with_new_axes(each, [at]) for each in tensors], at, dtype)


def vstack(tup: Any, *, dtype: Any = None) -> Any:
    """Rows of tensors under each other; a tensor of one axis is a row."""
    return _joined("np.vstack", [with_rank(each, 2) for each in _tensors("np.vstack", "tup", tup)], 0, dtype)


def hstack(tup: Any, *, dtype: Any = None) -> Any:
    """Columns of tensors side by side; tensors of one axis are joined along it."""
    tensors = [with_rank(each, 1) for each in _tensors("np.hstack", "tup", tup)]
    return _joined("np.hstack", tensors, 0 if tensors[0].ndim == 1 else 1, dtype)


def _joined(written: str, tensors: List[Any], axis: int, dtype: Any) -> Any:
    _require_one_rank(written, tensors)
    meant = None if dtype is None else dtype_given(written, dtype)
    joined = in_common_dtype(tensors) if meant is None else [cast(each, meant) for each in tensors]
    return joined[0]._apply("cat", caller.place(), joined, axis)


def _require_one_rank(written: str, tensors: List[Any]) -> None:
    ranks = [each.ndim for each in tensors]
    if len({*ranks}) > 1:
        raise argument_error(f"{written}: tensors must have the same number of axes, but have {ranks}")


def _tensors(written: str, argument: str, arrays: Any) -> List[Any]:
    return [require_tensor(written, argument, each) for each in arrays]


def flip(m: Any, axis: Any = None) -> Any:
    """Axes from the last element to the first."""
    for each in axes_in("np.flip", axis, m.ndim):
        m = along(m, each, slice(None, None, -1))
    return m


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along axes, those beyond the end to the front."""
    if axis is None:
        return apply("reshape", roll(flatten(a), shift, 0), sizes(a))
    places = [axis_in("np.roll", each, a.ndim) for each in as_list(axis)]
    shifts = [integer("np.roll", "shift", each) for each in as_list(shift)]
    shifts = shifts * len(places) if len(shifts) == 1 else shifts
    places = places * len(shifts) if len(places) == 1 else places
    if len(shifts) != len(places):
        raise argument_error(f"np.roll: {len(shifts)} shifts are given for {len(places)} axes")
    for place, by in zip(places, shifts):
        a = _rolled(a, by, place)
    return a


def _rolled(a: Any, by: int, axis: int) -> Any:
    size = a.size(axis)
    split = size - by % apply("maximum", size, 1)  # there may be no elements
    return a._apply("cat", caller.place(), [along(a, axis, slice(split, None)), along(a, axis, slice(0, split))], axis)


def repeat(a: Any, repeats: int, axis: Optional[int] = None) -> Any:
    """Each element of an axis, or of all elements, several times."""
    count = _count("`repeat`", "repeats", repeats)
    if axis is None:
        return repeat(flatten(a), count, 0)
    at = axis_in("`repeat`", axis, a.ndim)
    return _multiplied(a, at + 1, at, count)


def tile(A: Any, reps: Any) -> Any:
    """The tensor several times along each axis; with more numbers than axes, along new ones in front."""
    counts = [_count("np.tile", "reps", each) for each in as_list(reps)]
    A = with_rank(A, len(counts))
    for axis, count in enumerate(counts, A.ndim - len(counts)):
        A = A if count == 1 else _multiplied(A, axis, axis, count)
    return A


def _multiplied(a: Any, new: int, axis: int, count: int) -> Any:
    """The tensor expanded along a new axis, which is joined with another one."""
    shape: List[Any] = sizes(a)
    expanded = apply("expand", with_new_axes(a, [new]), [*[-1] * new, count, *[-1] * (a.ndim - new)])
    shape[axis] = shape[axis] * count if count else 0
    return apply("reshape", expanded, shape)


def _count(written: str, argument: str, given: Any) -> int:
    count = integer(written, argument, given)
    if count < 0:
        raise argument_error(f"{written}: argument `{argument}` must not be negative, but is {count}")
    return count


def pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Any:
    """A border of numbers around a tensor."""
    if mode != "constant":
        raise argument_error(f"np.pad: argument `mode` must be 'constant', but is {mode!r}: np.concatenate adds other elements")
    widths, values = _pairs("pad_width", pad_width, array.ndim), _pairs("constant_values", constant_values, array.ndim)
    dtype = array.dtype()
    for axis, (before, after) in enumerate(widths):
        for pair, value in zip(((_count("np.pad", "pad_width", before), 0), (0, _count("np.pad", "pad_width", after))), values[axis]):
            if pair != (0, 0):
                array = apply("pad", array, [*[0, 0] * (array.ndim - axis - 1), *pair], of_dtype(value, dtype))
    return array


def _pairs(argument: str, given: Any, rank: int) -> List[Tuple[Any, Any]]:
    """A pair before and after for each axis, of a number, a pair for all axes, or pairs."""
    items = as_list(given)
    rows = [as_list(each) for each in items] if any(isinstance(each, (list, tuple)) for each in items) else [items]
    pairs = [(row[0], row[-1]) for row in rows if len(row) in (1, 2)]
    if len(pairs) < len(rows) or len(pairs) not in (1, rank):
        raise argument_error(f"np.pad: argument `{argument}` must be a number, a pair, or a pair for each of {rank} axes, but is {given}")
    return pairs * rank if len(pairs) == 1 else pairs


def diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    """Each element less the one before it along an axis, `n` times over."""
    at = axis_in("np.diff", axis, a.ndim)
    for _ in range(_count("np.diff", "n", n)):
        later, earlier = along(a, at, slice(1, None)), along(a, at, slice(None, -1))
        a = later != earlier if a.dtype() == DataType.Bool else cast(later - earlier, a.dtype())
    return a


def take(a: Any, indices: Any, axis: Optional[int] = None) -> Any:
    """`x[…]` along an axis, or among all elements."""
    a, at = (flatten(a), 0) if axis is None else (a, axis_in("np.take", axis, a.ndim))
    return indexing.indexed(a, (slice(None),) * at + (indices,))
