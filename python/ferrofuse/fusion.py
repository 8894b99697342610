"""Fusions as objects: compared by what they compute, compiled once, cached."""

import functools
from collections import OrderedDict
from typing import Any, Callable, List, Optional, Sequence

from . import _native

_guarded: List["Fusion"] = []


class Fusion:
    """A definition as written. Two are equal when they are the same but for the names of values."""

    def __init__(self) -> None:
        self._builder = _native.Builder()

    @classmethod
    def _of(cls, builder: Any) -> "Fusion":
        fusion = cls.__new__(cls)
        fusion._builder = builder
        return fusion

    def _text(self) -> str:
        return "" if self._builder.is_empty() else self._builder.text()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fusion) and self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def inputs(self) -> List[Any]:
        """Its inputs, in order."""
        return self._builder.boundary()[0]

    def outputs(self) -> List[Any]:
        """Its outputs, in order, but for those written into inputs."""
        return self._builder.boundary()[1]

    def add_output(self, output: Any, alias_input: Optional[Any] = None) -> None:
        """As `FusionDefinition.add_output`."""
        self._builder.add_output(output, alias_input)

    def print_math(self, from_outputs_only: bool = True) -> str:
        """The definition as text."""
        return self._text()


class FusionGuard:
    """Makes a fusion the current one for as long as the `with` block lasts."""

    def __init__(self, fusion: Fusion) -> None:
        self._fusion = fusion

    def __enter__(self) -> "FusionGuard":
        _guarded.append(self._fusion)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _guarded.pop()


def current() -> Fusion:
    """The fusion of the innermost `FusionGuard`."""
    if not _guarded:
        raise RuntimeError("no fusion is guarded: use `with FusionGuard(fusion):`")
    return _guarded[-1]


class FusionExecutorCache:
    """A fusion, compiled when it is first executed and once for each way that inputs lie in memory."""

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        self._fusion = fusion
        self._executable: Optional[Any] = None

    def fusion(self) -> Fusion:
        """The fusion."""
        return self._fusion

    def execute(self, inputs: Sequence[Any], *, device: Any = None, **options: Any) -> List[Any]:
        """As `FusionDefinition.execute`."""
        from .definition import _flat

        if self._executable is None:
            self._executable = self._fusion._builder.compile()
        return self._executable.run(_flat(inputs))


class LruFusionCache:
    """A decorator for functions that make a FusionDefinition: equal definitions share what was compiled for the first.

    `stats()` and `num_fusions()` of the decorated function tell how it goes.
    """

    def __init__(self, max_fusions: int = 16384) -> None:
        self._max = max_fusions
        self._kept: "OrderedDict[str, Any]" = OrderedDict()
        self._hits = self._lookups = self._evictions = 0

    def __call__(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def cached(*args: Any, **kwargs: Any) -> Any:
            return self._share(make(*args, **kwargs))

        cached.stats = self.stats
        cached.num_fusions = self.num_fusions
        return cached

    def _share(self, fd: Any) -> Any:
        self._lookups += 1
        text = repr(fd)
        if text in self._kept:
            self._hits += 1
            self._kept.move_to_end(text)
            fd._executable = self._kept[text]
            return fd
        self._kept[text] = fd._compile()
        if len(self._kept) > self._max:
            self._kept.popitem(last=False)
            self._evictions += 1
        return fd

    def num_fusions(self) -> int:
        """How many different fusions are kept."""
        return len(self._kept)

    def stats(self) -> str:
        """Lookups, hits and evictions so far."""
        rate = 100.0 * self._hits / max(1, self._lookups)
        return (
            f"Total Fusions: {len(self._kept)}\n"
            f"Cache Lookups: {self._lookups}\n"
            f"Cache Hits: {self._hits}\n"
            f"Cache Evictions: {self._evictions}\n"
            f"Hit Rate: {rate:.2f}%"
        )
