"""`ferrofuse.autograd`: makes two functions of tensors an op of torch, for its autograd and `torch.compile`.

Imports torch when a function is made.
"""

import inspect
import itertools
import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ..definition import FusionDefinition
from ..errors import error_in
from ..tracebacks import trim, trims
from .fused import Fused, fuse

_NUMBERS = itertools.count()
_NO_SECOND_DERIVATIVE = "functions of ferrofuse.autograd have no second derivative: take gradients of them once"


def autograd(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """A differentiable function of torch's tensors, whose forward and backward are fused.

    `forward(*inputs)` returns a tensor or a tuple of tensors. `backward(*gradients, *inputs)` takes the gradient of each of
    these and then the inputs, and returns the gradient of each input, in order and of the input's sizes. The backward
    computes values of the forward again, which usually costs less than keeping them.

    Raises:
        ArgumentError: for a backward that takes or returns another number of tensors, or gradients of other sizes. It names
            the line.
        ImportError: without torch.
    """
    return _Differentiable(_fused(forward), _fused(backward)).function()


def _fused(function: Callable[..., Any]) -> Fused[Any]:
    return function if isinstance(function, Fused) else fuse(function)


class _Differentiable:
    """A forward and a backward, with what torch needs of an op."""

    def __init__(self, forward: Fused[Any], backward: Fused[Any]) -> None:
        self._forward, self._backward = forward, backward
        self._names = list(inspect.signature(forward).parameters)
        gradients = len(inspect.signature(backward).parameters) - len(self._names)
        if gradients < 1:
            expected = f"the gradients of what `{forward._function.__name__}` returns, then its {len(self._names)} inputs"
            given = len(inspect.signature(backward).parameters)
            raise error_in(backward._function, f"it must take {expected}, but takes {given} arguments")
        self._gradients = gradients

    def function(self) -> Callable[..., Any]:
        """The function that users call."""
        import torch

        function, called, op = self._forward._function, self._forward._function.__name__, self._op()

        @trims
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return checked(args, kwargs)
            except Exception as error:
                if not torch.compiler.is_compiling():
                    trim(error)
                raise

        def checked(args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
            inputs = self._forward._arguments(args, kwargs)
            for parameter, given in zip(self._names, inputs):
                if not isinstance(given, torch.Tensor):
                    raise TypeError(f"{called}: `{parameter}` must be a tensor of torch, but is {type(given).__name__}")
            return op(*inputs)

        for each in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(call, each, getattr(function, each))
        return call

    def _op(self) -> Callable[..., Any]:
        """The forward as an op of torch, whose derivative is the backward as another."""
        from .torch_op import Op

        called, inputs, outputs = self._forward._function.__name__, len(self._names), self._gradients
        name = f"{re.sub('[^0-9a-zA-Z]', '_', called)}_{next(_NUMBERS)}"

        def differentiate_again(inputs: Sequence[Any], gradients: Sequence[Any]) -> Any:
            raise NotImplementedError(f"{called}: {_NO_SECOND_DERIVATIVE}")

        gradients = Op(called, f"{name}_backward", outputs + inputs, inputs, self._gradients_of, self._fake_gradients)
        back = gradients.register(differentiate_again)

        def differentiate(inputs: Sequence[Any], gradients: Sequence[Any]) -> Any:
            return back(*gradients, *inputs)

        return Op(called, name, inputs, outputs, self._outputs, self._fake).register(differentiate)

    def _outputs(self, *inputs: Any) -> List[Any]:
        result = self._forward(*inputs)
        if isinstance(result, dict):
            raise error_in(self._forward._function, "it must return a tensor or a tuple of tensors, but returns a dict")
        outputs = _list(result)
        if len(outputs) != self._gradients:
            message = f"the number of gradients before its inputs must be {len(outputs)}, but is {self._gradients}"
            raise error_in(self._backward._function, message)
        return _owned(outputs, inputs)

    def _gradients_of(self, *arguments: Any) -> List[Any]:
        inputs = arguments[self._gradients :]
        made = _list(self._backward(*arguments))
        function = self._backward._function
        if len(made) != len(inputs):
            raise error_in(function, f"it must return {len(inputs)} gradients, one for each input, but returns {len(made)}")
        for name, gradient, given in zip(self._names, made, inputs):
            if gradient.shape != given.shape:
                expected, got = list(given.shape), list(gradient.shape)
                raise error_in(function, f"the gradient of `{name}` must have sizes {expected}, but has {got}")
        return _owned([gradient.to(given.dtype) for gradient, given in zip(made, inputs)], arguments)

    def _fake(self, *inputs: Any) -> List[Any]:
        return _like_outputs(self._forward, inputs)

    def _fake_gradients(self, *arguments: Any) -> List[Any]:
        import torch

        return [torch.empty_like(given, memory_format=torch.contiguous_format) for given in arguments[self._gradients :]]


def _list(result: Any) -> List[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _owned(outputs: Sequence[Any], inputs: Sequence[Any]) -> List[Any]:
    """Outputs as torch requires them of an op: contiguous, and in memory of their own."""
    import torch

    kept = {given.untyped_storage().data_ptr() for given in inputs}
    owned = []
    for output in outputs:
        at = output.untyped_storage().data_ptr()
        owned.append(output.clone(memory_format=torch.contiguous_format) if at in kept else output.contiguous())
        kept.add(owned[-1].untyped_storage().data_ptr())
    return owned


def _like_outputs(function: Fused[Any], inputs: Sequence[Any]) -> List[Any]:
    """Fake outputs for fake inputs, of the types that the definition has for inputs of these sizes. Reads no elements."""
    import torch
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    # A definition is the same for all sizes but one.
    kinds = [[1 if statically_known_true(size == 1) else 2 for size in given.shape] for given in inputs]
    definition = function.definition(*_without_memory(kinds, inputs))
    shapes = [given.shape for given in inputs]
    if all(isinstance(size, int) for shape in shapes for size in shape):
        definition._compilable().is_compiled(_without_memory(shapes, inputs))  # names sizes that do not fit
    types = _symbolic_types(definition, shapes)
    if types is None:
        sizes = [[int(size) for size in shape] for shape in shapes]
        types = [(each.shape, each.dtype) for each in definition.output_types(_without_memory(sizes, inputs))]
    return [inputs[0].new_empty(sizes, dtype=getattr(torch, str(dtype.numpy_name))) for sizes, dtype in types]


def _without_memory(sizes: Sequence[Sequence[int]], inputs: Sequence[Any]) -> List[Any]:
    """Tensors of these sizes and the dtypes of inputs, each of one element that is expanded."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes():
        return [torch.empty((), dtype=given.dtype).expand(each) for each, given in zip(sizes, inputs)]


def _symbolic_types(definition: FusionDefinition, shapes: Sequence[Sequence[Any]]) -> Optional[List[Tuple[Any, Any]]]:
    """The sizes and dtype of each output, for sizes of inputs that may be symbolic; `None` if they need numbers."""
    import torch

    known = definition._compilable().symbolic_types()
    if known is None:
        return None
    sizes = {f"x{number}_{axis}": size for number, shape in enumerate(shapes) for axis, size in enumerate(shape)}
    functions = {"min": torch.sym_min, "max": torch.sym_max}

    def values(texts: Sequence[str]) -> List[Any]:
        return [eval(text, functions, sizes) for text in texts]

    for number, (shape, texts) in enumerate(zip(shapes, known[0])):
        for axis, (size, expected) in enumerate(zip(shape, values(texts))):
            torch._check(size == expected, lambda: f"input {number}, axis {axis}: expected size {expected}, got {size}")
    return [(values(texts), dtype) for texts, dtype in known[1]]
