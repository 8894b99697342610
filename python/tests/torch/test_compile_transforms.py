"""The transforms of `torch.func` of torch's own functions, in functions that the backend compiles."""

import re

import pytest
import torch
import torch.nn.functional as F
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import ferrofuse.torch

torch.manual_seed(0)
X, BATCH, PLACES = torch.randn(4, 3), torch.randn(6, 4, 3), torch.randint(0, 4, (6, 2, 3))
TARGETS = torch.tensor([0, 1, 2, 1])
NET = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 3))
WEIGHTS = {name: weight.detach() for name, weight in NET.named_parameters()}


def soft(x):
    return F.softmax(x.sin(), -1)


def loss(weights, x, target):
    return F.cross_entropy(functional_call(NET, weights, (x[None],)), target[None])


def of_samples(weights, x, targets):
    return vmap(grad(loss), in_dims=(None, 0, 0))(weights, x, targets)


def clipped(weights, x, targets):
    found = of_samples(weights, x, targets)
    norm = torch.stack([each.flatten(1).norm(dim=1) for each in found.values()], 1).norm(dim=1)
    factor = (1.0 / (norm + 1e-6)).clamp(max=1.0)
    return {name: torch.einsum("i,i...->...", factor, each) for name, each in found.items()}


def after_a_step(weights, x, target):
    """The gradient through a step of an optimizer."""

    def stepped(weights):
        steps = grad(loss)(weights, x, target)
        return loss({name: weight - 0.1 * steps[name] for name, weight in weights.items()}, x, target)

    return grad(stepped)(weights)


def row_statistics(x):
    return x.std(0), x.max(0).values, x.argmax(0), x.logsumexp(1), x.cumsum(0).exp()


CASES = {
    "grad": (lambda x: grad(lambda x: (soft(x) * x).sum())(x), (X,)),
    "vmap": (lambda x: vmap(row_statistics)(x), (BATCH,)),
    "vmap of other axes": (lambda x: vmap(lambda x: (x - x.mean(0)) / x.std(0), in_dims=2, out_dims=1)(x), (BATCH,)),
    "vmap of gather": (lambda x, at: vmap(grad(lambda x, at: x.gather(0, at).sin().sum()))(x, at), (BATCH, PLACES)),
    "jacrev": (lambda x: jacrev(soft)(x), (X,)),
    "jacrev by chunks": (lambda x: jacrev(soft, chunk_size=5)(x), (X,)),
    "jacfwd": (lambda x: jacfwd(soft)(x), (X,)),
    "hessian": (lambda x: hessian(lambda x: (soft(x) * x).sum())(x), (X,)),
    "third derivatives": (lambda x: vmap(grad(grad(grad(lambda x: x.tanh() * x))))(x), (X.flatten(),)),
    "products with a hessian": (lambda x: jvp(grad(lambda x: soft(x).log().sum()), (x,), (x.cos(),)), (X,)),
    "pullback": (lambda x: vjp(lambda x: F.layer_norm(x, (3,)).tanh(), x)[1](x), (X,)),
    "gradients of samples": (of_samples, (WEIGHTS, X, TARGETS)),
    "clipped gradients": (clipped, (WEIGHTS, X, TARGETS)),
    "a step within": (after_a_step, (WEIGHTS, X[0], TARGETS[0])),
}


@pytest.mark.parametrize("name", CASES)
def test_transforms_are_those_of_eager(name):
    function, arguments = CASES[name]
    torch._dynamo.reset()
    got = torch.compile(function, backend="ferrofuse", fullgraph=True)(*arguments)
    torch.testing.assert_close(got, function(*arguments), rtol=2e-4, atol=2e-5)


def test_transforms_are_fused():
    report = str(ferrofuse.torch.explain(CASES["gradients of samples"][0], *CASES["gradients of samples"][1]))
    assert "graph breaks: none" in report and re.search(r"^fused: (\d+) of \1 ops", report, re.MULTILINE)


OF_BACKWARD = {
    "vmap": lambda x: vmap(lambda x: soft(x) * x)(x),
    "gradients of rows": lambda x: vmap(grad(lambda x: (soft(x) * x).sum()))(x),
    "jacfwd": lambda x: jacfwd(soft)(x[0]),
    "a penalty": lambda x: (vmap(grad(lambda x: NET(x).tanh().sum()))(x[0]).norm(dim=1) - 1) ** 2,
}


@pytest.mark.parametrize("name", OF_BACKWARD)
def test_backward_of_transforms_is_that_of_eager(name):
    torch._dynamo.reset()
    function, x = OF_BACKWARD[name], BATCH.clone().requires_grad_()
    compiled = torch.compile(function, backend="ferrofuse", fullgraph=True)
    [got], [expected] = (torch.autograd.grad(run(x).sum(), x) for run in (compiled, function))
    torch.testing.assert_close(got, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("randomness, equal", [("same", True), ("different", False)])
def test_rows_draw_the_same_or_different_numbers(randomness, equal):
    torch._dynamo.reset()
    draw = lambda x: vmap(lambda x: F.dropout(x.exp(), 0.5) * 2, randomness=randomness)(x)  # noqa: E731
    rows = torch.compile(draw, backend="ferrofuse", fullgraph=True)(torch.zeros(2, 64))
    assert torch.equal(rows[0], rows[1]) is equal
