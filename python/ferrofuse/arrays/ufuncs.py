"""NumPy's ufuncs on values of a definition. Each calls the op with the same meaning, or is composed of ops."""

from typing import Any

from .. import caller
from .._native import Val
from ..errors import argument_error
from ..operations import TABLE
from ..tracebacks import public
from .calls import changing, reject_keywords
from .composed_ufuncs import UFUNCS, compose
from .operands import combine

# NumPy's names of ops that have another name here.
NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "divide": "truediv",
    "equal": "eq",
    "greater": "gt",
    "greater_equal": "ge",
    "invert": "bitwise_not",
    "left_shift": "bitwise_left_shift",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "power": "pow",
    "rint": "round",
    "right_shift": "bitwise_right_shift",
    "subtract": "sub",
}
# What does the job of methods of ufuncs.
_METHODS = {
    "add.accumulate": "np.cumsum(x)",
    "add.reduce": "np.sum(x)",
    "logical_and.reduce": "np.all(x)",
    "logical_or.reduce": "np.any(x)",
    "maximum.reduce": "np.max(x)",
    "minimum.reduce": "np.min(x)",
    "multiply.accumulate": "np.cumprod(x)",
    "multiply.outer": "np.outer(x, y)",
    "multiply.reduce": "np.prod(x)",
}


def attach() -> None:
    """Makes NumPy's ufuncs on values of a definition call the ops."""
    setattr(Val, "__array_ufunc__", public(_ufunc))


def _ufunc(self: Any, ufunc: Any, method: str, *operands: Any, **keywords: Any) -> Any:
    name: str = ufunc.__name__
    written = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
    op = NAMES.get(name, name)
    if method != "__call__" or (op not in TABLE and name not in UFUNCS):
        instead = _METHODS.get(f"{name}.{method}")
        hint = f"use {instead}" if instead else "dir(fd.ops) lists the ops"
        raise argument_error(f"{written} is not supported on values of a definition: {hint}")
    reject_keywords(written, changing(keywords), ["x1", "x2"][: ufunc.nin] if ufunc.nin > 1 else ["x"])
    if name in UFUNCS:
        return compose(self, ufunc, operands)
    if len(operands) == 2:
        combined = combine(op, self, *operands)
        if combined is not NotImplemented:
            return combined
    return self._apply(op, caller.place(), *operands)
