"""The place in the user's program that a call comes from, for errors and for the lines of a definition."""

import functools
import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Iterator, Optional, Tuple

Place = Tuple[str, int]
"""The name of a file, without its folders, and a line, from 1; line 0 where there is none."""

NOWHERE: Place = ("", 0)

_fixed: "ContextVar[Optional[Place]]" = ContextVar("place", default=None)
_PACKAGE = os.path.dirname(__file__) + os.sep


def is_of_package(code: CodeType) -> bool:
    """Whether code belongs to the package."""
    return code.co_filename.startswith(_PACKAGE)


def is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to the package."""
    return is_of_package(frame.f_code)


def frame() -> Optional[FrameType]:
    """The innermost frame outside of the package."""
    found: Optional[FrameType] = sys._getframe(1)
    while found is not None and is_ours(found):
        found = found.f_back
    return found


@functools.lru_cache(maxsize=256)
def file_name(path: str) -> str:
    """The name of a file without its folders, with question marks for bytes that are not text."""
    return os.path.basename(path).encode("utf-8", "replace").decode()


@contextmanager
def standing_at(place: Place) -> Iterator[None]:
    """Makes the calls in a block come from this place, as those of torch's compiler come from the line that it compiles."""
    token = _fixed.set(place)
    try:
        yield
    finally:
        _fixed.reset(token)


def place() -> Place:
    """The place of the innermost frame outside of the package, or the one that `standing_at` set."""
    fixed = _fixed.get()
    if fixed is not None:
        return fixed
    found = frame()
    return NOWHERE if found is None else (file_name(found.f_code.co_filename), found.f_lineno or 0)


def with_place(place: Place, message: str) -> str:
    """The message, after its place if there is one."""
    file, line = place
    return f"{file}:{line}: {message}" if line else message
