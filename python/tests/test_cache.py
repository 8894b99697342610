"""Caches of what was compiled, and `fd.fec` that is set to what they give: counts and texts are nvFuser's."""

import numpy as np
import pytest

from ferrofuse import ArgumentError, DataType, FusionDefinition, FusionExecutorCache, LRUCache, LruFusionCache

ONES = np.ones((2, 3), np.float32)


def added(number):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.add(x, float(number)))
    return fd


def test_statistics_before_the_first_use():
    cache = LRUCache(max_fusions=3)
    assert cache.num_fusions() == 0
    assert cache.stats() == "Max Fusions Allowed: 3\nThe fusion cache is empty.\n"
    assert LruFusionCache()(added).stats() == "Max Fusions Allowed: 16384\nThe fusion cache is empty.\n"


def test_equal_fusions_share_what_was_compiled_and_the_oldest_goes():
    cache = LRUCache(2)
    first = cache.cache_compile(added(1).fusion)
    assert cache.cache_compile(added(1).fusion) is first
    cache.cache_compile(added(2).fusion)
    cache.cache_compile(added(1).fusion)
    assert cache.num_fusions() == 2
    cache.cache_compile(added(3).fusion)  # 2 was asked for longest ago
    assert cache.cache_compile(added(1).fusion) is first
    assert cache.num_fusions() == 2
    assert cache.stats() == (
        "Max Fusions Allowed: 2\n"
        "Total Fusions in Cache: 2\n"
        "Total Unique Fusions Compiled: 3\n"
        "Cache Hits by LRU ordering:\n"
        "\t0 -> 3 hits\n"
        "\t1 -> 0 hits\n"
        "Cache Lookups: 6\n"
        "Cache Hits: 3\n"
        "Hit Rate: 50%\n"
    )
    cache.cache_compile(added(1).fusion)
    assert cache.stats().endswith("Cache Lookups: 7\nCache Hits: 4\nHit Rate: 57.1429%\n")


def test_caches_keep_the_fusion_as_it_was():
    fd, cache = added(1), LRUCache(8)
    kept = cache.cache_compile(fd.fusion)
    with fd:
        fd.add_output(fd.ops.neg(fd.fusion.inputs()[0]))
    assert len(kept.execute([ONES])) == 1 and len(fd.execute([ONES])) == 2
    assert cache.cache_compile(fd.fusion) is not kept


def test_fec_can_be_set():
    cache = LRUCache(16384)
    fd, again = added(4), added(4)
    assert not hasattr(fd, "fec")
    fd.fec = cache.cache_compile(fd.fusion)
    again.fec = cache.cache_compile(again.fusion)
    assert again.fec is fd.fec
    del again._fusion  # as nvFuser's decorator does
    np.testing.assert_array_equal(again.execute([ONES])[0], ONES + 4)
    assert fd.fec.is_compiled([ONES]) and again.fusion == fd.fusion and repr(again) == repr(fd)
    again.validate([ONES])


def test_the_decorator_counts_as_the_cache():
    make = LruFusionCache(max_fusions=1)(added)
    assert make(1).fec is make(1).fec and make.num_fusions() == 1
    assert make(2).execute([ONES])[0][0, 0] == 3
    assert "Total Unique Fusions Compiled: 2\nCache Hits by LRU ordering:\n\t0 -> 0 hits\n" in make.stats()


def test_executed_definitions_keep_their_executor():
    executed = added(1)
    executed.execute([ONES])
    fec, make = executed.fec, LruFusionCache()(lambda: executed)
    assert make().fec is fec and make.num_fusions() == 0


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "8", None])
def test_a_cache_holds_one_fusion_at_least(size):
    with pytest.raises(ValueError) as error:
        LRUCache(size)
    assert str(error.value) == f"max_fusions must be an int, 1 or more, but is {size!r}"
    with pytest.raises(ValueError) as again:
        LruFusionCache(size)
    assert str(again.value) == str(error.value)


def test_other_objects_than_fusions_are_rejected():
    with pytest.raises(TypeError) as error:
        LRUCache(1).cache_compile(added(1))
    assert str(error.value) == "fusion must be a Fusion, but is a FusionDefinition"
    with pytest.raises(TypeError) as error:
        added(1).fec = added(1).fusion
    assert str(error.value) == "fec must be a FusionExecutorCache, but is a Fusion"
    one, other = added(1), added(2)
    one.execute([ONES]), other.execute([ONES])
    with pytest.raises(ArgumentError, match="fec must be the cache of an equal fusion, but is that of another definition"):
        one.fec = other.fec
    np.testing.assert_array_equal(one.execute([ONES])[0], ONES + 1)
    with FusionDefinition() as empty:
        pass
    with pytest.raises(ValueError, match="give results back with fd.add_output"):
        LRUCache(1).cache_compile(empty.fusion)
    assert isinstance(LRUCache(1).cache_compile(added(1).fusion), FusionExecutorCache)
