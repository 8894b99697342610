"""How many threads calls run on."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import ferrofuse
from ferrofuse import DataType, DefinitionError, FusionDefinition

A = np.random.default_rng(7).standard_normal((512, 2048)).astype(np.float32)


@pytest.fixture
def fd():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.softmax(x, dim=1))
    return fd


def test_results_are_the_same_for_any_number(fd):
    [expected] = fd.execute([A])
    for threads in (1, 2, np.int64(5)):
        assert np.array_equal(fd.execute([A], threads=threads)[0], expected)
    fd.segment()
    assert np.array_equal(fd.execute([A], threads=3)[0], expected)


def test_the_number_of_the_process_is_set(fd):
    before = ferrofuse.get_num_threads()
    try:
        ferrofuse.set_num_threads(1)
        assert ferrofuse.get_num_threads() == 1 and fd.execute([A])
    finally:
        ferrofuse.set_num_threads(before)
    assert ferrofuse.get_num_threads() == before


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", True, 1025, 2**70, None])
def test_wrong_numbers_of_threads_are_rejected(fd, wrong):
    words = "expected a number of threads from 1 to 1024, got"
    if wrong is not None:
        with pytest.raises(ValueError, match=f"threads: {words}"):
            fd.execute([A], threads=wrong)
    with pytest.raises(ValueError, match=f"n: {words}"):
        ferrofuse.set_num_threads(wrong)


def test_ops_outside_of_the_block_are_rejected(fd):
    [x] = fd.fusion.inputs()
    for late in (lambda: fd.ops.exp(x), lambda: x + 1, lambda: x.size(0), lambda: fd.add_output(x), lambda: fd.define_scalar(1.0)):
        with pytest.raises(DefinitionError, match="is called outside of `with fd:`") as caught:
            late()
        assert caught.value.op is not None and caught.value.line is not None
    before = repr(fd)
    with fd:
        fd.add_output(fd.ops.exp(x))
    assert repr(fd) != before


def test_few_numbers_of_threads_keep_theirs(fd):
    def running():
        return len(os.listdir("/proc/self/task"))

    before = running()
    for threads in range(2, 40):
        fd.execute([A], threads=threads)
    for _ in range(100):  # the threads of those dropped end by themselves
        if running() < before + 8 * 40:
            return
        time.sleep(0.05)
    raise AssertionError(f"{before} threads became {running()}")


def test_the_process_ends_while_other_threads_compile():
    program = """
import threading
import numpy as np
from ferrofuse import DataType, FusionDefinition

begun = threading.Event()

def compile(first):
    number = first
    while True:
        with FusionDefinition() as fd:
            x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            fd.add_output(fd.ops.exp(x) * float(number))
        fd.execute([np.zeros(3, np.float32)])
        begun.set()
        number += 4

for first in range(4):
    threading.Thread(target=compile, args=(first,), daemon=True).start()
begun.wait()
"""
    environment = {**os.environ, "FERROFUSE_CACHE": "none"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
