"""Handlers of signals run while something takes long, and what they raise ends it and leaves everything usable."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ferrofuse import DataType, FusionDefinition

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs interval timers")


class Alarm(Exception):
    """What the handler raises."""


class Timer:
    """A timer that goes off again and again; its handler counts, and raises at a count."""

    def __init__(self, raises_at=None):
        self.count, self.raises_at = 0, raises_at

    def __call__(self, number, frame):
        self.count += 1
        if self.count == self.raises_at:
            raise Alarm

    def __enter__(self):
        self.before = signal.signal(signal.SIGALRM, self)
        signal.setitimer(signal.ITIMER_REAL, 0.015, 0.015)
        return self

    def __exit__(self, *error):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)


def normalizations(count):
    """Means along different axes in turn: many kernels, no two alike, which take seconds to compile."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        unseen = np.random.default_rng().random(count)  # which no cache of machine code has
        for number in range(count):
            x = x - fd.ops.mean(fd.ops.exp(x) * float(unseen[number]), dims=[number % 2], keepdim=True)
        fd.add_output(x)
    return fd


def incremented():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.sin(fd.ops.exp(fd.ops.tanh(x))))
    return fd


def product():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Double)
        fd.add_output(fd.ops.matmul(x, x))
    return fd


ARRAY = np.linspace(-1, 1, 30 * 20, dtype=np.float32).reshape(30, 20)


def test_handlers_run_while_kernels_are_compiled():
    with Timer() as timer:
        normalizations(80).execute([ARRAY])
    assert timer.count > 2


def test_exceptions_of_handlers_end_compiling():
    fd = normalizations(80)
    fd._make_executable()  # so that `fec` exists however early the timer goes off
    with pytest.raises(Alarm), Timer(raises_at=1):
        fd.execute([ARRAY])
    assert not fd.fec.is_compiled([ARRAY])
    with pytest.raises(Alarm), Timer(raises_at=2):  # while the first may still go on
        fd.execute([ARRAY])
    fd.validate([ARRAY])


def test_exceptions_of_handlers_end_explaining():
    fd = normalizations(120)
    with pytest.raises(Alarm), Timer(raises_at=1):
        fd.explain()
    assert str(normalizations(3).explain())


def test_handlers_run_while_texts_are_made():
    fd = normalizations(80)
    with Timer() as planning:
        fd._make_executable().emit("schedule")
    with Timer() as timer:
        fd._make_executable().emit("asm")
    assert timer.count > planning.count + 3
    with pytest.raises(Alarm), Timer(raises_at=planning.count + 3):
        fd._make_executable().emit("asm")
    assert fd._make_executable().emit("schedule")


@pytest.mark.parametrize("case", [(incremented, np.float32, 12_000), (product, np.float64, 2500)], ids=["kernel", "library"])
def test_handlers_run_while_a_call_takes_long(case):
    make, dtype, size = case
    fd, array = make(), np.full((size, size), 0.5, dtype)
    expected = fd.execute([array])[0]
    with Timer() as timer:
        again = fd.execute([array])[0]
    assert timer.count > 2 and np.array_equal(again, expected)
    with pytest.raises(Alarm), Timer(raises_at=1):
        fd.execute([array])
    assert np.array_equal(fd.execute([array])[0], expected)


def scanned():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.cumsum(x, 1))
    return fd


def ordered():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.argsort(x, 1))
    return fd


@pytest.mark.parametrize(
    "case",
    [(incremented, (4000, 4000)), (product, (900, 900)), (scanned, (1, 3 << 23)), (ordered, (1, 1 << 21))],
    ids=["map", "product", "scan of a line", "sort of a line"],
)
def test_exceptions_of_handlers_end_validating(case):
    make, sizes = case
    fd = make()
    dtype = np.float64 if make is product else np.float32
    array = np.random.default_rng(1).random(sizes).astype(dtype)
    fd.execute([array])
    with Timer() as timer:
        fd.validate([array])
    assert timer.count > 2
    with pytest.raises(Alarm), Timer(raises_at=2):
        fd.validate([array])
    fd.validate([array])


def test_exceptions_of_handlers_end_calls_on_the_evaluator():
    fold = "import sys; sys.path.insert(0, {tests!r}); from test_signals import *; on_the_evaluator()"
    script = fold.format(tests=str(Path(__file__).parent))
    env = os.environ | {"FERROFUSE_LIBLLVM": "none"}
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=env)
    assert (ran.returncode, ran.stdout) == (0, "ends\n"), ran.stderr


def on_the_evaluator():
    """Without libLLVM, in a process of its own."""
    fd, array = incremented(), np.full((4000, 4000), 0.5, np.float32)
    expected = fd.execute([array])[0]
    with pytest.raises(Alarm), Timer(raises_at=2):
        fd.execute([array])
    assert np.array_equal(fd.execute([array])[0], expected)
    print("ends")


def test_exceptions_of_handlers_end_the_sort_of_a_line():
    fd, array = ordered(), np.random.default_rng(1).random((1, 1 << 22)).astype(np.float32)
    expected = fd.execute([array])[0]
    with pytest.raises(Alarm), Timer(raises_at=2):
        fd.execute([array])
    assert np.array_equal(fd.execute([array])[0], expected)


INTERRUPTED = """
import os, sys
sys.path.insert(0, {tests!r})
from test_signals import ARRAY, Alarm, Timer, normalizations
fd = normalizations(80)
try:
    with Timer(raises_at=1):
        fd.execute([ARRAY])
except Alarm:
    {then}
"""


@pytest.mark.parametrize(
    "then",
    [
        "print('ends')",
        "child = os.fork(); child or fd.execute([ARRAY]); child and os.waitpid(child, 0)[1] == 0 and print('ends')",
    ],
    ids=["exit", "fork"],
)
def test_a_process_may_end_and_fork_while_something_ends_in_the_background(then):
    script = INTERRUPTED.format(tests=str(Path(__file__).parent), then=then)
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "ends\n", "")


def test_other_threads_are_not_interrupted():
    fd, done = normalizations(80), []
    worker = threading.Thread(target=lambda: done.append(fd.validate([ARRAY])))
    with pytest.raises(Alarm), Timer(raises_at=1):
        worker.start()
        while True:
            time.sleep(0.001)
    worker.join()
    assert len(done) == 1
