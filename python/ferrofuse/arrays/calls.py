"""Calls of ops from the user's line, and of functions that take what NumPy's take: other arguments are rejected with a reason."""

import functools
import inspect
from typing import Any, Callable, Dict, Iterable, Optional, Tuple

from .. import caller
from .._native import TensorView
from ..errors import argument_error

# Keywords of NumPy's functions that few or none take here: the values that change nothing, and why others are rejected.
_REJECTED: Dict[str, Tuple[Tuple[Any, ...], str]] = {
    "casting": (("same_kind",), "x.astype(dtype) converts before it"),
    "dtype": ((), "x.astype(dtype) converts"),
    "order": (("C",), "elements are in row-major order"),
    "out": ((), "the result is a new tensor, which has no memory before the definition runs"),
    "subok": ((True, False), "the result is a tensor"),
    "where": ((True,), "leave elements out with np.where(mask, x, …) before it"),
}


def apply(op: str, x: Any, *operands: Any, **keywords: Any) -> Any:
    """Calls an op on a value of a definition, from the user's line."""
    return x._apply(op, caller.place(), x, *operands, **keywords)


def checked(written: str, function: Callable[..., Any], is_method: bool = False) -> Callable[..., Any]:
    """The function with arguments that it does not take rejected by its name as users write it."""
    signature = inspect.signature(function)
    taken = list(signature.parameters)[1 if is_method else 0 :]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        kwargs = {name: value for name, value in kwargs.items() if name in taken or not _changes_nothing(name, value)}
        reject_keywords(written, [name for name in kwargs if name not in signature.parameters], taken)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise argument_error(f"{written}: {error}; {_takes(taken)}") from None
        return function(*args, **kwargs)

    return call


def reject_keywords(written: str, unknown: Iterable[str], taken: Iterable[str]) -> None:
    """Raises an error about the first of the keywords that a function does not take."""
    for name in unknown:
        why = _REJECTED[name][1] + "; " if name in _REJECTED else ""
        raise argument_error(f"{written}: keyword `{name}` is not supported: {why}{_takes(taken)}")


def changing(keywords: Dict[str, Any]) -> Dict[str, Any]:
    """The keywords that say something."""
    return {name: value for name, value in keywords.items() if not _changes_nothing(name, value)}


def require_tensor(written: str, argument: str, value: Any) -> Any:
    """The value, which must be a tensor of a definition."""
    if not isinstance(value, TensorView):
        raise argument_error(
            f"{written}: argument `{argument}` must be a tensor of the definition, but is {type(value).__name__}: "
            "an array is an input of the definition"
        )
    return value


def first_tensor(values: Iterable[Any]) -> Optional[TensorView]:
    """The first tensor of a definition among values."""
    return next((value for value in values if isinstance(value, TensorView)), None)


def _takes(taken: Iterable[str]) -> str:
    return "it takes " + (", ".join(taken) or "no arguments")


def _changes_nothing(name: str, value: Any) -> bool:
    return isinstance(value, (bool, str, type(None))) and name in _REJECTED and value in (None, *_REJECTED[name][0])
