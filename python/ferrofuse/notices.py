"""Warnings about the machine, at the user's line."""

import sys
import warnings
from types import FrameType
from typing import Optional

from . import caller


def warn(message: str) -> None:
    """Warns at the innermost line outside of the package and of torch, which calls compiled functions of the user's."""
    found = caller.frame()
    while found is not None and _is_of_torch(found):
        found = found.f_back
    if found is None:
        found = sys._getframe()
    names = found.f_globals
    registry = names.setdefault("__warningregistry__", {})
    file, module = found.f_code.co_filename, names.get("__name__")
    warnings.warn_explicit(message, RuntimeWarning, file, found.f_lineno or 1, module, registry)


def _is_of_torch(frame: FrameType) -> bool:
    """Whether a frame belongs to torch, to code that it generated, which is of no module, or to the package called by it."""
    module = str(frame.f_globals.get("__name__", "torch")).partition(".")[0]
    return module == "torch" or frame.f_code.co_filename.startswith("<eval_with_key>") or caller.is_ours(frame)
