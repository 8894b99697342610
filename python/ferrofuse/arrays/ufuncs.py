"""NumPy's functions on tensors of a definition. Each calls the op or the method with the same meaning."""

from typing import Any, Callable, Dict, Iterable, Optional, Tuple

from .. import caller
from .._native import DataType, TensorView, Val
from ..errors import argument_error
from ..operations import TABLE
from ..tracebacks import public
from . import tensor_methods
from .operands import beside, combine, with_all_axes

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
_MISSING = object()
METHODS = """all any argmax argmin clip cumprod cumsum max mean min prod reshape squeeze std sum swapaxes transpose
    var""".split()
ALIASES = {"amax": "max", "amin": "min"}


def attach() -> None:
    """Makes NumPy's functions on values of a definition call those here."""
    setattr(Val, "__array_ufunc__", public(_ufunc))
    setattr(TensorView, "__array_function__", public(_function))


def _ufunc(self: Any, ufunc: Any, method: str, *operands: Any, **keywords: Any) -> Any:
    op = NAMES.get(ufunc.__name__, ufunc.__name__)
    if method != "__call__" or keywords or op not in TABLE:
        what = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        options = f" with {', '.join(keywords)}" if keywords else ""
        raise argument_error(f"np.{what}{options} is not supported on values of a definition: dir(fd.ops) lists the ops")
    if len(operands) == 2:
        combined = combine(op, self, *operands)
        if combined is not NotImplemented:
            return combined
    return self._apply(op, caller.place(), *operands)


def _function(self: Any, function: Any, types: Iterable[type], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    name: str = function.__name__
    name = ALIASES.get(name, name)
    own = _FUNCTIONS.get(name)
    if own is not None:
        return own(self, *args, **kwargs)
    if name in METHODS and args and isinstance(args[0], TensorView):
        return getattr(args[0], name)(*args[1:], **kwargs)
    what = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
    raise argument_error(f"{what} is not supported on tensors of a definition: dir(fd.ops) lists the ops")


def _where(x: Any, condition: Any, chosen: Any = _MISSING, other: Any = _MISSING) -> Any:
    if chosen is _MISSING or other is _MISSING:
        raise argument_error(
            "np.where takes a condition and two values to choose from here: how many places a condition holds at is "
            "known only when the definition runs"
        )
    if isinstance(condition, Val) and condition.dtype() != DataType.Bool:
        condition = combine("ne", x, condition, 0)
    made = x._apply("where", caller.place(), condition, beside(chosen, other), beside(other, chosen))
    return with_all_axes(made, condition, chosen, other)


def _concatenate(x: Any, arrays: Any, axis: Optional[int] = 0) -> Any:
    joined = list(arrays) if axis is not None else [tensor_methods.flatten(array) for array in arrays]
    return x._apply("cat", caller.place(), joined, 0 if axis is None else axis)


def _expand_dims(x: Any, a: Any, axis: Any) -> Any:
    if not isinstance(axis, (tuple, list)):
        return tensor_methods.unsqueeze(a, axis)
    rank = a.ndim + len(axis)
    for place in axis:
        if not -rank <= place < rank:
            raise argument_error(f"np.expand_dims: argument `axis` must be from {-rank} to {rank - 1}, but is {place}")
    new = [place % rank for place in axis]
    if len({*new}) < len(new):
        raise argument_error(f"np.expand_dims: argument `axis` must name each new axis once, but is {tuple(axis)}")
    return tensor_methods.apply("broadcast", a, [place in new for place in range(rank)])


_FUNCTIONS: Dict[str, Callable[..., Any]] = {
    "where": _where,
    "concatenate": _concatenate,
    "expand_dims": _expand_dims,
}
