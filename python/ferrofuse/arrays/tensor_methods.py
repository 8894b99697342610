"""Methods of tensors by the names that NumPy and torch have for them, each an op of the definition.

What needs a tensor's elements before the definition runs, as `len(x)` and `float(x)` do, raises the reason.
"""

from numbers import Integral
from typing import Any, Callable, Dict, List, NoReturn, Optional, Sequence, Union

from .. import caller
from .._native import DataType, TensorView, Val
from ..errors import argument_error
from ..tracebacks import public
from . import indexing
from .array_types import SIGNED, SMALL_FLOATS, UNSIGNED, dtype_meant, known_names
from .attributes import Shape, Size, TensorDType
from .operands import beside, with_all_axes

Axis = Union[None, int, Sequence[int]]

# Ops of one operand. Each is a method of the same name.
UNARY = """abs acos acosh asin asinh atan atanh ceil cos cosh erf erfc exp exp2 expm1 floor isfinite isinf isnan log log10 log1p
    log2 logical_not neg reciprocal relu round rsqrt sigmoid sign silu sin sinh sqrt tan tanh trunc""".split()
# Folds over some or all axes.
FOLDS = "all any max min prod sum".split()
SCANS = "cummax cummin cumprod cumsum".split()
_COUNTING = ("cumprod", "cumsum")
INDICES = "argmax argmin".split()

_UNKNOWN = "is known only when the definition runs"
UNSUPPORTED = {
    "__len__": f"its size {_UNKNOWN}; use x.size(0), a scalar of the definition",
    "__contains__": f"the answer {_UNKNOWN}; use (x == value).any(), a tensor",
    "__float__": f"its value {_UNKNOWN}; keep it a tensor, or make it an output",
    "__int__": f"its value {_UNKNOWN}; x.astype(int) is a tensor of integers",
    "__complex__": f"its value {_UNKNOWN}; keep it a tensor, or make it an output",
    "__array__": "it has no elements before the definition runs; use its methods, NumPy's functions on it, or fd.ops",
    "__floordiv__": "use ferrofuse.ops.floor(x / y) for floats, and ferrofuse.ops.div(x, y), which truncates, for integers",
    "__setitem__": "values of a definition never change; fd.ops.where and fd.ops.cat make a tensor with other elements",
    "item": f"its value {_UNKNOWN}; make it an output",
    "tolist": f"its value {_UNKNOWN}; make it an output",
    "numpy": f"its value {_UNKNOWN}; make it an output",
}
_NO_ROWS = f"the number of its rows {_UNKNOWN}; x[0], x[1], … are tensors, and np.concatenate takes a list of such"
# What users write for a method of another name.
_WRITTEN_AS = {"__contains__": "in", "__floordiv__": "//", "__setitem__": "x[…] = …"}


def attach() -> None:
    """Gives `TensorView` the methods."""
    sizes: Any = TensorView.shape
    size: Any = TensorView.size
    dtype: Any = Val.dtype
    methods: Dict[str, Any] = {name: _unary(name) for name in UNARY}
    methods["shape"] = property(lambda self: Shape(self, sizes), doc=Shape.__doc__)
    methods["size"] = property(lambda self: Size(self, size), doc=Size.__doc__)
    methods.update({name: _fold(name) for name in FOLDS})
    methods.update({name: _scan(name) for name in SCANS})
    methods.update({name: _index(name) for name in INDICES})
    methods.update({name: _unsupported(name, why) for name, why in UNSUPPORTED.items()})
    methods.update(_METHODS)
    setattr(Val, "dtype", property(lambda self: TensorDType(dtype(self)), doc=TensorDType.__doc__))
    for name, method in methods.items():
        setattr(TensorView, name, public(method) if callable(method) else method)


def apply(op: str, x: Any, *operands: Any, **keywords: Any) -> Any:
    """Calls an op on a tensor, from the user's line."""
    return x._apply(op, caller.place(), x, *operands, **keywords)


def axes(x: TensorView, axis: Axis, dims: Axis) -> List[int]:
    """The axes of a fold, from NumPy's `axis` or torch's `dims`; all of them if neither is given."""
    if axis is not None and dims is not None:
        raise TypeError("axis and dims are names of one argument: give one of them")
    given = dims if axis is None else axis
    if given is None:
        return list(range(x.ndim))
    if isinstance(given, Val):
        raise argument_error("an axis must be an integer, but is a value of the definition: pass int(axis), as NumPy's integers are arrays")
    return [int(given)] if isinstance(given, (int, Integral)) else list(given)


def _axis(axis: Optional[int], dim: Optional[int]) -> Optional[int]:
    """The axis of an op, from NumPy's `axis` or torch's `dim`."""
    if axis is not None and dim is not None:
        raise TypeError("axis and dim are names of one argument: give one of them")
    return dim if axis is None else axis


def _named(name: str, method: Callable[..., Any], doc: str) -> Callable[..., Any]:
    method.__name__, method.__qualname__, method.__doc__ = name, f"TensorView.{name}", doc
    return method


def _unary(op: str) -> Callable[[Any], Any]:
    return _named(op, lambda self: apply(op, self), f"`fd.ops.{op}`, element by element.")


def _fold(op: str) -> Callable[..., Any]:
    def method(self: Any, axis: Axis = None, *, keepdims: bool = False, dims: Axis = None, keepdim: bool = False) -> Any:
        return _folded(op, self, axis, dims, keepdims or keepdim)

    return _named(op, method, f"`fd.ops.{op}` over some or all axes.")


def _folded(op: str, x: Any, axis: Axis, dims: Axis, keepdim: bool, **keywords: Any) -> Any:
    over = axes(x, axis, dims)
    if (isinstance(axis, tuple) and not axis) or x.ndim == 0 == len(over):  # each element alone
        return apply(op, unsqueeze(x, 0), dims=[0], **keywords)
    return apply(op, x, dims=over, keepdim=keepdim, **keywords)


def _scan(op: str) -> Callable[..., Any]:
    def method(self: Any, axis: Optional[int] = None, *, dim: Optional[int] = None) -> Any:
        dim = _axis(axis, dim)
        if dim is not None:
            return apply(op, _as_counted(self) if op in _COUNTING else self, dim=dim)
        if op in _COUNTING:
            return apply(op, flatten(_as_counted(self)), dim=0)
        if self.ndim != 1:
            raise argument_error(f"`{op}`: argument `dim` must be an axis for a tensor of {self.ndim} axes, but none is given")
        return apply(op, self, dim=0)

    return _named(op, method, f"`fd.ops.{op}` along an axis" + (", or of all elements." if op in _COUNTING else "."))


def _as_counted(x: Any) -> Any:
    """The tensor as NumPy adds it up: integers and bools with 64 bits."""
    dtype = x.dtype()
    wide = DataType.UInt64 if dtype in UNSIGNED else DataType.Int if dtype in (DataType.Bool, *SIGNED) else dtype
    return x if wide == dtype else apply("cast", x, wide)


def _index(op: str) -> Callable[..., Any]:
    def method(
        self: Any, axis: Optional[int] = None, *, keepdims: bool = False, dim: Optional[int] = None, keepdim: bool = False
    ) -> Any:
        dim, keepdim = _axis(axis, dim), keepdims or keepdim
        if dim is None:
            found = apply(op, flatten(self), dim=0)
            return apply("broadcast", found, [True] * self.ndim) if keepdim else found
        return apply(op, self, dim=dim, keepdim=keepdim)

    return _named(op, method, f"`fd.ops.{op}` along an axis, or of all elements.")


def _unsupported(name: str, why: str) -> Callable[..., NoReturn]:
    written = _WRITTEN_AS.get(name, name.strip("_"))

    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise argument_error(f"`{written}` is not supported on a tensor of a definition: {why}")

    _named(name, method, f"Not supported: {why}.")
    return method


class _Rows:
    """The iterator of a tensor. Its first step raises, not its making: NumPy hides the reason if its functions get none."""

    __next__ = public(_unsupported("__iter__", _NO_ROWS))

    def __iter__(self) -> "_Rows":
        return self


def _iter(self: Any) -> _Rows:
    return _Rows()


def var(
    self: Any, axis: Axis = None, ddof: int = 0, *, keepdims: bool = False, dims: Axis = None, keepdim: bool = False,
    correction: Optional[int] = None,
) -> Any:
    """The variance over axes, or of all elements. It divides by their number less `ddof`, which torch calls `correction`."""
    if self.dtype() in SMALL_FLOATS:
        wide = var(apply("cast", self, DataType.Float), axis, ddof, keepdims=keepdims, dims=dims, keepdim=keepdim, correction=correction)
        return apply("cast", wide, self.dtype())
    correction = ddof if correction is None else correction
    return _folded("var", _as_floats(self), axis, dims, keepdims or keepdim, correction=correction)


def std(self: Any, axis: Axis = None, ddof: int = 0, **keywords: Any) -> Any:
    """The square root of `var`."""
    if self.dtype() in SMALL_FLOATS:
        return apply("cast", std(apply("cast", self, DataType.Float), axis, ddof, **keywords), self.dtype())
    return apply("sqrt", var(self, axis, ddof, **keywords))


def mean(self: Any, axis: Axis = None, *, keepdims: bool = False, dims: Axis = None, keepdim: bool = False) -> Any:
    """`fd.ops.mean` over some or all axes; that of integers is f64."""
    return _folded("mean", _as_floats(self), axis, dims, keepdims or keepdim)


def _as_floats(x: Any) -> Any:
    """The tensor; integers and bools as f64, as NumPy averages them."""
    return apply("cast", x, DataType.Double) if x.dtype() in (DataType.Bool, *SIGNED, *UNSIGNED) else x


def reshape(self: Any, *shape: Any) -> Any:
    """`fd.ops.reshape`; one size may be -1."""
    return apply("reshape", self, _items(shape))


def flatten(self: Any) -> Any:
    """All elements in one axis."""
    return apply("reshape", self, [-1])


def permute(self: Any, *dims: Any) -> Any:
    """`fd.ops.permute`."""
    return apply("permute", self, _items(dims))


def transpose(self: Any, *axes: Any) -> Any:
    """The axes in this order, or reversed if none is given."""
    return apply("permute", self, _items(axes) or list(range(self.ndim))[::-1])


def swapaxes(self: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    for axis in (axis1, axis2):
        if not -self.ndim <= axis < self.ndim:
            raise argument_error(f"`swapaxes`: an axis must be from {-self.ndim} to {self.ndim - 1}, but is {axis}")
    order = list(range(self.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return apply("permute", self, order)


def matrix_transpose(self: Any) -> Any:
    """The last two axes exchanged."""
    if self.ndim < 2:
        raise argument_error(f"`mT` exchanges the last two axes, but the tensor has only {self.ndim}")
    return swapaxes(self, -2, -1)


def squeeze(self: Any, axis: Axis = None, *, dims: Axis = None) -> Any:
    """Removes these axes, which are of size 1."""
    if axis is None and dims is None:
        raise argument_error("`squeeze` needs the axes to remove, as sizes are known only when the definition runs")
    return apply("squeeze", self, axes(self, axis, dims))


def unsqueeze(self: Any, dim: int) -> Any:
    """Adds an axis of size 1 before this one."""
    count = self.ndim + 1
    if not -count <= dim < count:
        raise argument_error(f"`unsqueeze`: argument `dim` must be from {-count} to {count - 1}, but is {dim}")
    at = dim % count
    return apply("broadcast", self, [place == at for place in range(count)])


def clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """`fd.ops.clamp`."""
    bounds = {name: beside(bound, self) for name, bound in (("min", min), ("max", max)) if bound is not None}
    return with_all_axes(apply("clamp", self, **bounds), min, max)


def astype(self: Any, dtype: Any) -> Any:
    """`fd.ops.cast`; also to a type of Python's, and to a dtype by NumPy's name for it."""
    meant = dtype_meant(dtype)
    if meant is None:
        given = dtype.__name__ if isinstance(dtype, type) else repr(dtype)
        raise argument_error(
            f"`astype`: argument `dtype` must be a DataType, or NumPy's or torch's dtype or the name of one of {known_names()}, "
            f"but is {given}"
        )
    return apply("cast", self, meant)


def to(self: Any, dtype: Any) -> Any:
    """As `astype`."""
    return astype(self, dtype)


def getitem(self: Any, key: Any) -> Any:
    """Indexes with integers, slices, `None`, `...` and an index tensor, as in NumPy."""
    return indexing.indexed(self, key)


def _items(given: Sequence[Any]) -> List[Any]:
    return list(given[0]) if len(given) == 1 and isinstance(given[0], (list, tuple)) else list(given)


_METHODS: Dict[str, Any] = {
    "mean": mean,
    "var": var,
    "std": std,
    "reshape": reshape,
    "flatten": flatten,
    "permute": permute,
    "transpose": transpose,
    "swapaxes": swapaxes,
    "squeeze": squeeze,
    "unsqueeze": unsqueeze,
    "clip": clip,
    "clamp": clip,
    "astype": astype,
    "to": to,
    "__getitem__": getitem,
    "__iter__": _iter,
    "T": property(transpose),
    "mT": property(matrix_transpose),
}
