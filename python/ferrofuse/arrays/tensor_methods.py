"""Methods of tensors by the names that NumPy and torch have for them, each an op of the definition.

What needs a tensor's elements before the definition runs, as `len(x)` and `float(x)` do, raises the reason.
"""

from typing import Any, Callable, Dict, NoReturn

from .._native import TensorView, Val
from ..errors import argument_error
from ..tracebacks import public
from . import elementwise, folds, indexing, matrices, rearranging, shapes, sorting
from .attributes import Shape, Size, TensorDType
from .calls import apply, checked

# Ops of one operand. Each is a method of the same name.
UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor isfinite isinf isnan log log10 log1p
    log2 logical_not neg reciprocal relu rsqrt sigmoid sign silu sin sinh sqrt tan tanh trunc""".split()
_UNKNOWN = "is known only when the definition runs"
_NEVER = "values of a definition never change"
UNSUPPORTED = {
    "__len__": f"its size {_UNKNOWN}; use x.size(0), a scalar of the definition",
    "__contains__": f"the answer {_UNKNOWN}; use (x == value).any(), a tensor",
    "__float__": f"its value {_UNKNOWN}; keep it a tensor, or make it an output",
    "__int__": f"its value {_UNKNOWN}; x.astype(int) is a tensor of integers",
    "__complex__": f"its value {_UNKNOWN}; keep it a tensor, or make it an output",
    "__array__": "it has no elements before the definition runs; use its methods, NumPy's functions on it, or fd.ops",
    "__setitem__": f"{_NEVER}; fd.ops.where and fd.ops.cat make a tensor with other elements",
    "fill": f"{_NEVER}; np.full_like(x, value) makes a tensor of one value",
    "item": f"its value {_UNKNOWN}; make it an output",
    "nonzero": f"how many elements it gives {_UNKNOWN}; fd.ops.where(mask, x, 0) keeps the shape",
    "partition": f"{_NEVER}; fd.ops.topk gives the largest or smallest elements",
    "put": f"{_NEVER}; fd.ops.scatter makes a tensor with other elements",
    "resize": f"{_NEVER}; x.reshape(…) and np.pad(x, …) make tensors",
    "sort": f"{_NEVER}; np.sort(x) makes a sorted tensor",
    "tolist": f"its value {_UNKNOWN}; make it an output",
    "numpy": f"its value {_UNKNOWN}; make it an output",
    "view": "its bits cannot be read as another dtype; x.astype(dtype) converts numbers, x.reshape(…) gives another shape",
}
# Attributes of arrays, not methods.
_UNSUPPORTED_ATTRIBUTES = {
    "nbytes": f"its size {_UNKNOWN}; x.size(0) is a scalar of the definition, and x.dtype.itemsize a number",
}
_NO_ROWS = f"the number of its rows {_UNKNOWN}; x[0], x[1], … are tensors, and np.concatenate takes a list of such"
# What users write for a method of another name.
_WRITTEN_AS = {"__contains__": "in", "__setitem__": "x[…] = …"}


def attach() -> None:
    """Gives `TensorView` the methods."""
    sizes: Any = TensorView.shape
    size: Any = TensorView.size
    dtype: Any = Val.dtype
    properties: Dict[str, Any] = {name: property(public(_unsupported(name, why))) for name, why in _UNSUPPORTED_ATTRIBUTES.items()}
    properties["shape"] = property(lambda self: Shape(self, sizes), doc=Shape.__doc__)
    properties["size"] = property(lambda self: Size(self, size), doc=Size.__doc__)
    properties.update({name: property(public(method), doc=method.__doc__) for name, method in _PROPERTIES.items()})
    setattr(Val, "dtype", property(lambda self: TensorDType(dtype(self)), doc=TensorDType.__doc__))
    methods = {**{name: _unary(name) for name in UNARY}, **folds.METHODS, **_METHODS}
    unsupported = {name: public(_unsupported(name, why)) for name, why in UNSUPPORTED.items()}
    own = {name: public(checked(f"`{name}`", method, is_method=True)) for name, method in methods.items()}
    for name, member in {**own, **unsupported, **_SPECIAL, **properties}.items():
        setattr(TensorView, name, member)


def _unary(op: str) -> Callable[[Any], Any]:
    return folds.named(op, lambda self: apply(op, self), f"`fd.ops.{op}`, element by element.")


def _unsupported(name: str, why: str) -> Callable[..., NoReturn]:
    written = _WRITTEN_AS.get(name, name.strip("_"))

    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise argument_error(f"`{written}` is not supported on a tensor of a definition: {why}")

    folds.named(name, method, f"Not supported: {why}.")
    return method


class _Rows:
    """The iterator of a tensor. Its first step raises, not its making: NumPy hides the reason if its functions get none."""

    __next__ = public(_unsupported("__iter__", _NO_ROWS))

    def __iter__(self) -> "_Rows":
        return self


def _iter(self: Any) -> _Rows:
    return _Rows()


_METHODS: Dict[str, Callable[..., Any]] = {
    "argsort": sorting.argsort,
    "astype": elementwise.astype,
    "clamp": elementwise.clip,
    "clip": elementwise.clip,
    "conj": elementwise.conjugate,
    "conjugate": elementwise.conjugate,
    "copy": elementwise.copy,
    "diagonal": matrices.diagonal,
    "dot": matrices.dot,
    "flatten": shapes.flatten,
    "permute": shapes.permute,
    "ravel": shapes.flatten,
    "repeat": rearranging.repeat,
    "reshape": shapes.reshape,
    "round": elementwise.round,
    "squeeze": shapes.squeeze,
    "swapaxes": shapes.swapaxes,
    "take": rearranging.take,
    "to": elementwise.to,
    "trace": matrices.trace,
    "transpose": shapes.transpose,
    "unsqueeze": shapes.unsqueeze,
}
_PROPERTIES: Dict[str, Callable[[Any], Any]] = {
    "T": shapes.transpose,
    "imag": elementwise.imag,
    "mT": shapes.matrix_transpose,
    "real": elementwise.real,
}
_SPECIAL: Dict[str, Any] = {"__getitem__": public(indexing.indexed), "__iter__": public(_iter)}
