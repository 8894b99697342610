"""Mistakes in the user's program, as errors with their place."""

from . import caller
from ._native import ArgumentError


def mistake(message: str) -> ArgumentError:
    """An error at the user's line."""
    place = caller.place()
    made = ArgumentError(caller.named(place, message))
    made.line = place[1] or None
    return made
