"""Ops of torch with a derivative in reverse mode, which also work within the transforms of `torch.func`.

Ops that `torch.library.custom_op` makes have no derivative within a transform: here the derivative is a kernel of the op's.
Imports torch.
"""

from typing import Any, Callable, List, NamedTuple, Sequence, Tuple

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.function import _SingleLevelFunction

_NO_FORWARD_MODE = (
    "functions of ferrofuse.autograd have no derivative in forward mode (torch.func.jvp, jacfwd and hessian, dual tensors): "
    "take those of reverse mode (backward, torch.autograd.grad)"
)
_LIBRARY = torch.library.Library("ferrofuse", "FRAGMENT")

Derivative = Callable[[Sequence[Any], Sequence[Any]], Any]
"""Takes the inputs of an op and a gradient of each output; returns a gradient of each input as ops return outputs."""


class Op(NamedTuple):
    """An op that takes and returns tensors."""

    called: str
    """The name that errors give it."""
    name: str
    """Its name in torch's namespace `ferrofuse`."""
    inputs: int
    """How many tensors it takes."""
    outputs: int
    """How many tensors it returns."""
    run: Callable[..., Sequence[Any]]
    """The outputs for inputs that have elements."""
    fake: Callable[..., Sequence[Any]]
    """The outputs for inputs that have none."""

    def register(self, derivative: Derivative) -> Callable[..., Any]:
        """The op as torch calls it: it returns one output alone, several in a tuple."""
        inputs = ", ".join(f"Tensor input{place}" for place in range(self.inputs))
        outputs = ", ".join(["Tensor"] * self.outputs)
        _LIBRARY.define(f"{self.name}({inputs}) -> ({outputs})", tags=[torch.Tag.pt2_compliant_tag])
        op: Callable[..., Any] = getattr(torch.ops.ferrofuse, self.name).default
        kernel = torch.compiler.disable(self._kernel(op, derivative))
        _LIBRARY.impl(self.name, torch.compiler.disable(_as_torch(self.run)), "CompositeExplicitAutograd")
        _LIBRARY.impl(self.name, kernel, "Autograd", with_keyset=True)
        torch.library.register_fake(f"ferrofuse::{self.name}", _as_torch(self.fake), lib=_LIBRARY)
        torch.library.register_vmap(f"ferrofuse::{self.name}", _row_by_row(op), lib=_LIBRARY)
        return op

    def _kernel(self, op: Any, derivative: Derivative) -> Callable[..., Any]:
        """What torch calls for each level of transforms, the innermost first, and last for autograd itself."""
        outside = self._node(op, derivative, torch.autograd.Function)
        within = self._node(op, derivative, _SingleLevelFunction)

        def kernel(keys: Any, *inputs: Any) -> Any:
            if forward_ad._current_level >= 0 and any(forward_ad.unpack_dual(each).tangent is not None for each in inputs):
                raise NotImplementedError(f"{self.called}: {_NO_FORWARD_MODE}")
            if not torch.is_grad_enabled() or not any(each.requires_grad for each in inputs):
                return _below(op, keys, inputs)
            if not torch._C._are_functorch_transforms_active():
                return outside.apply(keys, *inputs)
            with enable_single_level_autograd_function():
                return within.apply(keys, *inputs)

        return kernel

    def _node(self, op: Any, derivative: Derivative, base: Any) -> Any:
        """The op as a node of autograd's graph, at one level of transforms."""

        def forward(ctx: Any, keys: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*inputs)
            if base is torch.autograd.Function:
                return _below(op, keys, inputs)
            # The levels below have derivatives of their own, but `apply` disables all.
            with torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True):
                return _below(op, keys, inputs)

        def backward(ctx: Any, *gradients: Any) -> Tuple[Any, ...]:
            made = _listed(derivative(ctx.saved_tensors, gradients))
            needed = ctx.needs_input_grad[1:]
            return None, *(gradient if needs else None for gradient, needs in zip(made, needed))

        return type(self.name, (base,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def _below(op: Any, keys: Any, inputs: Sequence[Any]) -> Any:
    """Calls the op at the next level of transforms; at the last one it is computed."""
    with torch._C._AutoDispatchBelowAutograd():
        return op.redispatch(keys & torch._C._after_autograd_keyset, *inputs)


def _row_by_row(op: Callable[..., Any]) -> Callable[..., Any]:
    """The rule for `vmap`: calls the op for each row of the batch, and stacks the results."""

    def batched(info: Any, axes: Sequence[Any], *inputs: Any) -> Tuple[Any, Any]:
        rows = [_listed(op(*_row(row, axes, inputs))) for row in range(max(info.batch_size, 1))]
        stacked = [torch.stack(each)[: info.batch_size] for each in zip(*rows)]
        return _result(stacked), _result([0] * len(stacked))

    return batched


def _row(row: int, axes: Sequence[Any], inputs: Sequence[Any]) -> List[Any]:
    """The inputs for a row of a batch, whose axis is `None` in inputs that all rows share. A batch without rows has one of
    zeros, from which the sizes and dtypes of results are seen."""
    made = []
    for axis, given in zip(axes, inputs):
        if axis is None:
            made.append(given)
        elif given.shape[axis] == 0:
            made.append(given.new_zeros(given.shape[:axis] + given.shape[axis + 1 :]))
        else:
            made.append(given.select(axis, row))
    return made


def _as_torch(function: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    return lambda *inputs: _result(function(*inputs))


def _result(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _listed(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple) else (result,)
