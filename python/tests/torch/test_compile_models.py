"""Models through `torch.compile(…, backend="ferrofuse")` against eager: values, gradients, training, compilations."""

import copy

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

import compiled_models
from ferrofuse.torch import backend

STEPS = 20


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()
    torch.manual_seed(0)


def results(model, inputs):
    """What a model gives, the gradients of its parameters, and its buffers."""
    output = model(*inputs)
    output.square().mean().backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    return output.detach(), gradients, dict(model.named_buffers())


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", compiled_models.MODELS)
def test_models_give_what_eager_gives(name, dynamic):
    make, draw = compiled_models.MODELS[name]
    eager = make()
    fused = copy.deepcopy(eager)
    run = torch.compile(fused, backend=backend, dynamic=dynamic, options={"on_unsupported": "error"})
    for batch in (6, 9) if dynamic else (6,):
        inputs = draw(batch)
        expected, got = results(eager, inputs), results(run, inputs)
        got = (got[0], *({key.removeprefix("_orig_mod."): value for key, value in part.items()} for part in got[1:]))
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        torch.testing.assert_close(run(*inputs), eager(*inputs), rtol=1e-5, atol=1e-6)


def test_a_gpt_trains_as_in_eager():
    eager = compiled_models.Gpt()
    fused = copy.deepcopy(eager)
    losses = [
        train(eager, torch.optim.AdamW(eager.parameters()), lambda f: f),
        train(fused, torch.optim.AdamW(fused.parameters()), lambda f: torch.compile(f, backend=backend)),
    ]
    torch.testing.assert_close(*losses, rtol=1e-5, atol=0)
    for got, expected in zip(fused.parameters(), eager.parameters()):
        error = (got.grad - expected.grad).norm() / expected.grad.norm()
        assert error < 1e-4, error  # after 20 steps that differ in the last bits


def test_the_first_gradients_of_a_gpt_are_those_of_eager():
    eager = compiled_models.Gpt()
    fused = copy.deepcopy(eager)
    inputs = torch.randint(0, 50, (2, 16)), torch.randint(0, 50, (2, 16))
    eager(*inputs).backward()
    torch.compile(fused, backend=backend)(*inputs).backward()
    for got, expected in zip(fused.parameters(), eager.parameters()):
        assert (got.grad - expected.grad).norm() <= 1e-5 * expected.grad.norm()


def train(model, optimizer, compiled):
    """The losses of some steps; model and optimizer step are compiled."""
    draws = torch.Generator().manual_seed(1)
    forward, step = compiled(model), compiled(optimizer.step)
    losses = []
    for _ in range(STEPS):
        text = torch.randint(0, 50, (2, 17), generator=draws)
        optimizer.zero_grad()
        loss = forward(text[:, :-1], text[:, 1:])
        loss.backward()
        step()
        losses.append(loss.item())
    return torch.tensor(losses)


def test_lengths_do_not_compile_anew():
    model = compiled_models.Gpt(layers=1)
    counter = CompileCounterWithBackend("eager")
    counter.backend = backend
    run = torch.compile(model, backend=counter, dynamic=True)
    for length in range(3, 40):
        text = torch.randint(0, 50, (2, length))
        torch.testing.assert_close(run(text, text), model(text, text), rtol=1e-5, atol=0)
    assert counter.frame_count <= 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types_are_no_farther_from_the_truth_than_eager(dtype):
    block = compiled_models.Block(32, 4).to(dtype)
    x = torch.randn(2, 16, 32).to(dtype)
    truth = copy.deepcopy(block).double()(x.double())
    got = torch.compile(block, backend=backend)(x)
    assert got.dtype == dtype
    assert (got.double() - truth).norm() <= 1.2 * (block(x).double() - truth).norm()


def test_emulated_casts_round_as_eager_does():
    def chain(x, y):
        return ((x + y) * y - x) * 3.0

    x, y = torch.randn(2, 64, 64).bfloat16()
    options = {"emulate_precision_casts": True}
    assert torch.equal(torch.compile(chain, backend=backend, options=options)(x, y), chain(x, y))
    assert not torch.equal(torch.compile(chain, backend=backend)(x, y), chain(x, y))
