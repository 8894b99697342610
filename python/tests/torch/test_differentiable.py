"""`ferrofuse.autograd`: two functions as a differentiable op of torch. `@fuse` on tensors of torch and arrays of JAX."""

import pickle

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx

import ferrofuse
from ferrofuse import ArgumentError, InputError


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
    given = ferrofuse.autograd(lambda x: x, lambda g, x: g)
    for function, argument in ((transposed, torch.randn(3, 4)), (given, torch.randn(3, 4).t())):
        assert function(argument).is_contiguous()  # as the fake tensor is that compilers see
        flat = torch.compile(lambda x, function=function: function(x).view(-1) * 2, backend="aot_eager")
        assert flat(argument).shape == (12,)


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


def cube(x):
    """x * x * x"""
    return x * x * x


cube = ferrofuse.autograd(cube, lambda gradient, x: gradient * 3.0 * x * x)


def tangent_of_a_dual(function):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(torch.ones(3), torch.ones(3)))).tangent


def jvp(function):
    return torch.func.jvp(function, (torch.ones(3),), (torch.ones(3),))[1]


FORWARD_MODE = {
    "jvp": jvp,
    "jvp in jvp": lambda function: jvp(lambda x: x * jvp(lambda y: function(x * y))),
    "jacfwd": lambda function: torch.func.jacfwd(function)(torch.ones(3)).sum(axis=0),
    "a dual tensor": tangent_of_a_dual,
    "jvp in torch.compile": lambda function: torch.compile(lambda: jvp(function), backend="eager")(),
}


@pytest.mark.parametrize("name", FORWARD_MODE)
def test_derivatives_in_forward_mode_are_rejected(name):
    with pytest.raises(NotImplementedError, match="^cube: functions of ferrofuse.autograd have no derivative in forward mode"):
        FORWARD_MODE[name](cube)


def test_derivatives_in_forward_mode_may_be_those_of_others():
    constant = cube(torch.full((3,), 2.0))
    assert jvp(lambda x: x * cube(torch.full((3,), 2.0))).tolist() == constant.tolist() == [8, 8, 8]


def test_a_whole_graph_with_derivatives_in_forward_mode_is_rejected():
    take = torch.compile(lambda x: torch.func.jvp(cube, (x,), (x,))[1], backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="cube: functions of ferrofuse.autograd have no derivative"):
        take(torch.ones(3))


def test_traces_of_torch_have_it_as_an_op():
    for trace in (make_fx, lambda function: lambda x: torch.jit.trace(function, (x,))):
        assert trace(lambda x: cube(x))(torch.ones(3))(torch.full((3,), 2.0)).tolist() == [8, 8, 8]


def test_new_sizes_compile_nothing(rms):
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(lambda x, weight: rms(x, weight).sin(), backend=counter, dynamic=True, fullgraph=True)
    for rows, columns in ((2, 3), (5, 7), (11, 4)):
        x, weight = torch.randn(rows, columns), torch.randn(columns)
        torch.testing.assert_close(compiled(x, weight), eager(x, weight).sin(), rtol=1e-4, atol=1e-5)
    assert counter.frame_count == 1
    ones = torch.randn(1, 1), torch.randn(1)
    torch.testing.assert_close(compiled(*ones), eager(*ones).sin(), rtol=1e-4, atol=1e-5)
    assert compiled(torch.ones(0, 4), torch.ones(4)).shape == (0, 4)


def test_sizes_of_results_are_functions_of_those_of_inputs():
    halves = ferrofuse.autograd(lambda x: (x[::2].flatten(), x.sum(axis=0)), lambda g, h, x: x)
    rows = torch.export.Dim("rows", min=2, max=1000)

    class Model(torch.nn.Module):
        def forward(self, x):
            return halves(x)

    exported = torch.export.export(Model(), (torch.ones(6, 3),), dynamic_shapes=({0: rows},))
    for count in (2, 5, 9):
        assert [each.shape for each in exported.module()(torch.ones(count, 3))] == [((count + 1) // 2 * 3,), (3,)]
    marked = torch.ones(6, 3)
    torch._dynamo.mark_dynamic(marked, 0)
    assert torch.compile(lambda x: halves(x), backend="aot_eager", fullgraph=True)(marked)[0].shape == (9,)


def test_fake_inputs_take_no_memory_and_are_checked(rms):
    with FakeTensorMode():
        assert rms(torch.empty(1 << 40, 32), torch.empty(32)).shape == (1 << 40, 32)
        assert rms(torch.empty(0, 1), torch.empty(1)).shape == (0, 1)
        assert rms(torch.empty(4, 1), torch.empty(5)).shape == (4, 5)
        with pytest.raises(InputError, match=r"^input 1 \(weight\), axis 0: expected size 3 .*, got 5$"):
            rms(torch.empty(4, 3), torch.empty(5))


def test_it_has_the_name_of_its_forward():
    assert (cube.__name__, cube.__qualname__, cube.__module__, cube.__doc__) == ("cube", "cube", __name__, "x * x * x")
    assert pickle.loads(pickle.dumps(cube)) is cube
    with pytest.raises((pickle.PicklingError, AttributeError), match="<lambda>"):
        pickle.dumps(ferrofuse.autograd(lambda x: x * 2.0, lambda gradient, x: gradient * 2.0))
