"""Tracebacks that end in the user's line, without the package's own frames.

`attach` makes all public functions trim them; `FERROFUSE_TRACEBACK=full` keeps the frames. From Python 3.11 on a bare
`raise` keeps the exception's current traceback; earlier versions show all frames.
"""

import functools
import sys
from types import FunctionType, TracebackType
from typing import Any, Callable, Dict, List, Optional, Set, TypeVar

from . import caller
from ._native import full_tracebacks

Function = TypeVar("Function", bound=Callable[..., Any])


def trim(error: BaseException) -> None:
    """Removes the package's frames from the tracebacks of an exception, and of its causes."""
    waiting: List[Optional[BaseException]] = [] if sys.version_info < (3, 11) or full_tracebacks() else [error]
    trimmed: Set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in trimmed:
            each.__traceback__ = _without_ours(each.__traceback__)
            trimmed.add(id(each))
            waiting += [each.__cause__, each.__context__]


def _without_ours(trace: Optional[TracebackType]) -> Optional[TracebackType]:
    kept = []
    while trace is not None:
        kept += [] if caller.is_ours(trace.tb_frame) else [trace]
        trace = trace.tb_next
    following = None
    for entry in reversed(kept):
        entry.tb_next = following
        following = entry
    return following


def public(function: Function) -> Function:
    """A wrapper of the function that raises without the package's frames."""

    @functools.wraps(function)
    def boundary(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            trim(error)
            raise

    return trims(boundary)  # type: ignore[return-value]


def trims(function: Function) -> Function:
    """Marks a function that calls `trim` itself, as a wrapper would slow down its calls."""
    function.__dict__["_trims"] = True
    return function


def attach(names: Dict[str, Any]) -> None:
    """Makes the functions of a module, and the methods of its classes, raise without the package's frames."""
    for name in names["__all__"]:
        if isinstance(names[name], type):
            for each in names[name].__mro__:
                if each.__module__.partition(".")[0] == __package__:
                    _attach_class(each)
        elif _is_written_here(names[name]):
            function = names[name]
            names[name] = public(function)
            # Where it is defined too, because `pickle` looks for it there.
            setattr(sys.modules[function.__module__], function.__name__, names[name])


def _attach_class(of: type) -> None:
    for name, member in list(vars(of).items()):
        if name.startswith("_") and not name.endswith("__"):
            continue
        if isinstance(member, property):
            setattr(of, name, member.getter(_wrapped(member.fget)).setter(_wrapped(member.fset)))
        elif isinstance(member, (classmethod, staticmethod)):
            setattr(of, name, type(member)(_wrapped(member.__func__)))
        elif _is_written_here(member):
            setattr(of, name, _wrapped(member))


def _wrapped(member: Any) -> Any:
    return public(member) if _is_written_here(member) else member


def _is_written_here(member: Any) -> bool:
    """Whether it is a function written in the package, not one that Python generates for a class."""
    is_function = isinstance(member, FunctionType) and caller.is_of_package(member.__code__)
    return is_function and "_trims" not in member.__dict__
