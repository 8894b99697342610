"""`ferrofuse.autograd` within the transforms of `torch.func`, batches of gradients, checkpoints and exports."""

import copy

import pytest
import torch
from torch.func import functional_call, grad, hessian, jacrev, jvp, vjp, vmap
from torch.utils.checkpoint import checkpoint

import ferrofuse


def rms_forward(x, weight):
    return x * ((x * x).mean(axis=-1, keepdims=True) + 1e-6).rsqrt() * weight


def rms_backward(gradient, x, weight):
    scale = ((x * x).mean(axis=-1, keepdims=True) + 1e-6).rsqrt()
    normal, inner = x * scale, gradient * weight
    return scale * (inner - normal * (inner * normal).mean(axis=-1, keepdims=True)), (gradient * normal).sum(axis=0)


def eager(x, weight):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def cube(x):
    return x * x * x


def both(x, y):
    return x * y, x + y


fused = ferrofuse.autograd(rms_forward, rms_backward)
fused_cube = ferrofuse.autograd(cube, lambda gradient, x: gradient * 3.0 * x * x)
fused_both = ferrofuse.autograd(both, lambda g, h, x, y: (g * y + h, g * x + h))
PAIRS = {"rms": (fused, eager), "cube": (fused_cube, cube), "both": (fused_both, both)}

torch.manual_seed(0)
X, WEIGHT, BATCH = torch.randn(4, 3), torch.randn(3), torch.randn(5, 4, 3)


class Norm(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.weight, self.function = torch.nn.Parameter(WEIGHT.clone()), function

    def forward(self, x):
        return self.function(x, self.weight)


def of_weights(function):
    """The gradient of the weights for each sample."""
    return vmap(grad(lambda weight, x: function(x, weight).sum()), in_dims=(None, 0))


MODULE = Norm(None)


def of_module(function):
    MODULE.function = function
    return grad(lambda weight: functional_call(MODULE, {"weight": weight}, (X,)).sum())(WEIGHT)


TRANSFORMS = {
    "grad": ("cube", lambda f: grad(lambda x: f(x).sum())(X)),
    "vjp": ("rms", lambda f: vjp(f, X, WEIGHT)[1](X)),
    "vmap": ("rms", lambda f: vmap(f, in_dims=(1, None), out_dims=-1)(BATCH, WEIGHT)),
    "vmap of vmap of grad": ("cube", lambda f: vmap(vmap(grad(lambda x: f(x).sum())))(BATCH)),
    "gradients of samples": ("rms", lambda f: of_weights(f)(WEIGHT, BATCH)),
    "jacrev": ("both", lambda f: jacrev(f, argnums=(0, 1))(X, X.sin())),
    "jacrev of one result": ("both", lambda f: jacrev(lambda x: f(x, X)[1], chunk_size=5)(X)),
    "functional_call": ("rms", of_module),
    "grad around a constant": ("cube", lambda f: grad(lambda x: grad(lambda y: (f(x) * y).sum())(X).sum())(X)),
}


@pytest.mark.parametrize("backend", [None, "aot_eager", "ferrofuse"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_torch(name, backend):
    pair, transform = TRANSFORMS[name]
    ours, plain = PAIRS[pair]
    expected = transform(plain)
    if backend:
        torch._dynamo.reset()
        transform = torch.compile(transform, backend=backend, fullgraph=True)
    torch.testing.assert_close(transform(ours), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_batches_of_gradients_are_those_of_torch():
    basis = torch.eye(12).reshape(12, 4, 3)
    x, weight = X.clone().requires_grad_(), WEIGHT.clone().requires_grad_()

    def batched(function):
        return torch.autograd.grad(function(x, weight), (x, weight), basis, is_grads_batched=True)

    torch.testing.assert_close(batched(fused), batched(eager))
    jacobian = torch.autograd.functional.jacobian
    torch.testing.assert_close(jacobian(fused, (X, WEIGHT), vectorize=True), jacobian(eager, (X, WEIGHT)))


def test_empty_batches_have_the_sizes_of_others():
    empty = torch.empty(4, 0, 3)
    assert vmap(fused, in_dims=(1, None))(empty, WEIGHT).shape == (0, 4, 3)
    assert of_weights(fused)(WEIGHT, empty.movedim(1, 0)).shape == (0, 3)


def test_autograd_sees_what_a_transform_returns():
    x = X.clone().requires_grad_()
    torch.testing.assert_close(torch.autograd.grad(vmap(fused_cube)(x).sum(), x)[0], 3 * X * X)
    around = grad(lambda y: (fused_cube(x) * y).sum())(X)
    torch.testing.assert_close(torch.autograd.grad(around.sum(), x)[0], 3 * X * X)
    with torch.no_grad():
        assert not fused_cube(x).requires_grad


def test_inputs_and_results_without_gradients():
    scaled = ferrofuse.autograd(lambda x, count: x * count, lambda g, x, count: (g * count, count))
    counts = torch.arange(12).reshape(4, 3)
    got = vmap(grad(lambda x, count: scaled(x, count).sum()))(X, counts)
    assert torch.equal(got, counts.float())
    signed = ferrofuse.autograd(lambda x: (x * 2.0, x > 0), lambda g, h, x: g * 2.0)
    x = X.clone().requires_grad_()
    doubled, positive = signed(x)
    assert doubled.requires_grad and not positive.requires_grad
    assert (torch.autograd.grad(doubled.sum(), x)[0] == 2).all()
    assert (grad(lambda x: signed(x)[0].sum())(X) == 2).all()


@pytest.mark.parametrize("place", [0, 1])
def test_gradients_that_are_not_asked_for(place):
    arguments = [X.clone(), WEIGHT.clone()]
    arguments[place].requires_grad_()
    [got] = torch.autograd.grad(fused(*arguments).sum(), arguments[place])
    [expected] = torch.autograd.grad(eager(*arguments).sum(), arguments[place])
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)


def twice(function):
    x = X.clone().requires_grad_()
    [first] = torch.autograd.grad(function(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


def backward_of_grad(function):
    x = X.clone().requires_grad_()
    return grad(lambda y: function(y).sum())(x).sum().backward()


SECOND = {
    "backward": twice,
    "grad of grad": lambda function: grad(lambda x: grad(lambda y: function(y).sum())(x).sum())(X),
    "jacrev of jacrev": lambda function: jacrev(jacrev(lambda x: function(x).sum()))(X),
    "backward of grad": backward_of_grad,
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives_are_rejected(name):
    with pytest.raises(NotImplementedError, match="^cube: functions of ferrofuse.autograd have no second derivative"):
        SECOND[name](fused_cube)


def test_a_whole_graph_with_second_derivatives_is_rejected():
    compiled = torch.compile(lambda: SECOND["grad of grad"](fused_cube), backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="cube: functions of ferrofuse.autograd have no second derivative"):
        compiled()


FORWARD_OVER_REVERSE = {
    "hessian": lambda function: hessian(lambda x: function(x).sum())(X),
    "jvp of a pullback": lambda function: jvp(lambda g: vjp(function, X)[1](g)[0], (X,), (X,)),
    "vmap of jvp": lambda function: vmap(lambda x: jvp(function, (x,), (x,))[1])(X),
    "jvp of vmap": lambda function: jvp(vmap(function), (X,), (X,)),
}


@pytest.mark.parametrize("name", FORWARD_OVER_REVERSE)
def test_derivatives_in_forward_mode_are_rejected(name):
    with pytest.raises(NotImplementedError, match="^cube: functions of ferrofuse.autograd have no derivative in forward mode"):
        FORWARD_OVER_REVERSE[name](fused_cube)


@pytest.mark.parametrize("backend", [None, "aot_eager", "ferrofuse"])
@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints(backend, reentrant):
    x = X.clone().requires_grad_()

    def run(function, x):
        return checkpoint(lambda x: function(x).sin(), x, use_reentrant=reentrant).sum()

    compiled = torch.compile(run, backend=backend, fullgraph=True) if backend else run
    compiled(fused_cube, x).backward()
    torch.testing.assert_close(x.grad, torch.autograd.grad(cube(x).sin().sum(), x)[0])


def test_compiled_autograd_takes_it():
    x = X.clone().requires_grad_()
    loss = fused_cube(x).sum()
    with torch._dynamo.compiled_autograd._enable(torch.compile(backend="aot_eager")):
        loss.backward()
    torch.testing.assert_close(x.grad, 3 * X * X)


def test_modules_are_copied_and_exported():
    class Rows(torch.nn.Module):
        def forward(self, batch):
            return vmap(fused_cube)(batch)

    module = Norm(fused)
    torch.testing.assert_close(copy.deepcopy(module)(X), module(X))
    for module, argument in ((module, X), (Rows(), BATCH)):
        for strict in (False, True):
            exported = torch.export.export(module, (argument,), strict=strict).run_decompositions()
            torch.testing.assert_close(exported.module()(argument), module(argument))


@pytest.mark.filterwarnings("ignore")
def test_torch_checks_the_op():
    def rms_of_this_test(x, weight):
        return rms_forward(x, weight)

    ferrofuse.autograd(rms_of_this_test, rms_backward)
    [op] = [
        getattr(torch.ops.ferrofuse, name).default
        for name in dir(torch.ops.ferrofuse)
        if name.startswith("rms_of_this_test") and not name.endswith("backward")
    ]
    arguments = X.clone().requires_grad_(), WEIGHT.clone().requires_grad_()
    assert set(torch.library.opcheck(op, arguments).values()) == {"SUCCESS"}
