"""Ops that bring elements to other places: joined, padded, looked up by an index."""

from typing import Any, Dict, List

from .row import Call, Result, Row, Size, Unsupported, alike, axes_of
from .views import after, cut, start_of, take


def _cat(call: Call, tensors: Any, dim: int = 0) -> Result:
    """Tensors of one axis without elements join whatever the others are; dtypes may differ."""
    joined = [call.ops.cast(tensor, call.computed) for tensor in tensors if tensor.ndim == len(call.shape)]
    return call.ops.cat(joined, dim % len(call.shape))


def _pad(call: Call, x: Any, widths: Any, value: Any = 0) -> Result:
    # torch pads integers with numbers such as -100.0.
    whole = isinstance(value, float) and value.is_integer() and not call.operands[0].dtype.is_floating_point
    return call.ops.pad(x, list(widths), int(value) if whole else value)


def _gather(call: Call, x: Any, dim: int, index: Any, **_: Any) -> Result:
    return call.ops.gather(x, index, dim % x.ndim)


def _index_select(call: Call, x: Any, dim: int, index: Any) -> Result:
    return call.ops.index_select(x, index, dim % x.ndim)


def _flip(call: Call, x: Any, dims: Any) -> Result:
    for dim in axes_of(dims, x.ndim):
        last = call.ops.sub(call.shape[dim], 1)
        x = call.ops.index_select(x, call.ops.iota(call.shape[dim], last, -1), dim)
    return x


def _embedding(call: Call, weight: Any, indices: Any, *_: Any) -> Result:
    return call.ops.embedding_fwd(indices, weight)


def _index(call: Call, x: Any, indices: Any) -> Result:
    given = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    if len(given) != 1 or given[0][1].dtype().name == "Bool":
        raise Unsupported("several indices, or a mask as index")
    [(dim, index)] = given
    size, rank = call.sizes_of(0)[dim], index.ndim
    index = call.ops.where(call.ops.lt(index, 0), call.ops.add(index, size), index)
    flat = index if rank == 1 else call.ops.reshape(index, [-1] if rank else [1])
    return call.ops.reshape(call.ops.index_select(x, flat, dim), call.shape)


def _scatter_value(call: Call, x: Any, dim: int, index: Any, value: Any) -> Result:
    """One index a row: each element asks whether the index is its own."""
    dim = dim % x.ndim
    expected: List[Size] = [1 if axis == dim else size for axis, size in enumerate(call.shape)]
    if not all(map(alike, call.sizes_of(2), expected)):
        raise Unsupported("a scatter of more than one element a row")
    places = call.ops.iota(call.shape[dim], 0, 1, index.dtype())
    places = call.ops.broadcast(places, [axis != dim for axis in range(x.ndim)])
    return call.ops.where(call.ops.eq(places, index), value, x)


def _slice_scatter(call: Call, x: Any, source: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Result:
    if step != 1:
        raise Unsupported("a slice with steps")
    dim = dim % x.ndim
    return _replaced(call, x, source, dim, start_of(call, dim, start), call.sizes_of(1)[dim])


def _select_scatter(call: Call, x: Any, source: Any, dim: int, index: Any) -> Result:
    dim = dim % x.ndim
    source = call.ops.broadcast(source, [axis == dim for axis in range(x.ndim)])
    return _replaced(call, x, source, dim, start_of(call, dim, index), 1)


def _replaced(call: Call, x: Any, source: Any, dim: int, start: Size, length: Size) -> Any:
    """The tensor with other elements along part of an axis: what stands before, the source, and what follows."""
    end, size = after(call, start, length), call.shape[dim]
    source = call.ops.cast(source, x.dtype())
    before: List[Any] = [] if alike(start, 0) else [take(call, x, dim, 0, start)]
    behind: List[Any] = [] if alike(end, size) else [cut(call, x, dim, end, size)]
    return call.ops.cat([*before, source, *behind], dim) if before or behind else source


ROWS: Dict[str, Row] = {
    "aten.cat.default": Row(_cat, "copy"),
    "aten.constant_pad_nd.default": Row(_pad, "copy"),
    "aten.flip.default": Row(_flip),
    "prims.rev.default": Row(_flip),
    "aten.gather.default": Row(_gather),
    "aten.index_select.default": Row(_index_select),
    "aten.embedding.default": Row(_embedding),
    "aten.index.Tensor": Row(_index, limit="several indices, masks"),
    "aten._unsafe_index.Tensor": Row(_index, limit="several indices, masks"),
    "aten.scatter.value": Row(_scatter_value, limit="more than one index a row"),
    "aten.slice_scatter.default": Row(_slice_scatter, limit="steps other than 1"),
    "aten.select_scatter.default": Row(_select_scatter),
}
