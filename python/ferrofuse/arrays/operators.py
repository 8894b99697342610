"""Python's operators on values of a definition. Each is the op with the same meaning, or composed of ops."""

from typing import Any, Callable

from .. import caller
from .._native import Val
from ..tracebacks import public
from . import operands
from .array_types import is_array
from .composed_ufuncs import compose

# The ops of operators. Methods of binary ones exist with exchanged operands too, as `__radd__`.
BINARY = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "truediv",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}
COMPARISONS = {"lt": "lt", "le": "le", "eq": "eq", "ne": "ne", "gt": "gt", "ge": "ge"}
# Operators that are NumPy's ufuncs, composed of ops.
COMPOSED = {"floordiv": "floor_divide", "divmod": "divmod"}
UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}


def attach() -> None:
    """Adds the operators to `Val`, and so to `TensorView`."""
    for name, op in {**BINARY, **COMPARISONS}.items():
        setattr(Val, f"__{name}__", public(_forward(op)))
    for name, op in BINARY.items():
        setattr(Val, f"__r{name}__", public(_reflected(op)))
    for name, ufunc in COMPOSED.items():
        setattr(Val, f"__{name}__", public(_composed(ufunc, is_reflected=False)))
        setattr(Val, f"__r{name}__", public(_composed(ufunc, is_reflected=True)))
    for name, op in UNARY.items():
        setattr(Val, f"__{name}__", public(_unary(op)))
    setattr(Val, "__pos__", lambda self: self)


def _forward(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: operands.combine(op, self, self, other)


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: operands.combine(op, self, other, self)


def _composed(ufunc: str, is_reflected: bool) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Val, bool, int, float, complex)) and not is_array(other):
            return NotImplemented
        import numpy

        return compose(self, getattr(numpy, ufunc), (other, self) if is_reflected else (self, other))

    return method


def _unary(op: str) -> Callable[[Any], Any]:
    return lambda self: self._apply(op, caller.place(), self)
