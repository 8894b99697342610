"""Compiled graphs on tensors that are no plain ones: of subclasses with `__torch_function__`, and batches of gradients."""

import pytest
import torch

from ferrofuse import InputError


class Overriding:
    """Overrides functions of torch."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return super().__torch_function__(function, types, args, kwargs or {})


class Named(Overriding, torch.Tensor):
    pass


class Weight(Overriding, torch.nn.Parameter):
    pass


class Doubling(torch.Tensor):
    """Twice what it says: a function of its own as a subclass without `__torch_dispatch__` may have one."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs or {})
        return result * 2 if function is torch.sin else result


BACKENDS = ("aot_eager", "ferrofuse")


def on_each(function, make):
    """The results of a compiled function on each backend, and the inputs after the calls."""
    for backend in BACKENDS:
        torch._dynamo.reset()
        given = make()
        yield torch.compile(function, backend=backend)(given), given


def require_alike(function, make):
    (expected, left), (got, right) = on_each(function, make)
    for one, other in ((expected, got), (left, right)):
        assert type(one) is type(other)
        torch.testing.assert_close(one.as_subclass(torch.Tensor), other.as_subclass(torch.Tensor))


@pytest.mark.parametrize("kind", [Named, Doubling])
def test_subclasses_that_override_functions_are_taken(kind):
    require_alike(lambda x: (x.sin() * 3.0 + 1.0).exp(), lambda: torch.linspace(0, 1, 5).as_subclass(kind))


def test_they_are_written_to():
    require_alike(lambda x: x.mul_(2.0).add_(1.0) * 3.0, lambda: torch.ones(3).as_subclass(Named))


def test_parameters_of_such_classes_have_gradients():
    gradients = []
    for result, weight in on_each(lambda weight: (weight.sin() * weight).sum(), lambda: Weight(torch.linspace(0, 1, 5))):
        result.backward()
        gradients.append(weight.grad.as_subclass(torch.Tensor))
    torch.testing.assert_close(*gradients)


def test_batches_of_gradients_are_rejected_by_name():
    compiled = torch.compile(lambda x: x.sin() * x.exp() + 1.0, backend="ferrofuse")
    message = r"^input \d is within a torch.func transform: call outside of vmap and grad$"
    with pytest.raises(InputError, match=message):
        torch.autograd.functional.jacobian(compiled, torch.ones(3), vectorize=True)
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(InputError, match=message):
        torch.autograd.grad(compiled(x), x, torch.eye(3), is_grads_batched=True)
    jacobian = torch.autograd.functional.jacobian(compiled, torch.ones(3))
    torch.testing.assert_close(jacobian, torch.autograd.functional.jacobian(lambda x: x.sin() * x.exp() + 1.0, torch.ones(3)))
