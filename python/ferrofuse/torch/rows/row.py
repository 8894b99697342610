"""A row of the table of ops: how an op of aten becomes ops of a definition. And the facts that its lowering gets."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Callable, List, Sequence, Tuple, Union

import torch

from ..._native import DataType, Val

Size = Union[int, Val]


class Unsupported(Exception):
    """A call of an op that has a row, but not for these arguments; the message says why."""


@dataclass(frozen=True)
class Call:
    """One call of an op in a graph.

    Attributes:
        ops: the ops of the definition.
        shapes: the sizes of each result.
        dtypes: the dtype of each result in memory.
        computed: the dtype of the first result in a region: f32 for half types.
        operands: the arguments in the graph, with fake tensors for tensors, for rows that need their shapes.
        size: converts a size of torch to one of the definition.
    """

    ops: Any
    shapes: Sequence[List[Size]]
    dtypes: Sequence[DataType]
    computed: DataType
    operands: Sequence[Any]
    size: Callable[[Any], Size]

    @property
    def shape(self) -> List[Size]:
        """The sizes of the only result, or the first."""
        return self.shapes[0]

    @property
    def dtype(self) -> DataType:
        """The dtype of the only result, or the first."""
        return self.dtypes[0]

    def sizes_of(self, operand: int) -> List[Size]:
        """The sizes of an argument that is a tensor."""
        return [self.size(size) for size in self.operands[operand].shape]


Result = Any  # a tensor of the definition, or one for each result
Lower = Callable[..., Result]


class Kind(Enum):
    """What kind of op a row is of: `COPY` moves data and computes nothing, `DRAW` draws random numbers."""

    COMPUTE = "compute"
    COPY = "copy"
    DRAW = "draw"
    VIEW = "view"
    CREATE = "create"

    @property
    def is_free(self) -> bool:
        """Does it cost nothing where it is used? Each region that uses a view or a constant has a copy."""
        return self in (Kind.VIEW, Kind.CREATE)


@dataclass(frozen=True)
class Row:
    """How an op is lowered, and what kind of op it is."""

    lower: Lower
    kind: Kind = Kind.COMPUTE
    weight: int = 1  # the number of ops that it counts as for `min_ops`
    slow_in: Sequence[DataType] = ()  # dtypes in which eager is faster on a CPU: there it counts as none
    limit: str = ""  # the calls that are left to eager nevertheless, for the page of ops

    def weight_in(self, dtype: DataType) -> int:
        """The number of ops that it counts as on a CPU where it is computed in a dtype."""
        return 0 if dtype in self.slow_in else self.weight


def same(name: str, *places: int, weight: int = 1, slow_in: Sequence[DataType] = ()) -> Row:
    """An op that the definition has too, with the same arguments, or only those at some positions."""

    def lower(call: Call, *args: Any, **_: Any) -> Result:
        return getattr(call.ops, name)(*(args[place] for place in places) if places else args)

    return Row(lower, weight=weight, slow_in=slow_in)


def alike(size: Size, other: Size) -> bool:
    """Are these known to be equal?"""
    return size is other or (isinstance(size, int) and isinstance(other, int) and size == other)


def in_bytes(value: Any) -> Any:
    """A number as a tensor of bytes holds it: an integer below zero wraps around, as in torch."""
    return value % 256 if type(value) is int and -256 < value < 0 else value


def wrapped(value: Any, dtype: Any) -> Any:
    """A number as a tensor of a dtype of torch holds it: an integer wraps around in a dtype of integers, and half types round
    numbers."""
    if type(value) in (int, float) and dtype in (torch.bfloat16, torch.float16):
        return torch.tensor(float(value)).to(dtype).item()
    if type(value) is not int or dtype == torch.bool or dtype.is_floating_point:
        return value
    limits = torch.iinfo(dtype)
    return (value - limits.min) % (1 << limits.bits) + limits.min


def held(call: Call, value: Any) -> Any:
    """A number as a tensor of the result's dtype holds it."""
    return in_bytes(value) if call.dtype == DataType.Byte else value


def axis_of(dim: int, rank: int) -> int:
    """An axis from 0 on; a negative one counts from the end.

    Raises:
        Unsupported: for a tensor without axes, whose axis 0 the definition does not have.
    """
    if rank == 0:
        raise Unsupported("an axis of a tensor without axes")
    return dim % rank


def axes_of(dims: Any, rank: int) -> List[int]:
    """Axes from 0 on for one axis or several, `None` meaning all; negative ones count from the end; empty for a tensor
    without axes.
    """
    given: Tuple[int, ...] = (dims,) if isinstance(dims, int) else tuple(range(rank) if dims is None else dims)
    return [dim % rank for dim in given] if rank else []
