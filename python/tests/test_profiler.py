"""`PythonProfiler`: the steps of a call with their times and bytes."""

import threading

import numpy as np
import pytest

from ferrofuse import (
    DataType,
    FusionDefinition,
    FusionExecutorCache,
    LRUCache,
    PythonProfiler,
    get_fusion_profile,
    reset_profiler,
)


def rows_and_columns():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        scaled = fd.ops.mul(x, 2.0)
        fd.add_output(fd.ops.sum(scaled, [0]))
        fd.add_output(fd.ops.argsort(scaled, 1))
        fd.add_output(scaled, alias_input=x)
    return fd


def test_a_call_is_measured():
    fd, array = rows_and_columns(), np.ones((32, 64), np.float32)
    with PythonProfiler() as profiler:
        first = fd.execute([array.copy()])
    profile = profiler.profile
    assert profile.compile_time_ms > 0 and profile.host_time_ms > 0
    assert profile.input_bytes == 32 * 64 * 4 and profile.output_bytes == 64 * 4 + 32 * 64 * 8
    assert profile.segments == len(profile.kernel_profiles) >= 2
    assert profile.verbose is False and profile.fusion_id == 0
    for kernel in profile.kernel_profiles:
        assert kernel.time_ms >= 0 and kernel.compile_time_ms >= 0 and kernel.name and kernel.device == "cpu"
        assert kernel.bytes == kernel.input_bytes + kernel.output_bytes and kernel.output_bytes > 0
    assert [kernel.segment_id for kernel in profile.kernel_profiles] == list(range(profile.segments))
    assert 0 < profile.kernel_time_ms <= profile.host_time_ms
    assert profile.effective_bandwidth_gbs > 0 and profile.kernel_profiles[0].effective_bandwidth_gbs > 0
    for got, expected in zip(first, fd.execute([array.copy()])):
        np.testing.assert_array_equal(got, expected)
    assert profiler.profile is profile  # calls after the block are not measured
    given = array.copy()
    with profiler:
        fd.fec.execute([given])
    assert profiler.profile is not profile and profiler.profile.compile_time_ms == 0 and (given == 2).all()


def test_kernels_tell_what_they_read_and_write_and_how_long_they_were_compiled():
    with FusionDefinition() as fd:
        x, y = (fd.define_tensor(shape=[-1, 5], contiguity=True, dtype=DataType.Float) for _ in range(2))
        fd.add_output(fd.ops.cast(fd.ops.add(x, y), DataType.Double))
    arrays = [np.ones((7, 5), np.float32), np.ones((7, 5), np.float32)]
    with PythonProfiler() as profiler:
        fd.execute(arrays)
        [kernel] = profiler.profile.kernel_profiles
        assert (kernel.input_bytes, kernel.output_bytes) == (2 * 35 * 4, 35 * 8)
        assert 0 <= kernel.compile_time_ms <= profiler.profile.compile_time_ms
        fd.execute(arrays)
        assert profiler.profile.kernel_profiles[0].compile_time_ms == 0 == profiler.profile.compile_time_ms


def test_a_call_through_segments_is_measured():
    fd, array = rows_and_columns(), np.ones((32, 64), np.float32)
    with PythonProfiler() as profiler:
        whole = fd.execute([array.copy()])
        of_whole = profiler.profile
        segments, given = fd.segment(), array.copy()
        through = fd.execute([given])
        profile = profiler.profile
        fd.execute([array.copy()])
    assert all(np.array_equal(*pair) for pair in zip(through, whole)) and (given == 2).all()
    steps = [kernel.name for kernel in profile.kernel_profiles]
    names = [step.split(".")[0] for step in steps]
    assert list(dict.fromkeys(names)) == [segment.name for segment in segments]
    assert profile.compile_time_ms > 0 == profiler.profile.compile_time_ms
    assert 0 < profile.kernel_time_ms <= profile.host_time_ms
    assert (profile.input_bytes, profile.output_bytes) == (of_whole.input_bytes, of_whole.output_bytes)
    assert all(kernel.output_bytes > 0 and kernel.device == "cpu" for kernel in profile.kernel_profiles)


def test_the_module_tells_of_the_latest_call_and_forgets_it():
    reset_profiler()
    with pytest.raises(RuntimeError) as error:
        get_fusion_profile()
    assert str(error.value) == "nothing was measured: call execute in the `with` block of a PythonProfiler"
    fd, array = rows_and_columns(), np.ones((4, 4), np.float32)
    with PythonProfiler() as first:
        fd.execute([array])
    assert get_fusion_profile() is first.profile
    with PythonProfiler() as second:
        fd.execute([array])
    assert get_fusion_profile() is second.profile is not first.profile
    reset_profiler()
    with pytest.raises(RuntimeError, match="nothing was measured"):
        get_fusion_profile()


def test_profiles_name_the_cache_that_was_called():
    array, cache = np.ones((4, 4), np.float32), LRUCache(4)
    with PythonProfiler():
        FusionExecutorCache(rows_and_columns().fusion, fusion_id=7).execute([array])
        assert get_fusion_profile().fusion_id == 7
        cache.cache_compile(rows_and_columns().fusion)
        with FusionDefinition() as other:
            other.add_output(other.ops.neg(other.define_tensor(shape=[-1, -1])))
        other.fec = cache.cache_compile(other.fusion)
        other.execute([array])
        assert get_fusion_profile().fusion_id == 1


NOT_MEASURED = "ferrofuse does not measure it"
PEAK = "the peak bandwidth of the memory is not measured; effective_bandwidth_gbs is that of the call"


def test_missing_measurements_say_why():
    fd = rows_and_columns()
    with PythonProfiler() as profiler:
        fd.execute([np.ones((4, 4), np.float32)])
    fusion, kernel = profiler.profile, profiler.profile.kernel_profiles[0]
    rejected = [(fusion, "cuda_evt_time_ms", NOT_MEASURED), (fusion, "percentage_peak_bandwith", PEAK)]
    rejected += [(kernel, "percentage_peak_bandwidth", PEAK)]
    names = "stream correlation_id grid_str block_str cluster_str shared_mem_str registers".split()
    for owner, name, why in rejected + [(kernel, name, NOT_MEASURED) for name in names]:
        with pytest.raises(NotImplementedError) as error:
            getattr(owner, name)
        assert str(error.value) == f"`{type(owner).__name__}.{name}` is not supported: {why}"
    with pytest.raises(AttributeError, match="'FusionProfile' object has no attribute 'kernels'"):
        profiler.profile.kernels


def test_wrong_uses():
    with pytest.raises(RuntimeError) as error:
        PythonProfiler().profile
    assert str(error.value) == "nothing was measured: call execute in the `with` block of a PythonProfiler"
    with pytest.raises(NotImplementedError) as error:
        PythonProfiler(auto_scheduled=False)
    assert str(error.value) == "auto_scheduled must be True, but is False: schedules are not written in Python"
    with PythonProfiler(), pytest.raises(RuntimeError) as error:
        PythonProfiler().__enter__()
    assert str(error.value) == (
        "a PythonProfiler is active already: its `with` block must end before another begins"
    )


def test_calls_of_other_threads_are_not_measured():
    fd, array = rows_and_columns(), np.ones((32, 64), np.float32)
    with FusionDefinition() as other:
        x = other.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        other.add_output(x * 2.0)
    small, out = np.ones(3, np.float32), np.zeros(3, np.float32)
    with PythonProfiler() as profiler:
        fd.execute([array])
        thread = threading.Thread(target=other.execute, args=([small],), kwargs={"out": [out]})
        thread.start()
        thread.join()
    assert out.tolist() == [2, 2, 2] and profiler.profile.input_bytes == array.nbytes
