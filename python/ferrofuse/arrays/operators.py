"""Python's operators on values of a definition. Each is the op with the same meaning."""

from typing import Any, Callable

from .. import caller
from .._native import Val
from ..tracebacks import public
from . import operands

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
UNARY = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}


def attach() -> None:
    """Adds the operators to `Val`, and so to `TensorView`."""
    for name, op in {**BINARY, **COMPARISONS}.items():
        setattr(Val, f"__{name}__", public(_forward(op)))
    for name, op in BINARY.items():
        setattr(Val, f"__r{name}__", public(_reflected(op)))
    for name, op in UNARY.items():
        setattr(Val, f"__{name}__", public(_unary(op)))
    setattr(Val, "__pos__", lambda self: self)


def _forward(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: operands.combine(op, self, self, other)


def _reflected(op: str) -> Callable[[Any, Any], Any]:
    return lambda self, other: operands.combine(op, self, other, self)


def _unary(op: str) -> Callable[[Any], Any]:
    return lambda self: self._apply(op, caller.place(), self)
