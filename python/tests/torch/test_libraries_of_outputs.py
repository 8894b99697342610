"""Outputs of torch's where no tensor comes in, and of the library that `like` names."""

import jax
import numpy as np
import pytest
import torch

import ferrofuse.compat
from ferrofuse import DataType, FusionDefinition, gpu_libraries


def counted():
    with FusionDefinition() as fd:
        n = fd.define_scalar(None, dtype=DataType.Int)
        fd.add_output(fd.ops.iota(n, dtype=DataType.Int))
    return fd


def test_calls_without_tensors():
    fd = counted()
    assert isinstance(fd.execute([3])[0], np.ndarray)
    assert isinstance(fd.execute([3], like="jax")[0], jax.Array)
    assert fd.validate([3], like="jax")[0].tolist() == fd.fec.execute([3], like="jax")[0].tolist() == [0, 1, 2]
    for given in ({"like": "torch"}, {"device": "cpu"}, {"device": torch.device("cpu")}):
        [out] = fd.execute([3], **given)
        assert torch.equal(out, torch.arange(3))
        assert isinstance(fd.validate([3], **given)[0], torch.Tensor)
    assert isinstance(fd.execute([3], like="numpy", device="cpu")[0], np.ndarray)
    ferrofuse.compat.install()
    try:
        assert isinstance(fd.execute([3])[0], torch.Tensor) and isinstance(fd.fec.execute([3])[0], torch.Tensor)
        assert isinstance(fd.execute([np.int64(3)], like="numpy")[0], np.ndarray)
    finally:
        ferrofuse.compat.uninstall()
    assert isinstance(fd.execute([3])[0], np.ndarray)


@pytest.mark.parametrize("like, kind", [("torch", torch.Tensor), ("numpy", np.ndarray), ("jax", jax.Array)])
def test_like_goes_before_what_comes_in(like, kind):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.neg(x))
        fd.add_output(fd.ops.permute(x, [1, 0]))  # a view of the input
    ones = np.ones((2, 3), np.float32)
    for given in (ones, torch.ones(2, 3), jax.numpy.ones((2, 3))):
        negated, transposed = fd.execute([given], like=like)
        assert isinstance(negated, kind) and isinstance(transposed, kind)
        assert negated.shape == (2, 3) and transposed.shape == (3, 2) and float(negated[0, 0]) == -1


def test_draws_of_calls_without_tensors_are_torchs():
    with FusionDefinition() as fd:
        fd.add_output(fd.ops.uniform(0.0, 1.0, [4], dtype=DataType.Float))
    torch.manual_seed(7)
    first = fd.execute([], like="torch")[0]
    torch.manual_seed(7)
    assert torch.equal(fd.execute([], device="cpu")[0], first)


def test_a_torch_for_cpus_says_that_it_has_no_streams(monkeypatch):
    monkeypatch.delattr(torch._C, "_cuda_getCurrentRawStream", raising=False)
    with pytest.raises(RuntimeError, match="torch was built without CUDA: it has no stream on cuda:1"):
        gpu_libraries.Torch().stream(1)
