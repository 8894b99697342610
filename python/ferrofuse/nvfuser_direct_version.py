"""The version of nvFuser's Python interface that the package has. Clients compare it with the one they need."""

import re
from typing import Any, Tuple


class NvfuserVersion(str):
    """A version as text, ordered by its numbers. Text after a plus sign is ignored."""

    def _numbers(self) -> Tuple[int, ...]:
        return tuple(int(number) for number in re.findall(r"\d+", self.split("+")[0]))

    def _compared(self, other: Any) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        mine, others = self._numbers(), NvfuserVersion(other)._numbers()
        longest = max(len(mine), len(others))
        return mine + (0,) * (longest - len(mine)), others + (0,) * (longest - len(others))

    def __eq__(self, other: Any) -> bool:
        mine, others = self._compared(other)
        return mine == others

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        mine, others = self._compared(other)
        return mine < others

    # `str` has these too, but compares letters.
    def __le__(self, other: Any) -> bool:
        return bool(self < other or self == other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(self._numbers())


Version = NvfuserVersion

__version__ = NvfuserVersion("0.2.36")


def version() -> NvfuserVersion:
    """The version of nvFuser's interface; `ferrofuse.version()` is the package's own."""
    return __version__
