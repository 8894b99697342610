"""Groups of ops: those that are defined inside a `with fd.group(...)` block."""

from typing import Any, Tuple

from ._native import Builder
from .tracebacks import public


class Group:
    """A group that `with` opens. Errors name the line that created it."""

    def __init__(self, builder: Builder, place: Tuple[str, int], *args: Any, **kwargs: Any) -> None:
        self._builder = builder
        self._place = place
        self._args, self._kwargs = args, kwargs

    @public
    def __enter__(self) -> None:
        self._builder.at(*self._place)
        self._builder.enter_group(*self._args, **self._kwargs)

    @public
    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._builder.leave_group()
