"""Ops that return views in torch: other sizes and strides of the same elements."""

from dataclasses import dataclass
from math import prod
from typing import Any, Dict, List, Sequence, cast

from torch.fx.experimental.symbolic_shapes import statically_known_true

from .row import Call, Kind, Result, Row, Size, Unsupported, alike, axes_of, axis_of


def _reshape(call: Call, x: Any, *_: Any) -> Result:
    """A single unknown size is left out, so that it follows from the others."""
    unknown = [place for place, size in enumerate(call.shape) if not isinstance(size, int)]
    left_out = unknown if len(unknown) == 1 and gives_the_rest(call.shape) else []
    shape: List[Size] = [-1 if place in left_out else size for place, size in enumerate(call.shape)]
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
    return in_shape(call, x, call.shape)


def _alias(call: Call, x: Any) -> Result:
    return x


def _select(call: Call, x: Any, dim: int, index: Any) -> Result:
    dim = axis_of(dim, x.ndim)
    return call.ops.squeeze(take(call, x, dim, start_of(call, dim, index, 2), 1), [dim])


def _slice(call: Call, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Result:
    dim = axis_of(dim, x.ndim)
    if step == 1:
        return take(call, x, dim, start_of(call, dim, start, 2), call.shape[dim])
    steps = Steps.of(call.sizes_of(0)[dim], start_of(call, dim, start, 2), step, call.shape[dim])
    groups = steps.groups(call, x, dim)
    return call.ops.squeeze(steps.part(call, groups, dim, steps.place, steps.place + 1), [dim + 1])


def _as_strided(call: Call, x: Any, size: Any, stride: Any, offset: Any = None) -> Result:
    given = call.operands[0]
    if offset is not None:  # in the memory of a graph's input, which may begin elsewhere in the next call
        raise Unsupported("an offset from where the memory begins")
    numbers = [*given.shape, *size, *stride]
    if not all(isinstance(number, int) for number in numbers) or not given.is_contiguous():
        raise Unsupported("strides that are not those of a reshape")
    dense = all(length == 1 or step == prod(size[axis + 1 :]) for axis, (length, step) in enumerate(zip(size, stride)))
    if not dense or given.numel() != prod(size):
        raise Unsupported("strides that are not those of a reshape")
    return _reshape(call, x)


def _split(call: Call, x: Any, sizes: Any, dim: int = 0) -> Result:
    pieces: List[Any] = []
    start: Size = 0
    dim = axis_of(dim, x.ndim)
    for shape in call.shapes:
        pieces.append(take(call, x, dim, start, shape[dim]))
        start = after(call, start, shape[dim])
    return pieces


def in_shape(call: Call, x: Any, shape: Sequence[Size]) -> Any:
    """The tensor expanded to these sizes; missing axes are added in front."""
    missing = len(shape) - x.ndim
    x = call.ops.broadcast(x, [True] * missing + [False] * x.ndim) if missing else x
    return call.ops.expand(x, shape) if shape else x


def gives_the_rest(sizes: Sequence[Size]) -> bool:
    """Does the size of a further axis follow from these? Not from a 0."""
    return not any(alike(size, 0) for size in sizes)


def start_of(call: Call, dim: int, start: Any, place: int) -> Size:
    """A start from 0 on: negative ones count from the end, and those beyond either end are clamped to it. `place` is that of
    the start among the arguments.

    Raises:
        Unsupported: when it is not known whether it counts from the end, or reaches before the first element.
    """
    size, length = call.sizes_of(0)[dim], call.operands[0].shape[dim]
    if start is None:
        return 0
    if not isinstance(start, int):
        given = call.operands[place]
        if statically_known_true(given >= 0):
            return cast(Size, start)
        if statically_known_true(given < 0) and statically_known_true(length + given >= 0):
            return cast(Size, call.ops.add(size, start))
        raise Unsupported("a start that may count from either end")
    if isinstance(size, int):
        return min(max(size + start if start < 0 else start, 0), size)
    if start >= 0:
        return size if statically_known_true(start > length) else start
    return 0 if statically_known_true(length + start < 0) else call.ops.add(size, start)


def after(call: Call, start: Size, length: Size) -> Size:
    """The end of a range with this start and length."""
    return start + length if isinstance(start, int) and isinstance(length, int) else call.ops.add(start, length)


def take(call: Call, x: Any, dim: int, start: Size, length: Size) -> Any:
    """`length` elements along an axis, from a start on."""
    return cut(call, x, dim, start, after(call, start, length))


def cut(call: Call, x: Any, dim: int, start: Size, end: Size) -> Any:
    """The elements of an axis from a start up to an end, which is excluded."""
    ends: List[Size] = [*call.sizes_of(0)]
    ends[dim] = end
    return call.ops.slice(x, [start if axis == dim else 0 for axis in range(x.ndim)], ends)


@dataclass(frozen=True)
class Steps:
    """The elements that a slice with steps selects on an axis: the one at `place` of each of `length` groups, which are
    contiguous from `begin` on; the last may exceed the end of the axis, by `missing` elements.
    """

    begin: int
    step: int
    length: int
    place: int
    missing: int

    @staticmethod
    def of(size: Size, start: Size, step: int, length: Size) -> "Steps":
        """The groups of an axis.

        Raises:
            Unsupported: when a number is not known.
        """
        if not (isinstance(size, int) and isinstance(start, int) and isinstance(length, int)):
            raise Unsupported("a slice with steps of a size that is not known")
        beyond = max(start + length * step - size, 0)
        begin = max(start - beyond, 0)
        return Steps(begin, step, length, start - begin, max(begin + length * step - size, 0))

    @property
    def end(self) -> int:
        """The end of the last group."""
        return self.begin + self.length * self.step

    def groups(self, call: Call, x: Any, dim: int) -> Any:
        """The elements of all groups, with an axis after `dim` for those of each."""
        shape: List[Size] = [*call.sizes_of(0)]
        if self.missing:
            x = call.ops.pad(x, [0, 0] * (x.ndim - 1 - dim) + [0, self.missing])
        starts = [self.begin if axis == dim else 0 for axis in range(x.ndim)]
        window = call.ops.slice(x, starts, [*shape[:dim], self.end, *shape[dim + 1 :]])
        return call.ops.reshape(window, [*shape[:dim], self.length, self.step, *shape[dim + 1 :]])

    def part(self, call: Call, groups: Any, dim: int, begin: int, end: int) -> Any:
        """For each group the elements from `begin` up to `end`, which is excluded."""
        ends: List[Size] = [*call.sizes_of(0)]
        ends[dim : dim + 1] = [self.length, end]
        return call.ops.slice(groups, [begin if axis == dim + 1 else 0 for axis in range(groups.ndim)], ends)


ROWS: Dict[str, Row] = {
    "aten.view.default": Row(_reshape, Kind.VIEW),
    "aten._unsafe_view.default": Row(_reshape, Kind.VIEW),
    "aten.reshape.default": Row(_reshape, Kind.VIEW),
    "aten.permute.default": Row(_permute, Kind.VIEW),
    "aten.transpose.int": Row(_transpose, Kind.VIEW),
    "aten.t.default": Row(_transpose_matrix, Kind.VIEW),
    "aten.unsqueeze.default": Row(_unsqueeze, Kind.VIEW),
    "aten.squeeze.default": Row(_squeeze, Kind.VIEW),
    "aten.squeeze.dim": Row(_squeeze, Kind.VIEW),
    "aten.squeeze.dims": Row(_squeeze, Kind.VIEW),
    "aten.expand.default": Row(_expand, Kind.VIEW),
    "aten.alias.default": Row(_alias, Kind.VIEW),
    "aten.detach.default": Row(_alias, Kind.VIEW),
    "aten.select.int": Row(_select, Kind.VIEW),
    "aten.as_strided.default": Row(_as_strided, Kind.VIEW, limit="what no reshape gives"),
    "aten.slice.Tensor": Row(_slice, Kind.VIEW, limit="steps along sizes that are not known"),
    "aten.split.Tensor": Row(_split, Kind.VIEW),
    "aten.split_with_sizes.default": Row(_split, Kind.VIEW),
}
