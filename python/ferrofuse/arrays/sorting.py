"""Functions of NumPy that sort, and that take elements by index tensors of the same shape."""

from typing import Any, List, Optional

from .. import caller
from .._native import DataType, TensorView
from ..errors import argument_error
from .array_types import UNSIGNED
from .axes import axis_in
from .calls import apply, require_tensor
from .shapes import flatten

_KINDS = (None, "quicksort", "heapsort", "mergesort", "stable")
# An array of so many indices is a constant of the definition; a larger one is an input.
_MOST_CONSTANTS = 64


def sort(a: Any, axis: Optional[int] = -1, kind: Optional[str] = None, *, stable: Optional[bool] = None) -> Any:
    """The elements along an axis, or all of them, in order; NaN last."""
    a, at = _sorted_axis("np.sort", a, axis, kind)
    return apply("topk", a, a.size(at), at, False, True)[0]


def argsort(
    a: Any, axis: Optional[int] = -1, kind: Optional[str] = None, *, stable: Optional[bool] = None, dim: Optional[int] = None
) -> Any:
    """`fd.ops.argsort`: the indices that sort an axis, or all elements. Equal elements stay in order."""
    a, at = _sorted_axis("`argsort`", a, axis if dim is None else dim, kind)
    return apply("argsort", a, at)


def _sorted_axis(written: str, a: Any, axis: Optional[int], kind: Optional[str]) -> Any:
    if kind not in _KINDS:
        raise argument_error(f"{written}: argument `kind` must be one of {', '.join(map(str, _KINDS[1:]))}, but is {kind!r}")
    return (flatten(a), 0) if axis is None else (a, axis_in(written, axis, a.ndim))


def take_along_axis(arr: Any, indices: Any, axis: Optional[int] = -1) -> Any:
    """`fd.ops.take_along_axis`; negative indices count from the end."""
    require_tensor("np.take_along_axis", "arr", arr)
    arr, at = (flatten(arr), 0) if axis is None else (arr, axis_in("np.take_along_axis", axis, arr.ndim))
    index = indices if isinstance(indices, TensorView) else _constants(arr, indices, at)
    if index.ndim != arr.ndim:
        raise argument_error(f"np.take_along_axis: argument `indices` must have {arr.ndim} axes, but has {index.ndim}")
    if isinstance(indices, TensorView) and index.dtype() not in UNSIGNED:
        index = apply("where", index < 0, index + arr.size(at), index)
    return apply("take_along_axis", arr, index, at)


def _constants(arr: Any, indices: Any, axis: int) -> Any:
    """A small array of indices as a tensor of the definition."""
    import numpy

    array = numpy.asarray(indices)
    if array.dtype.kind not in "iu":
        raise argument_error(f"np.take_along_axis: argument `indices` must have integers, but has {array.dtype}")
    if array.size > _MOST_CONSTANTS:
        raise argument_error(
            f"np.take_along_axis: an array of {array.size} indices is an input of the definition; up to {_MOST_CONSTANTS} are constants"
        )
    given = array.ravel().tolist()
    places: List[Any] = [arr.size(axis) + index if index < 0 else index for index in given]
    if len({*given}) < 2:
        return arr._apply("full", caller.place(), list(array.shape), places[0] if places else 0, DataType.Int)
    ones = [arr._apply("full", caller.place(), [1], place, DataType.Int) for place in places]
    return apply("reshape", arr._apply("cat", caller.place(), ones, 0), list(array.shape))
