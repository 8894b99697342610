"""Tensors that are no plain arrays, and gradients that would be lost: said as what they are."""

import subprocess
import sys
import textwrap

import pytest
import torch

from ferrofuse import DataType, FusionDefinition, InputError


@pytest.fixture
def fd():
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) * 2.0)
    return fd


def test_a_fake_tensor_is_one(fd):
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        fake = torch.ones(3)
    with pytest.raises(InputError, match="it is a fake tensor, which has sizes and no elements"):
        fd.execute([fake])


def test_a_meta_tensor_is_one(fd):
    with pytest.raises(InputError, match="is a meta tensor, which has sizes and no elements"):
        fd.execute([torch.ones(3, device="meta")])


def test_a_tracer_of_jax_is_one(fd):
    jax = pytest.importorskip("jax", reason="the rejection is of JAX's tracers")
    with pytest.raises(InputError, match="it is a JAX tracer, which stands for an array: call outside of jax.jit"):
        jax.jit(lambda x: fd.execute([x]))(jax.numpy.ones(3))


PROGRAM = """
import warnings
import torch
from ferrofuse import DataType, FusionDefinition

with FusionDefinition() as fd:
    fd.add_output(fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) * 2.0)
x = torch.ones(3, requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.no_grad():
        fd.execute([x])
    fd.execute([x.detach()])
    assert not caught
    fd.execute([x])
    fd.execute([x])
    print(len(caught), caught[0].lineno, caught[0].message)
"""


def test_a_lost_gradient_is_told_once():
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("1 15 input 0 (<string>:7)")
    assert "requires a gradient, and outputs will have none: ferrofuse.autograd(forward, backward)" in ran.stdout


def test_outputs_go_into_tensors(fd):
    out = torch.zeros(3)
    version = out._version
    [given] = fd.execute([torch.ones(3)], out=[out])
    assert given is out and (out == 2).all() and out._version > version
    with pytest.raises(InputError, match=r"out\[0\] is written to, but it is a leaf that requires grad"):
        fd.execute([torch.ones(3)], out=[torch.zeros(3, requires_grad=True)])


def test_a_deleted_array_is_one(fd):
    numpy = pytest.importorskip("jax", reason="arrays of JAX are given").numpy
    array = numpy.ones(3)
    array.delete()
    with pytest.raises(InputError, match=r"^input 0 \(\S+:\d+\): the array has been deleted$"):
        fd.execute([array])
