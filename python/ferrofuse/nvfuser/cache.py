"""Caches of compiled fusions, which equal fusions share. Counts and texts are as in nvFuser."""

import functools
from collections import OrderedDict
from typing import Any, Callable

from .fusion import Fusion, FusionExecutorCache


class LRUCache:
    """Keeps up to `max_fusions` compiled fusions, and evicts the one that was unused for longest."""

    def __init__(self, max_fusions: int) -> None:
        if isinstance(max_fusions, bool) or not isinstance(max_fusions, int) or max_fusions < 1:
            raise ValueError(f"max_fusions must be an int, 1 or more, but is {max_fusions!r}")
        self._max = max_fusions
        self._kept: "OrderedDict[str, FusionExecutorCache]" = OrderedDict()  # by the text of the fusion
        self._hits_of: "dict[str, int]" = {}
        self._lookups = self._hits = self._compiled = 0

    def cache_compile(self, fusion: Fusion) -> FusionExecutorCache:
        """What was compiled for an equal fusion, or else for this one as it is now.

        Raises:
            TypeError: for an object that is not a `Fusion`.
            ValueError: for a fusion without outputs.
        """
        if not isinstance(fusion, Fusion):
            raise TypeError(f"fusion must be a Fusion, but is a {type(fusion).__name__}")
        text = fusion._text()
        kept = self._kept.get(text)
        if kept is None:
            kept = self._add(text, FusionExecutorCache._of(fusion, fusion._builder.executable(), self._compiled))
        else:
            self._hits += 1
            self._hits_of[text] += 1
        self._lookups += 1
        self._kept.move_to_end(text)
        return kept

    def _add(self, text: str, executor: FusionExecutorCache) -> FusionExecutorCache:
        if len(self._kept) == self._max:
            oldest, _ = self._kept.popitem(last=False)
            del self._hits_of[oldest]
        self._kept[text], self._hits_of[text] = executor, 0
        self._compiled += 1
        return executor

    def num_fusions(self) -> int:
        """The number of fusions that are kept."""
        return len(self._kept)

    def stats(self) -> str:
        """The counts as text. The hits of each fusion are in order of use, the latest first."""
        lines = [f"Max Fusions Allowed: {self._max}"]
        if not self._kept:
            return "\n".join([*lines, "The fusion cache is empty.", ""])
        hits = (self._hits_of[text] for text in reversed(self._kept))
        lines += [
            f"Total Fusions in Cache: {len(self._kept)}",
            f"Total Unique Fusions Compiled: {self._compiled}",
            "Cache Hits by LRU ordering:",
            *(f"\t{place} -> {count} hits" for place, count in enumerate(hits)),
            f"Cache Lookups: {self._lookups}",
            f"Cache Hits: {self._hits}",
            f"Hit Rate: {100.0 * self._hits / self._lookups:g}%",
        ]
        return "\n".join([*lines, ""])


class LruFusionCache:
    """A decorator for functions that return a `FusionDefinition`: equal definitions share what was compiled for the first.

    `stats()` and `num_fusions()` of the decorated function return the counts of its cache.
    """

    def __init__(self, max_fusions: int = 16384) -> None:
        self.cache = LRUCache(max_fusions)

    def __call__(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def cached(*args: Any, **kwargs: Any) -> Any:
            fd = make(*args, **kwargs)
            if not hasattr(fd, "fec"):  # what was executed already stays as it is
                fd.fec = self.cache.cache_compile(fd.fusion)
            return fd

        cached.stats = self.cache.stats  # type: ignore[attr-defined]
        cached.num_fusions = self.cache.num_fusions  # type: ignore[attr-defined]
        return cached
