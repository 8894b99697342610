"""Numbers and arrays of one element beside tensors, as NumPy takes them: a number has the dtype of the tensor beside it."""

from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Iterator

from .. import caller
from .._native import DataType, TensorView, Val
from .array_types import COMPLEX, FLOATING, SMALL_FLOATS

_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")
_rounds: "ContextVar[bool]" = ContextVar("rounds", default=False)


@contextmanager
def rounding() -> Iterator[None]:
    """Makes comparisons in a block round numbers to the dtype of the tensor, which nvFuser's language does not."""
    token = _rounds.set(True)
    try:
        yield
    finally:
        _rounds.reset(token)


def combine(op: str, of: Any, left: Any, right: Any) -> Any:
    """An op of two operands, one of which is `of`; `NotImplemented` if the other is nothing of the language."""
    place = caller.place()
    operands = beside(left, right), beside(right, left)
    if op in _COMPARISONS and _rounds.get():
        operands = _rounded(operands[0], right), _rounded(operands[1], left)
    return with_all_axes(of._combine(op, *operands, place), left, right)


def beside(number: Any, value: Any) -> Any:
    """A number as an operand beside a value: an integer of more than 64 bits beside floats is a float."""
    is_wide = type(number) is int and not -(2**63) <= number < 2**64
    if not is_wide or not isinstance(value, Val) or value.dtype() not in FLOATING:
        return number
    try:
        return float(number)
    except OverflowError:
        return number


def with_all_axes(made: Any, *operands: Any) -> Any:
    """A result with as many axes as each of its operands, of which arrays of one element are numbers for the op."""
    rank = max(0 if isinstance(each, Val) else getattr(each, "ndim", 0) for each in operands)
    if rank == 0 or not isinstance(made, Val) or made.dtype() == DataType.Null:
        return made
    of: Any = made
    if not isinstance(made, TensorView):
        return of._apply("full", caller.place(), [1] * rank, made, made.dtype())
    new = [True] * (rank - made.ndim)
    return of._apply("broadcast", caller.place(), made, new + [False] * made.ndim) if new else made


def _rounded(number: Any, other: Any) -> Any:
    """A number in the dtype of the tensor beside it if that is a small float. Complex numbers stay."""
    if not _is_real(number) or not isinstance(other, TensorView) or other.dtype() not in SMALL_FLOATS:
        return number
    of: Any = other
    return of._apply("cast", caller.place(), number, other.dtype())


def _is_real(number: Any) -> bool:
    """Whether it is a real number of Python's, or a scalar of the definition with one."""
    if isinstance(number, Val):
        return not isinstance(number, TensorView) and number.dtype() not in COMPLEX
    return isinstance(number, (int, float))
