"""Caches of compiled fusions, which equal fusions share. Counts and texts are nvFuser's."""

import functools
from collections import OrderedDict
from typing import Any, Callable

from .fusion import Fusion, FusionExecutorCache


class LRUCache:
    """Keeps up to `max_fusions` compiled fusions; the one unused longest is evicted."""

    def __init__(self, max_fusions: int) -> None:
        if isinstance(max_fusions, bool) or not isinstance(max_fusions, int) or max_fusions < 1:
            raise ValueError(f"max_fusions must be an int, 1 or more, but is {max_fusions!r}")
        self._max = max_fusions
        self._kept: "OrderedDict[str, FusionExecutorCache]" = OrderedDict()  # by the text of the fusion
        self._visits: "dict[str, int]" = {}
        self._lookups = self._hits = self._made = 0

    def cache_compile(self, fusion: Fusion) -> FusionExecutorCache:
        """The compiled form of an equal fusion, or a new one for this fusion as it is now.

        Raises:
            TypeError: for an object that is no `Fusion`.
            ValueError: for a fusion without outputs.
        """
        if not isinstance(fusion, Fusion):
            raise TypeError(f"fusion must be a Fusion, but is a {type(fusion).__name__}")
        text = fusion._text()
        kept = self._kept.get(text)
        if kept is None:
            kept = self._add(text, FusionExecutorCache._of(fusion, fusion._builder.executable(), self._made))
        else:
            self._hits += 1
            self._visits[text] += 1
        self._lookups += 1
        self._kept.move_to_end(text)
        return kept

    def _add(self, text: str, made: FusionExecutorCache) -> FusionExecutorCache:
        if len(self._kept) == self._max:
            oldest, _ = self._kept.popitem(last=False)
            del self._visits[oldest]
        self._kept[text], self._visits[text] = made, 0
        self._made += 1
        return made

    def num_fusions(self) -> int:
        """The number of fusions that are kept."""
        return len(self._kept)

    def stats(self) -> str:
        """Fusions kept and made, hits of each, the latest first, and lookups and hits of all."""
        lines = [f"Max Fusions Allowed: {self._max}"]
        if not self._kept:
            return "\n".join([*lines, "The fusion cache is empty.", ""])
        hits = (self._visits[text] for text in reversed(self._kept))
        lines += [
            f"Total Fusions in Cache: {len(self._kept)}",
            f"Total Unique Fusions Compiled: {self._made}",
            "Cache Hits by LRU ordering:",
            *(f"\t{place} -> {count} hits" for place, count in enumerate(hits)),
            f"Cache Lookups: {self._lookups}",
            f"Cache Hits: {self._hits}",
            f"Hit Rate: {100.0 * self._hits / self._lookups:g}%",
        ]
        return "\n".join([*lines, ""])


class LruFusionCache:
    """A decorator for functions that make a FusionDefinition: equal definitions share what was compiled for the first.

    `stats()` and `num_fusions()` of the decorated function return its counts.
    """

    def __init__(self, max_fusions: int = 16384) -> None:
        self.cache = LRUCache(max_fusions)

    def __call__(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(make)
        def cached(*args: Any, **kwargs: Any) -> Any:
            fd = make(*args, **kwargs)
            if not hasattr(fd, "fec"):  # executed already, it goes on by itself
                fd.fec = self.cache.cache_compile(fd.fusion)
            return fd

        cached.stats = self.cache.stats  # type: ignore[attr-defined]
        cached.num_fusions = self.cache.num_fusions  # type: ignore[attr-defined]
        return cached
