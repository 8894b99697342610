"""Seed and offset of random numbers from torch's default generator, for calls on torch's tensors.

The seed is torch's, and the offset counts the 32-bit words that its generator has returned since it was seeded: draws after
`torch.manual_seed(s)` are those of (s, 0), (s, 1), … Each draw takes one word, so that torch's own draws and ours continue
each other, and `torch.set_rng_state` restores both.
"""

import os
import threading
from typing import Any, Optional, Tuple

import numpy

BLOCK = 624  # words that a Mersenne twister makes at once
STRIDE = 16  # blocks that are made at once while a generator's place is searched
MAX_BLOCKS = 1024  # blocks that are searched at most, from the seed's on and from the last place on

_lock = threading.Lock()


def take(draws: int) -> Tuple[int, int]:
    """The seed, and the offset of the first of `draws` draws; advances torch's generator by `draws` words.

    Returns:
        Both from 0 to 2^64 - 1.
    """
    import torch

    with _lock:
        seed = torch.initial_seed() % 2**64
        offset = _offset(seed, torch.default_generator.get_state().numpy())
        torch.empty(draws, dtype=torch.int32).random_()
    return seed, offset


def _offset(seed: int, state: Any) -> int:
    """The number of words that a generator of this seed has returned, computed from its state.

    The state's layout is that of torch's `CPUGeneratorImplStateLegacy`: seed (8 bytes), words left (4), whether it is
    seeded (4), words returned of this block (8), then the block, 8 bytes a word.
    """
    returned = int(state[16:24].view(numpy.uint64)[0])
    words = state[24 : 24 + 8 * BLOCK].view(numpy.uint64).astype(numpy.uint32)
    made = _blocks_made(seed, words)
    if made is None:
        # Far from the seed, or set by hand: equal generators must still draw equal numbers.
        return int.from_bytes(words[:2].tobytes(), "little") // BLOCK * BLOCK + returned
    return max(made - 1, 0) * BLOCK + returned


class _Twister:
    """NumPy's Mersenne twister, which is torch's, block by block."""

    def __init__(self, seed: int) -> None:
        self.seed, self.made = seed, 0
        self._bits = numpy.random.RandomState(seed % 2**32)._bit_generator

    def find(self, words: Any, max_blocks: int) -> bool:
        """Advances to the block of `words`, if it is the current block or one of about `max_blocks` that follow."""
        if numpy.array_equal(self._bits.state["state"]["key"], words):
            return True
        first = _tempered(words[:4])
        for _ in range(0, max_blocks, STRIDE):
            before = self._bits.state
            blocks = self._bits.random_raw(STRIDE * BLOCK).reshape(STRIDE, BLOCK)
            [places] = (blocks[:, :4] == first).all(axis=1).nonzero()
            if len(places) > 0:
                self._bits.state = before
                self._bits.random_raw(int(places[0] + 1) * BLOCK, output=False)
                self.made += int(places[0] + 1)
                return True
            self.made += STRIDE
        return False


def _tempered(words: Any) -> Any:
    """The numbers that a twister returns for words of its state (tempering; Matsumoto and Nishimura 1998)."""
    words = words ^ words >> 11
    words = words ^ words << 7 & numpy.uint32(0x9D2C5680)
    words = words ^ words << 15 & numpy.uint32(0xEFC60000)
    return words ^ words >> 18


_last = _Twister(0)  # the last one found at the place of torch's generator
_answer: Tuple[int, bytes, Optional[int]] = (0, b"", None)  # the seed and words of the last search, and its result


def _reset_in_child() -> None:
    """Resets this module in a forked child, which lacks the thread that held the lock or advanced the twister."""
    global _lock, _last, _answer
    _lock, _last, _answer = threading.Lock(), _Twister(0), (0, b"", None)


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_reset_in_child)


def _blocks_made(seed: int, words: Any) -> Optional[int]:
    """The number of blocks that a twister of this seed has made if these are the words of its last one."""
    global _answer
    if _answer[:2] != (seed, words.tobytes()):
        _answer = (seed, words.tobytes(), _search(seed, words))
    return _answer[2]


def _search(seed: int, words: Any) -> Optional[int]:
    global _last
    searches = [(_Twister(seed), STRIDE), (_Twister(seed), MAX_BLOCKS)]
    if _last.seed == seed:
        searches.insert(1, (_last, MAX_BLOCKS))
    for twister, max_blocks in searches:
        if twister.find(words, max_blocks):
            _last = twister
            return twister.made
    return None
