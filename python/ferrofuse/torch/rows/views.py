"""Ops that torch gives views for: other sizes and strides of the same elements."""

from typing import Any, Dict, List

from .row import Call, Result, Row, Size, Unsupported, alike, axes_of


def _reshape(call: Call, x: Any, *_: Any) -> Result:
    """A single size that is not known goes unsaid, so that it follows from the others."""
    unknown = [place for place, size in enumerate(call.shape) if not isinstance(size, int)]
    shape: List[Size] = [-1 if unknown == [place] else size for place, size in enumerate(call.shape)]
    return call.ops.reshape(x, shape)


def _permute(call: Call, x: Any, dims: Any) -> Result:
    return call.ops.permute(x, axes_of(dims, x.ndim))


def _transpose(call: Call, x: Any, first: int, second: int) -> Result:
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    return call.ops.permute(x, order)


def _transpose_matrix(call: Call, x: Any) -> Result:
    return call.ops.permute(x, list(range(x.ndim))[::-1])


def _unsqueeze(call: Call, x: Any, dim: int) -> Result:
    return call.ops.broadcast(x, [axis == dim % (x.ndim + 1) for axis in range(x.ndim + 1)])


def _squeeze(call: Call, x: Any, dims: Any = None) -> Result:
    ones = [axis for axis in axes_of(dims, x.ndim) if alike(call.sizes_of(0)[axis], 1)]
    return call.ops.squeeze(x, ones) if ones else x


def _expand(call: Call, x: Any, *_: Any, **__: Any) -> Result:
    return in_shape(call, x)


def _alias(call: Call, x: Any) -> Result:
    return x


def _select(call: Call, x: Any, dim: int, index: Any) -> Result:
    dim = dim % x.ndim
    return call.ops.squeeze(take(call, x, dim, start_of(call, dim, index), 1), [dim])


def _slice(call: Call, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Result:
    if step != 1:
        raise Unsupported("a slice with steps")
    return take(call, x, dim % x.ndim, start_of(call, dim % x.ndim, start), call.shape[dim])


def _split(call: Call, x: Any, sizes: Any, dim: int = 0) -> Result:
    pieces: List[Any] = []
    start: Size = 0
    for shape in call.shapes:
        pieces.append(take(call, x, dim % x.ndim, start, shape[dim]))
        start = after(call, start, shape[dim])
    return pieces


def in_shape(call: Call, x: Any) -> Any:
    """The tensor repeated to the sizes of the result, axes that it lacks in front."""
    missing = len(call.shape) - x.ndim
    x = call.ops.broadcast(x, [True] * missing + [False] * x.ndim) if missing else x
    return call.ops.expand(x, call.shape) if call.shape else x


def start_of(call: Call, dim: int, start: Any) -> Size:
    """A start from 0 on: negative ones count from the end, beyond it is the end."""
    size = call.sizes_of(0)[dim]
    if not isinstance(start, int):
        return 0 if start is None else start
    if start < 0:
        start = size + start if isinstance(size, int) else call.ops.add(size, start)
    return min(max(start, 0), size) if isinstance(start, int) and isinstance(size, int) else start


def after(call: Call, start: Size, length: Size) -> Size:
    """Where what begins there and is so long ends."""
    return start + length if isinstance(start, int) and isinstance(length, int) else call.ops.add(start, length)


def take(call: Call, x: Any, dim: int, start: Size, length: Size) -> Any:
    """So many elements along an axis, from a start on."""
    return cut(call, x, dim, start, after(call, start, length))


def cut(call: Call, x: Any, dim: int, start: Size, end: Size) -> Any:
    """The elements of an axis from a start to before an end."""
    ends: List[Size] = [*call.sizes_of(0)]
    ends[dim] = end
    return call.ops.slice(x, [start if axis == dim else 0 for axis in range(x.ndim)], ends)


ROWS: Dict[str, Row] = {
    "aten.view.default": Row(_reshape, "view"),
    "aten._unsafe_view.default": Row(_reshape, "view"),
    "aten.reshape.default": Row(_reshape, "view"),
    "aten.permute.default": Row(_permute, "view"),
    "aten.transpose.int": Row(_transpose, "view"),
    "aten.t.default": Row(_transpose_matrix, "view"),
    "aten.unsqueeze.default": Row(_unsqueeze, "view"),
    "aten.squeeze.default": Row(_squeeze, "view"),
    "aten.squeeze.dim": Row(_squeeze, "view"),
    "aten.squeeze.dims": Row(_squeeze, "view"),
    "aten.expand.default": Row(_expand, "view"),
    "aten.alias.default": Row(_alias, "view"),
    "aten.detach.default": Row(_alias, "view"),
    "aten.select.int": Row(_select, "view"),
    "aten.slice.Tensor": Row(_slice, "view", limit="steps other than 1"),
    "aten.split.Tensor": Row(_split, "view"),
    "aten.split_with_sizes.default": Row(_split, "view"),
}
