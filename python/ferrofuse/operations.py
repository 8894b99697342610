"""`fd.ops`: a function for each op, made from the compiler's own table of ops. The types are in `operations.pyi`."""

import functools
import inspect
from typing import Any, Callable, Tuple

from . import _native, caller
from .docstrings import docstring
from .tracebacks import public

TABLE = {row["name"]: row for row in _native.ops()}


class Operations:
    """The ops of a definition. `dir` lists them, `help` describes each."""

    def __init__(self, builder: Callable[[], _native.Builder]) -> None:
        """`builder` returns the definition that calls add to, at the time of the call."""
        self._builder = builder

    @public
    def __getattr__(self, name: str) -> Any:
        row = TABLE.get(name)
        if row is not None:
            function = _function(self._builder, row)
        elif name == "at":
            function = _at(self._builder)
        elif _native.why_rejected(name):
            function = _rejected(name)
        else:
            # Python suggests a similar attribute of this object unless the error names another object.
            raise AttributeError(f"there is no op `{name}`{_suggestion(name)}", name=name, obj=None)
        self.__dict__[name] = function
        return function

    def __dir__(self) -> list:
        return sorted(TABLE)


def _suggestion(name: str) -> str:
    near = _native.nearest_op(name)
    return f"; did you mean `{near}`?" if near else ""


def _rejected(name: str) -> Any:
    def op(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(op.__doc__)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"`{name}` is {_native.why_rejected(name)}."
    return public(op)


def _at(builder: Callable[[], _native.Builder]) -> Any:
    def at(vector: Any, index: Any) -> Any:
        to = builder()
        to.at(*caller.place())
        return to.vector_item(vector, index)

    at.__qualname__, at.__module__ = "at", "ferrofuse.ops"
    at.__doc__ = "A scalar of a list such as `define_vector` and `shape` give, as nvFuser's `at`; `vector[index]` is the same."
    return public(at)


def _function(builder: Callable[[], _native.Builder], row: dict) -> Any:
    name = row["name"]

    def op(*args: Any, **kwargs: Any) -> Any:
        to = builder()
        to.at(*caller.place())
        return to.call(name, args, kwargs)

    op.__name__ = op.__qualname__ = name
    op.__module__ = "ferrofuse.ops"
    op.__doc__, op.__signature__ = _described(name)
    return public(op)


@functools.lru_cache(maxsize=None)
def _described(name: str) -> Tuple[str, inspect.Signature]:
    """Docstring and signature of an op: every definition has a function of its own for each op that it calls."""
    return docstring(TABLE[name]), signature(TABLE[name])


def signature(row: dict) -> inspect.Signature:
    """The parameters of an op as Python shows them."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    optional = False
    for param in row["params"]:
        # Python cannot show a required parameter after an optional one, so it is shown as optional.
        optional = optional or not param["required"]
        default = param["default"] if optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter(param["name"], kind, default=default))
    return inspect.Signature(parameters)
