"""Ops that move elements to other positions: joins, pads, look-ups by an index."""

from math import prod
from typing import Any, Dict, List, Sequence

from ..._native import DataType, Val
from ..dtypes import FLOATS
from .row import Call, Kind, Result, Row, Size, Unsupported, alike, axes_of, axis_of, held
from .views import Steps, after, cut, gives_the_rest, in_shape, start_of, take


def _cat(call: Call, tensors: Any, dim: int = 0) -> Result:
    """A tensor of one axis without elements joins tensors of any rank; dtypes may differ."""
    joined = [call.ops.cast(tensor, call.computed) for tensor in tensors if tensor.ndim == len(call.shape)]
    return call.ops.cat(joined, axis_of(dim, len(call.shape)))


def _pad(call: Call, x: Any, widths: Any, value: Any = 0) -> Result:
    # torch pads integers with numbers such as -100.0, and bools with 0.
    return call.ops.pad(x, list(widths), _number(call, value))


def _gather(call: Call, x: Any, dim: int, index: Any, **_: Any) -> Result:
    return call.ops.gather(x, index, axis_of(dim, x.ndim))


def _index_select(call: Call, x: Any, dim: int, index: Any) -> Result:
    return call.ops.index_select(x, index, axis_of(dim, x.ndim))


def _flip(call: Call, x: Any, dims: Any) -> Result:
    for dim in axes_of(dims, x.ndim):
        last = call.ops.sub(call.shape[dim], 1)
        x = call.ops.index_select(x, call.ops.iota(call.shape[dim], last, -1), dim)
    return x


def _embedding(call: Call, weight: Any, indices: Any, *_: Any) -> Result:
    return call.ops.embedding_fwd(indices, weight)


def _index(call: Call, x: Any, indices: Any) -> Result:
    """Indices of axes: if each varies along its own axis of the result, one gather each, else one gather by a combined
    index of these axes. Axes that are not adjacent go first, as in the result.
    """
    given = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    dims = [dim for dim, _ in given]
    if not given or any(index.dtype().name in ("Bool", "Byte") for _, index in given):
        raise Unsupported("a mask as index")
    sizes, shapes = call.sizes_of(0), [call.operands[1][dim].shape for dim in dims]
    numel = prod(call.operands[0].shape[dim] for dim in dims)
    if dims != list(range(dims[0], dims[-1] + 1)):
        order = [*dims, *(dim for dim in range(x.ndim) if dim not in dims)]
        x, sizes = call.ops.permute(x, order), [sizes[dim] for dim in order]
        given, dims = [(place, index) for place, (_, index) in enumerate(given)], list(range(len(dims)))
    first, last = dims[0], dims[-1]
    looked_up = call.shape[first : len(call.shape) - (x.ndim - 1 - last)]
    picked = [_from_start(call, index, sizes[dim]) for dim, index in given]
    if not _walk_an_axis_each(shapes, len(looked_up)):
        together = in_shape(call, picked[0], looked_up)
        for dim, index in zip(dims[1:], picked[1:]):
            index = in_shape(call, index, looked_up)
            outside = call.ops.logical_or(call.ops.lt(index, 0), call.ops.ge(index, sizes[dim]))
            together = call.ops.add(call.ops.mul(together, sizes[dim]), index)
            together = call.ops.where(outside, -1, together)  # no index, which is an error
        others = [*sizes[:first], *sizes[last + 1 :]]
        joined = -1 if gives_the_rest(others) else call.size(numel)
        x, picked = call.ops.reshape(x, [*others[:first], joined, *others[first:]]), [together]
    for dim, index in enumerate(picked, first):
        flat = index if index.ndim == 1 else call.ops.reshape(index, [-1] if index.ndim else [1])
        x = call.ops.index_select(x, flat, dim)
    return call.ops.reshape(x, call.shape)


def _walk_an_axis_each(shapes: Sequence[Any], rank: int) -> bool:
    """Is the first of these indices along the first of as many axes, and so on? Or is there only one?"""
    placed = [[1] * (rank - len(shape)) + list(shape) for shape in shapes]
    others = [size for place, shape in enumerate(placed) for axis, size in enumerate(shape) if axis != place]
    return len(shapes) == 1 or (len(shapes) == rank and all(alike(size, 1) for size in others))


def _from_start(call: Call, index: Any, size: Size) -> Any:
    """An index from 0 on: negative ones count from the end."""
    index = call.ops.cast(index, DataType.Int)
    return call.ops.where(call.ops.lt(index, 0), call.ops.add(index, size), index)


def _scatter_value(call: Call, x: Any, dim: int, index: Any, value: Any) -> Result:
    """One index per row: each element compares its position with the index. The gather over all positions raises for an
    index out of range.
    """
    dim = axis_of(dim, x.ndim)
    expected: List[Size] = [1 if axis == dim else size for axis, size in enumerate(call.shape)]
    if not all(map(alike, call.sizes_of(2), expected)):
        raise Unsupported("a scatter of more than one element a row")
    places = call.ops.iota(call.shape[dim], 0, 1, index.dtype())
    index = call.ops.reshape(call.ops.index_select(places, call.ops.reshape(index, [-1]), 0), call.sizes_of(2))
    places = call.ops.broadcast(places, [axis != dim for axis in range(x.ndim)])
    return call.ops.where(call.ops.eq(places, index), _number(call, value), x)


def _number(call: Call, value: Any) -> Any:
    """A number as a tensor of the result's dtype holds it: a float without its fraction if that is a dtype of integers."""
    if isinstance(value, Val):
        return call.ops.cast(value, call.computed)
    if call.dtype == DataType.Bool:
        return bool(value)
    is_cut = isinstance(value, float) and call.dtype not in FLOATS
    return held(call, int(value) if is_cut else value)


def _slice_scatter(call: Call, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Result:
    dim = axis_of(dim, x.ndim)
    begin, length = start_of(call, dim, start, 3), call.sizes_of(1)[dim]
    if step == 1:
        return _replaced(call, x, source, dim, begin, length)
    return _replaced_in_steps(call, x, source, dim, Steps.of(call.shape[dim], begin, step, length))


def _replaced_in_steps(call: Call, x: Any, source: Any, dim: int, steps: Steps) -> Any:
    """The tensor with one element replaced in each group along an axis."""
    shape, groups = call.shape, steps.groups(call, x, dim)
    kept = [(0, steps.place), (steps.place + 1, steps.step)]
    before, behind = ([steps.part(call, groups, dim, *part)] if part[0] < part[1] else [] for part in kept)
    source = call.ops.broadcast(call.ops.cast(source, x.dtype()), [axis == dim + 1 for axis in range(groups.ndim)])
    replaced = call.ops.cat([*before, source, *behind], dim + 1)
    replaced = call.ops.reshape(replaced, [*shape[:dim], steps.length * steps.step, *shape[dim + 1 :]])
    length = steps.length * steps.step - steps.missing
    if steps.missing:
        replaced = call.ops.slice(replaced, [0] * x.ndim, [*shape[:dim], length, *shape[dim + 1 :]])
    return _replaced(call, x, replaced, dim, steps.begin, length)


def _select_scatter(call: Call, x: Any, source: Any, dim: int, index: Any) -> Result:
    dim = axis_of(dim, x.ndim)
    source = call.ops.broadcast(source, [axis == dim for axis in range(x.ndim)])
    return _replaced(call, x, source, dim, start_of(call, dim, index, 3), 1)


def _replaced(call: Call, x: Any, source: Any, dim: int, start: Size, length: Size) -> Any:
    """The tensor with the elements of a part of an axis replaced: the part before it, the source, and the rest."""
    end, size = after(call, start, length), call.shape[dim]
    source = call.ops.cast(source, x.dtype())
    before: List[Any] = [] if alike(start, 0) else [take(call, x, dim, 0, start)]
    behind: List[Any] = [] if alike(end, size) else [cut(call, x, dim, end, size)]
    return call.ops.cat([*before, source, *behind], dim) if before or behind else source


ROWS: Dict[str, Row] = {
    "aten.cat.default": Row(_cat, Kind.COPY),
    "aten.constant_pad_nd.default": Row(_pad, Kind.COPY),
    "aten.flip.default": Row(_flip),
    "prims.rev.default": Row(_flip),
    "aten.gather.default": Row(_gather),
    "aten.index_select.default": Row(_index_select),
    "aten.embedding.default": Row(_embedding),
    "aten.index.Tensor": Row(_index, limit="masks"),
    "aten._unsafe_index.Tensor": Row(_index, limit="masks"),
    "aten.scatter.value": Row(_scatter_value, limit="more than one index a row"),
    "aten.slice_scatter.default": Row(_slice_scatter, limit="steps along sizes that are not known"),
    "aten.select_scatter.default": Row(_select_scatter),
}
