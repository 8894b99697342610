"""A training step of real architectures, forward and backward, against eager."""

import copy

import pytest
import torch

pytest.importorskip("transformers")
pytest.importorskip("timm")
import real_models  # noqa: E402


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", real_models.MODELS)
def test_a_step_is_that_of_eager(name):
    torch._dynamo.reset()
    eager, inputs = real_models.made(name, layers=1)
    fused = copy.deepcopy(eager)
    expected, got = eager(**inputs), torch.compile(fused, backend="ferrofuse")(**inputs)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=0)
    expected.backward()
    got.backward()
    error = (gradients(fused) - gradients(eager)).norm() / gradients(eager).norm()
    assert error < 2e-5, error
