"""Methods and functions of NumPy that give the same elements in another shape."""

from typing import Any, List, Sequence

from ..errors import argument_error
from .attributes import Shape
from .axes import Axis, as_list, axes_in, axis_in, one_of
from .calls import apply


def reshape(a: Any, *shape: Any) -> Any:
    """`fd.ops.reshape`; one size may be -1."""
    return apply("reshape", a, _items(shape))


def reshaped(a: Any, shape: Any) -> Any:
    """`reshape` with a parameter of its own for the shape."""
    return reshape(a, shape)


def flatten(a: Any) -> Any:
    """All elements in one axis."""
    return apply("reshape", a, [-1])


def permute(a: Any, *dims: Any) -> Any:
    """`fd.ops.permute`."""
    return apply("permute", a, _items(dims))


def transpose(a: Any, *axes: Any) -> Any:
    """The axes in this order, or reversed if none is given."""
    if axes == (None,):
        return transposed(a)
    return transposed(a, _items(axes) or None)


def transposed(a: Any, axes: Any = None) -> Any:
    """`transpose` with a parameter of its own for the order."""
    return apply("permute", a, list(range(a.ndim))[::-1] if axes is None else as_list(axes))


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    first, second = axis_in("`swapaxes`", axis1, a.ndim, "axis1"), axis_in("`swapaxes`", axis2, a.ndim, "axis2")
    order = list(range(a.ndim))
    order[first], order[second] = second, first
    return apply("permute", a, order)


def matrix_transpose(a: Any) -> Any:
    """The last two axes exchanged."""
    if a.ndim < 2:
        raise argument_error(f"`mT` exchanges the last two axes, but the tensor has only {a.ndim}")
    return swapaxes(a, -2, -1)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Some axes at other places, the others in order."""
    begin = axes_in("np.moveaxis", as_list(source), a.ndim, "source")
    end = axes_in("np.moveaxis", as_list(destination), a.ndim, "destination")
    if len(begin) != len(end):
        raise argument_error(f"np.moveaxis: {len(begin)} axes cannot move to {len(end)} places")
    moved = dict(zip(end, begin))
    rest = iter([axis for axis in range(a.ndim) if axis not in begin])
    return apply("permute", a, [moved[place] if place in moved else next(rest) for place in range(a.ndim)])


def squeeze(a: Any, axis: Axis = None, *, dims: Axis = None) -> Any:
    """Removes these axes, which are of size 1."""
    given = one_of(axis=axis, dims=dims)
    if given is None:
        raise argument_error("`squeeze` needs the axes to remove, as sizes are known only when the definition runs")
    return apply("squeeze", a, as_list(given))


def unsqueeze(a: Any, dim: int) -> Any:
    """Adds an axis of size 1 before this one."""
    return with_new_axes(a, [axis_in("`unsqueeze`", dim, a.ndim + 1, "dim")])


def expand_dims(a: Any, axis: Any) -> Any:
    """New axes of size 1 at these places of the result."""
    return with_new_axes(a, axes_in("np.expand_dims", axis, a.ndim + len(as_list(axis))))


def with_new_axes(a: Any, places: Sequence[int]) -> Any:
    """The tensor with axes of size 1 at some places of the result."""
    return apply("broadcast", a, [place in places for place in range(a.ndim + len(places))])


def with_rank(a: Any, rank: int) -> Any:
    """The tensor with new axes of size 1 in front until there are so many."""
    return with_new_axes(a, range(rank - a.ndim)) if a.ndim < rank else a


def broadcast_to(array: Any, shape: Any) -> Any:
    """`fd.ops.expand` to a shape with more axes in front."""
    given = sizes_of(shape)
    if len(given) < array.ndim:
        raise argument_error(f"np.broadcast_to: argument `shape` must have {array.ndim} sizes or more, but has {len(given)}")
    return apply("expand", with_rank(array, len(given)), given)


def sizes(a: Any) -> List[Any]:
    """The sizes of all axes, scalars of the definition."""
    return [a.size(axis) for axis in range(a.ndim)]


def sizes_of(shape: Any) -> List[Any]:
    """The sizes in a shape: that of a tensor, a list, or one number."""
    return list(shape()) if isinstance(shape, Shape) else as_list(shape)


def along(a: Any, axis: int, part: slice) -> Any:
    """A slice along one axis."""
    return a[(slice(None),) * axis + (part,)]


def _items(given: Sequence[Any]) -> List[Any]:
    return list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)
