"""Calls on torch's tensors run on the threads of torch's OpenMP."""

import subprocess
import sys

import pytest

# What each program begins with: a definition that two threads share, and the names of the process's threads.
START = """
import os, pathlib
{first}
import numpy as np, torch, ferrofuse
from ferrofuse import FusionDefinition

torch.set_num_threads(2)
x = torch.randn(512, 2048)
with FusionDefinition() as fd:
    given = fd.from_pytorch(x)
    fd.add_output(fd.ops.softmax(given, dim=1))

expected = torch.softmax(x, 1).numpy()

def softmax():
    np.testing.assert_allclose(fd.execute([x], **{asked})[0].numpy(), expected, rtol=1e-5)

def ours():
    names = [name.read_text().strip() for name in pathlib.Path("/proc/self/task").glob("*/comm")]
    return sum(name.startswith("ferrofuse-") for name in names)

"""


def printed(program, asked="{}", first=""):
    text = START.format(asked=asked, first=first) + program
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# On one processor neither starts threads.
TWO = "os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])"


@pytest.mark.parametrize("asked", ["{}", "{'threads': 2}"])
def test_a_call_starts_no_threads_of_its_own(asked):
    assert printed("softmax(); print(ours())", asked, TWO) == "0"


def test_a_call_on_another_number_of_threads_has_its_own():
    assert printed("softmax(); print(ours())", "{'threads': 3}") == "2"


def test_a_call_takes_no_more_threads_than_torch():
    assert printed("torch.set_num_threads(1); softmax(); print(ours())", first=TWO) == "0"


@pytest.mark.parametrize("before", ["softmax()", "pass"])
def test_a_forked_child_has_threads_of_its_own(before):
    child = f"{before}; child = os.fork(); child or (softmax(), os._exit(0)); print(os.waitpid(child, 0)[1])"
    assert printed(child) == "0"


def test_an_interrupt_ends_a_call():
    program = """
import signal
with FusionDefinition() as fd:
    long = fd.from_pytorch(x)
    for _ in range(300):
        long = fd.ops.sin(long)
    fd.add_output(long)
fd.execute([x])
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    [fd.execute([x]) for _ in range(1000)]
except KeyboardInterrupt:
    print("interrupted")
"""
    assert printed(program) == "interrupted"
