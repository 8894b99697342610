"""Errors of arguments, which name the user's line."""

from typing import Any, Callable, Optional

from . import caller
from ._native import ArgumentError


def argument_error(message: str, place: Optional[caller.Place] = None) -> ArgumentError:
    """An error at a place, or at the line that called the package."""
    file, line = caller.place() if place is None else place
    error = ArgumentError(caller.with_place((file, line), message))
    error.line = line or None
    return error


def error_in(function: Callable[..., Any], message: str, line: Optional[int] = None) -> ArgumentError:
    """An error in a function of the user's, at its first line or another one."""
    code = function.__code__
    place = caller.file_name(code.co_filename), code.co_firstlineno if line is None else line
    return argument_error(f"`{function.__name__}`: {message}", place)
