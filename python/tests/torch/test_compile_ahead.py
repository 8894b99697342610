"""Kernels of regions that are compiled while tracing goes on, for the tensors that calls then bring."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from ferrofuse.torch import ahead, backend, compiler


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    torch._dynamo.reset()
    monkeypatch.setattr(compiler, "_kept", type(compiler._kept)())


@pytest.fixture
def compiled(monkeypatch):
    """What was compiled ahead: the executable of each region, with how many variants it had then."""
    found = []

    class Waiting(ThreadPoolExecutor):
        def submit(self, compile, executable, forms):
            super().submit(compile, executable, forms).result()
            found.append((executable, executable.variants))

    with Waiting(1) as threads:
        monkeypatch.setattr(ahead, "threads", lambda: threads)
        yield found


def two_layers():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 8), torch.nn.Softmax(-1)
    )


def test_calls_find_what_was_compiled_ahead(compiled):
    model, x = two_layers(), torch.randn(64, 16)
    torch.compile(model, backend=backend)(x).square().sum().backward()
    assert len(compiled) >= 3, "regions of forward and backward"
    assert [variants for _, variants in compiled] == [1] * len(compiled)
    assert [executable.variants for executable, _ in compiled] == [1] * len(compiled), "calls compiled nothing"


def test_expanded_and_transposed_tensors_are_what_was_compiled_for(compiled):
    x, y = torch.randn(5, 7).T, torch.randn(1, 5).expand(7, 5)
    made = torch.compile(lambda x, y: (x * y + 1).sin(), backend=backend)(x, y)
    torch.testing.assert_close(made, (x * y + 1).sin())
    [(executable, ahead_of_call)] = compiled
    assert executable.variants == ahead_of_call == 1


def test_equal_regions_are_compiled_ahead_once(compiled):
    def twice(x, w):
        return ((x * 2 + 1).sin() @ w * 2 + 1).sin()

    torch.compile(twice, backend=backend)(torch.randn(4, 4), torch.randn(4, 4))
    assert len(compiled) == 1


def test_regions_that_take_numbers_are_compiled_in_their_calls(compiled):
    def scaled(x, n: int):
        return x * n + 1

    assert torch.equal(torch.compile(scaled, backend=backend, dynamic=True)(torch.ones(3), 5), torch.full((3,), 6.0))
    assert not compiled


def test_failures_ahead_are_left_to_the_call():
    executable = type("Executable", (), {"output_types": lambda self, tensors: 1 / 0})()
    assert ahead._compile(executable, [([2], [1], torch.float32)]) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a fork")
def test_a_child_has_threads_of_its_own():
    assert ahead.threads().submit(int).result() == 0
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # ends it if nothing runs what was submitted
        os._exit(ahead.threads().submit(int).result())
    assert os.waitpid(child, 0)[1] == 0
