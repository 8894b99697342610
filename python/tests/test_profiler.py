"""`PythonProfiler`: the steps of a call with their times and bytes."""

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition, PythonProfiler


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
    assert all(kernel.time_ms >= 0 and kernel.bytes > 0 and kernel.name for kernel in profile.kernel_profiles)
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


def test_what_a_cpu_has_not_says_so():
    fd = rows_and_columns()
    with PythonProfiler() as profiler:
        fd.execute([np.ones((4, 4), np.float32)])
    for owner, name in ((profiler.profile, "cuda_evt_time_ms"), (profiler.profile.kernel_profiles[0], "grid_str")):
        with pytest.raises(NotImplementedError) as error:
            getattr(owner, name)
        assert str(error.value) == f"`{type(owner).__name__}.{name}` is not there: it is of GPUs, which are not run yet"
    with pytest.raises(AttributeError, match="'FusionProfile' object has no attribute 'kernels'"):
        profiler.profile.kernels


def test_wrong_uses():
    with pytest.raises(RuntimeError) as error:
        PythonProfiler().profile
    assert str(error.value) == "nothing was measured: call execute in the `with` block of the PythonProfiler"
    with pytest.raises(NotImplementedError) as error:
        PythonProfiler(auto_scheduled=False)
    assert str(error.value) == "auto_scheduled must be True, but is False: schedules are not written in Python"
    with PythonProfiler(), pytest.raises(RuntimeError) as error:
        PythonProfiler().__enter__()
    assert str(error.value) == (
        "a PythonProfiler is active already: its `with` block must end before another begins"
    )
