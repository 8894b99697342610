"""`ferrofuse.autograd`: two functions as a differentiable op of torch. `@fuse` on tensors of torch and arrays of JAX."""

import pytest
import torch

import ferrofuse
from ferrofuse import ArgumentError


def scale(x):
    return ((x * x).mean(axis=-1, keepdims=True) + 1e-6).rsqrt()


def rms_forward(x, weight):
    return x * scale(x) * weight


def rms_backward(gradient, x, weight):
    normal, inner = x * scale(x), gradient * weight
    return scale(x) * (inner - normal * (inner * normal).mean(axis=-1, keepdims=True)), (gradient * normal).sum(axis=0)


@pytest.fixture(scope="module")
def rms():
    return ferrofuse.autograd(rms_forward, rms_backward)


def inputs(dtype=torch.float32):
    torch.manual_seed(0)
    return [torch.randn(sizes, dtype=dtype, requires_grad=True) for sizes in ((6, 16), (16,))]


def eager(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def test_gradients_are_those_of_differences(rms):
    assert torch.autograd.gradcheck(rms, inputs(torch.float64))


@pytest.mark.parametrize("backend", [None, "aot_eager", "ferrofuse"])
def test_autograd_and_compile_know_it(rms, backend):
    x, weight = inputs()
    model = lambda x, weight: rms(x, weight).sin()  # noqa: E731
    run = torch.compile(model, backend=backend, fullgraph=True) if backend else model
    got, expected = run(x, weight), eager(x, weight).sin()
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    gradient = torch.randn_like(got)
    for one, other in zip(
        torch.autograd.grad(got, (x, weight), gradient), torch.autograd.grad(expected, (x, weight), gradient)
    ):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_several_results_and_views():
    x = torch.randn(3, 4, requires_grad=True)
    two = ferrofuse.autograd(lambda x: (x * 2.0, x + 1.0), lambda g, h, x: g * 2.0 + h)
    first, second = two(x)
    assert (torch.autograd.grad(first.sum() + 3 * second.sum(), x)[0] == 5).all()
    transposed = ferrofuse.autograd(lambda x: x.T, lambda g, x: g.T)
    assert torch.autograd.grad(transposed(x).sum(), x)[0].shape == (3, 4)


def gives_one(g, x, weight):
    return g


def gives_other_sizes(g, x, weight):
    return g, g


def takes_two(g, x):
    return g, g


def takes_four(g, h, x, weight):
    return g, g


MISTAKES = [
    (gives_one, "it must return 2 gradients, one for each input, but returns 1"),
    (gives_other_sizes, r"the gradient of `weight` must have sizes \[16\], but has \[6, 16\]"),
    (takes_two, "it must take the gradients of what `rms_forward` returns, then its 2 inputs, but takes 2"),
    (takes_four, "the number of gradients before its inputs must be 1, but is 2"),
]


@pytest.mark.parametrize("backward, words", MISTAKES, ids=[backward.__name__ for backward, _ in MISTAKES])
def test_a_backward_that_does_not_fit_is_rejected_with_its_line(backward, words):
    line = backward.__code__.co_firstlineno
    with pytest.raises(ArgumentError, match=f"test_differentiable.py:{line}: `{backward.__name__}`: {words}"):
        ferrofuse.autograd(rms_forward, backward)(*inputs()).sum().backward()


def test_arguments_and_results_other_than_tensors_are_named():
    scaled = ferrofuse.autograd(lambda x, y: x * y, lambda g, x, y: (g * y, g * x))
    with pytest.raises(TypeError, match="^<lambda>: `y` must be a tensor of torch, but is float$"):
        scaled(torch.ones(3), 2.0)
    named = ferrofuse.autograd(lambda x: {"doubled": x * 2.0}, lambda g, x: g * 2.0)
    with pytest.raises(ArgumentError, match="it must return a tensor or a tuple of tensors, but returns a dict"):
        named(torch.ones(3))


def test_results_are_of_the_library_that_came():
    double = ferrofuse.fuse(lambda x: x * 2.0)
    assert torch.equal(double(torch.ones(3)), torch.full((3,), 2.0))
    jax = pytest.importorskip("jax", reason="arrays of JAX are given")
    assert isinstance(double(jax.numpy.ones(3)), jax.Array)
    mixed = ferrofuse.fuse(lambda x, y: x + y)
    with pytest.raises(ArgumentError, match="but are `x` of torch, `y` of jax: convert the others"):
        mixed(torch.ones(3), jax.numpy.ones(3))
