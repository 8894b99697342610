"""Where in the user's program a call comes from, for errors and for the lines of a definition."""

import os
import sys
from types import FrameType
from typing import Optional, Tuple

_PACKAGE = os.path.dirname(__file__) + os.sep


def frame() -> Optional[FrameType]:
    """The innermost frame that is not the package's."""
    found: Optional[FrameType] = sys._getframe(1)
    while found is not None and found.f_code.co_filename.startswith(_PACKAGE):
        found = found.f_back
    return found


def place() -> Optional[Tuple[str, int]]:
    """Name of the file, and the line, of that frame."""
    found = frame()
    return None if found is None else (os.path.basename(found.f_code.co_filename), found.f_lineno)


def line() -> int:
    """The line of that frame."""
    found = frame()
    return 0 if found is None else found.f_lineno
