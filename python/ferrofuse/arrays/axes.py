"""Axes as users give them: by NumPy's name or torch's, negative ones from the last, each once."""

from numbers import Integral
from typing import Any, List, Sequence, Union

from .._native import Val
from ..errors import argument_error
from .array_types import is_array

Axis = Union[None, int, Sequence[int]]


def one_of(**names: Any) -> Any:
    """The value of the only one of these names of one argument that is given, or `None`."""
    given = [name for name, value in names.items() if value is not None]
    if len(given) > 1:
        raise argument_error(f"{given[0]} and {given[1]} are names of one argument: give one of them")
    return names[given[0]] if given else None


def integer(written: str, argument: str, value: Any) -> int:
    """An integer of Python or NumPy."""
    if isinstance(value, Val) or not isinstance(value, Integral):
        given = "a value of the definition" if isinstance(value, Val) else repr(value)
        raise argument_error(f"{written}: argument `{argument}` must be an integer, but is {given}")
    return int(value)


def axis_in(written: str, axis: Any, rank: int, argument: str = "axis") -> int:
    """An axis of a tensor of `rank` axes, from 0."""
    at = integer(written, argument, axis)
    if rank == 0:
        raise argument_error(f"{written}: argument `{argument}` is {at}, but the tensor has no axes")
    if not -rank <= at < rank:
        raise argument_error(f"{written}: argument `{argument}` must be from {-rank} to {rank - 1}, but is {at}")
    return at % rank


def axes_in(written: str, axis: Any, rank: int, argument: str = "axis") -> List[int]:
    """One or several axes, each once, or all of them for `None`."""
    given = range(rank) if axis is None else as_list(axis)
    found = [axis_in(written, each, rank, argument) for each in given]
    if len({*found}) < len(found):
        raise argument_error(f"{written}: argument `{argument}` must name each axis once, but is {axis}")
    return found


def as_list(given: Any) -> List[Any]:
    """The items of a list, tuple or array; anything else as the only item."""
    if is_array(given) and not isinstance(given, Val) and given.ndim:
        return list(given.tolist())
    return list(given) if isinstance(given, (list, tuple)) else [given]


def over(x: Any, axis: Any) -> List[int]:
    """The axes of a fold; all of them if none is given."""
    if axis is None:
        return list(range(x.ndim))
    if isinstance(axis, Val):
        raise argument_error("an axis must be an integer, but is a value of the definition: pass int(axis), as NumPy's integers are arrays")
    return [int(axis)] if isinstance(axis, Integral) else list(axis)
