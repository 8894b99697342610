"""`fd.peak_memory`: a limit on what segments make; calls through segments, which need no more memory than those of the whole."""

import copy
import pickle
import subprocess

import numpy as np
import oracle
import pytest
import torch_stand_in
from test_round_trip import PROGRAMS, RANDOM, ROOT, defined
from test_segments_of_examples import example_inputs

import ferrofuse
from ferrofuse import DataType, FusionDefinition, InputError, PythonProfiler


def branches():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
        for _ in range(3):
            w = fd.define_tensor(shape=[64, 64], contiguity=True, dtype=DataType.Float)
            fd.add_output(fd.ops.sum(fd.ops.matmul(fd.ops.relu(x), w), dims=[1]))
    return fd


def test_a_limit_that_is_kept_changes_no_result():
    fd, inputs = branches(), [np.ones((64, 64), dtype=np.float32)] * 4
    free = fd.execute(inputs)
    fd.peak_memory = fd.explain().to_dict()["peak_bytes"]
    for output, limited in zip(free, fd.execute(inputs)):
        np.testing.assert_array_equal(output, limited)


def test_a_limit_that_cannot_be_kept_is_rejected_with_the_fewest_bytes():
    fd = branches()
    fd.peak_memory = 100
    with pytest.raises(Exception, match="no segments have a peak memory within 100 bytes: the lowest peak found is [0-9]+ bytes"):
        fd.explain()
    fd.peak_memory = None
    assert fd.explain().to_dict()["peak_bytes"] > 100


@pytest.mark.parametrize("size", [3, 300, 700, 1500])
def test_a_limit_is_of_the_sizes_of_each_call(size):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.exp(x))
    fd.peak_memory = 4 * size
    x = np.ones(size, dtype=np.float32)
    np.testing.assert_allclose(fd.execute([x])[0], np.exp(x), rtol=1e-6)
    with pytest.raises(InputError, match=f"within {4 * size} bytes: the lowest peak found is {4 * size + 4} bytes"):
        fd.execute([np.ones(size + 1, dtype=np.float32)])


@pytest.mark.parametrize("limit, error", [("1 MB", TypeError), (True, TypeError), (1.5, TypeError), (-1, ValueError), (2**64, ValueError)])
def test_limits_other_than_bytes_are_rejected(limit, error):
    with pytest.raises(error, match="peak_memory"):
        branches().peak_memory = limit


def test_segments_by_hand_and_a_limit_exclude_each_other():
    fd = branches()
    fd.peak_memory = 1 << 20
    with pytest.raises(ValueError, match="limits the segments that the compiler finds"):
        fd.segmentation = [["tv4"]]
    segments = fd.segment()
    assert len(segments) > 1 and fd.peak_memory == 1 << 20
    with pytest.raises(ValueError, match="execute runs segments that were cut before"):
        fd.peak_memory = 100
    fd.segmentation = None
    fd.peak_memory = 100


def test_segments_that_are_cut_keep_the_limit_in_each_call_and_copy():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.mul(fd.ops.segment_set(fd.ops.exp(x)), 2.0))
    fd.peak_memory = 2 * 4 * 100
    fd.segment([np.ones(100, dtype=np.float32)])
    for cut in [fd, copy.copy(fd), pickle.loads(pickle.dumps(fd))]:
        assert cut.peak_memory == 800 and len(cut.segments) == len(fd.segments) > 1
        for size in [100, 50, 100]:
            x = np.ones(size, dtype=np.float32)
            np.testing.assert_allclose(cut.execute([x])[0], 2 * np.exp(x), rtol=1e-6)
        for call in [cut.execute, cut.validate, cut.explain]:
            with pytest.raises(InputError, match="have a peak memory of 808 bytes, and 800 are allowed"):
                call([np.ones(101, dtype=np.float32)])
        cut.peak_memory = None
        cut.execute([np.ones(101, dtype=np.float32)])
        assert cut.explain([np.ones(101, dtype=np.float32)]).to_dict()["peak_bytes"] == 808


def peak(fd, arrays):
    """The most bytes that a call holds, inputs aside; None where it is rejected."""
    with PythonProfiler() as profiler:
        try:
            fd.execute([np.copy(array) for array in arrays])
        except (ferrofuse.InputError, ferrofuse.OutOfRangeError):
            return None
    return profiler.profile.peak_bytes


@pytest.mark.parametrize("example", oracle.EXAMPLES, ids=lambda example: example[0].__name__)
def test_segments_of_examples_need_no_more_than_the_whole(example):
    formula, kinds, shapes, sizes = example
    source = (ROOT / "examples" / f"{formula.__name__}.py").read_text()
    fd, _ = defined(source[source.index("def ") : source.index("\nwith FusionDefinition")])
    arrays = example_inputs(kinds, shapes(*sizes[1]))
    whole = peak(fd, arrays)
    fd.segment(arrays)
    assert peak(fd, arrays) <= whole


def test_few_random_definitions_need_more_through_segments():
    """A segment is compiled without the others: that two outputs are one value, say, only the whole knows."""
    printed = subprocess.run([PROGRAMS, "0", str(RANDOM)], capture_output=True, text=True, check=True).stdout
    ran, more = 0, []
    for program in printed.split("# seed ")[1:]:
        seed, text = program.split("\n", 1)
        fd, found = defined(text, {"torch": torch_stand_in.module(int(seed))})
        arrays = [np.asarray(array) for array in found["inputs"]]
        whole = peak(fd, arrays)
        if whole is not None:
            fd.segment(arrays)
            ran += 1
            more += [seed] if peak(fd, arrays) > whole else []
    assert ran >= RANDOM / 2 and len(more) <= RANDOM / 20, more
