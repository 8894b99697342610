"""Folds, scans and indices of extremes: methods of tensors with NumPy's keywords and torch's."""

from typing import Any, Callable, Dict, Optional

from .._native import DataType
from ..errors import argument_error
from .array_types import COMPLEX, FLOATING, SMALL_FLOATS
from .axes import Axis, one_of, over
from .calls import apply
from .operands import combine
from .promotion import as_counted, as_floats, cast, dtype_given, of_dtype
from .shapes import flatten, unsqueeze

# How a fold takes one more value, its `initial`.
_STEPS = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}
_COUNTING = ("cumprod", "cumsum")
_VARIANCE = "The variance over axes, or of all elements. It divides by their number less `ddof`, which torch calls `correction`."


def named(name: str, function: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """The function with a name and a docstring."""
    function.__name__, function.__qualname__, function.__doc__ = name, f"TensorView.{name}", doc
    return function


def counting(op: str) -> Callable[..., Any]:
    """`sum` and `prod`, which also fold in another dtype."""

    def method(
        a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None, dims: Axis = None,
        dim: Axis = None, keepdim: bool = False,
    ) -> Any:
        given = one_of(axis=axis, dims=dims, dim=dim)
        if dtype is None:
            return _begun(op, _folded(op, a, given, keepdims or keepdim), initial)
        meant = dtype_given(f"`{op}`", dtype)
        return _begun(op, cast(_folded(op, cast(a, meant), given, keepdims or keepdim), meant), initial)

    return named(op, method, f"`fd.ops.{op}` over some or all axes.")


def extreme(op: str) -> Callable[..., Any]:
    """`max` and `min`."""

    def method(
        a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, dims: Axis = None, dim: Axis = None,
        keepdim: bool = False,
    ) -> Any:
        return _begun(op, _folded(op, a, one_of(axis=axis, dims=dims, dim=dim), keepdims or keepdim), initial)

    return named(op, method, f"`fd.ops.{op}` over some or all axes.")


def truth(op: str) -> Callable[..., Any]:
    """`all` and `any`."""

    def method(
        a: Any, axis: Axis = None, *, keepdims: bool = False, dims: Axis = None, dim: Axis = None, keepdim: bool = False
    ) -> Any:
        return _folded(op, a, one_of(axis=axis, dims=dims, dim=dim), keepdims or keepdim)

    return named(op, method, f"`fd.ops.{op}` over some or all axes.")


def _folded(op: str, x: Any, axis: Axis, keepdim: bool, **keywords: Any) -> Any:
    dims = over(x, axis)
    if (isinstance(axis, tuple) and not axis) or x.ndim == 0 == len(dims):  # each element alone
        return apply(op, unsqueeze(x, 0), dims=[0], **keywords)
    return apply(op, x, dims=dims, keepdim=keepdim, **keywords)


def _begun(op: str, folded: Any, initial: Any) -> Any:
    """The fold with one more value."""
    if initial is None:
        return folded
    dtype = folded.dtype()
    return cast(combine(_STEPS[op], folded, folded, of_dtype(initial, dtype)), dtype)


def scan(op: str) -> Callable[..., Any]:
    """A scan without another dtype."""

    def method(a: Any, axis: Optional[int] = None, *, dim: Optional[int] = None) -> Any:
        along = one_of(axis=axis, dim=dim)
        if along is None and a.ndim != 1:
            raise argument_error(f"`{op}`: argument `dim` must be an axis for a tensor of {a.ndim} axes, but none is given")
        return apply(op, a, dim=0 if along is None else along)

    return named(op, method, f"`fd.ops.{op}` along an axis.")


def counting_scan(op: str) -> Callable[..., Any]:
    """`cumsum` and `cumprod`: also of all elements, and in another dtype."""

    def method(a: Any, axis: Optional[int] = None, dtype: Any = None, *, dim: Optional[int] = None) -> Any:
        a = as_counted(a) if dtype is None else cast(a, dtype_given(f"`{op}`", dtype))
        along = one_of(axis=axis, dim=dim)
        return apply(op, flatten(a), dim=0) if along is None else apply(op, a, dim=along)

    return named(op, method, f"`fd.ops.{op}` along an axis, or of all elements.")


def index(op: str) -> Callable[..., Any]:
    """`argmax` and `argmin`."""

    def method(
        a: Any, axis: Optional[int] = None, *, keepdims: bool = False, dim: Optional[int] = None, keepdim: bool = False
    ) -> Any:
        along, keepdim = one_of(axis=axis, dim=dim), keepdims or keepdim
        if along is None:
            found = apply(op, flatten(a), dim=0)
            return apply("broadcast", found, [True] * a.ndim) if keepdim else found
        return apply(op, a, dim=along, keepdim=keepdim)

    return named(op, method, f"`fd.ops.{op}` along an axis, or of all elements.")


def mean(
    a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, dims: Axis = None, dim: Axis = None,
    keepdim: bool = False,
) -> Any:
    """`fd.ops.mean` over some or all axes; that of integers is f64."""
    given = one_of(axis=axis, dims=dims, dim=dim)
    if dtype is None:
        return _folded("mean", as_floats(a), given, keepdims or keepdim)
    meant = dtype_given("`mean`", dtype)
    return cast(_folded("mean", as_floats(cast(a, meant)), given, keepdims or keepdim), meant)


def deviation(op: str, finish: Callable[[Any], Any], doc: str) -> Callable[..., Any]:
    """`var` and `std`: what `finish` makes of the variance."""

    def method(
        a: Any, axis: Axis = None, dtype: Any = None, *, ddof: Any = None, keepdims: bool = False, dims: Axis = None,
        dim: Axis = None, keepdim: bool = False, correction: Any = None,
    ) -> Any:
        computed, result = _deviating(f"`{op}`", a, dtype)
        given, fewer = one_of(axis=axis, dims=dims, dim=dim), one_of(ddof=ddof, correction=correction)
        return cast(finish(_variance(computed, given, fewer, keepdims or keepdim)), result)

    return named(op, method, doc)


def _variance(computed: Any, axis: Axis, correction: Any, keepdim: bool) -> Any:
    return _folded("var", computed, axis, keepdim, correction=0 if correction is None else correction)


def _deviating(written: str, a: Any, dtype: Any) -> Any:
    """The tensor in the dtype in which deviations are computed, and the dtype of the result: small floats as f32."""
    a = as_floats(a) if dtype is None else cast(a, dtype_given(written, dtype))
    result = a.dtype()
    if result not in FLOATING:
        raise argument_error(f"{written}: argument `dtype` must be one of floats, but is {result.numpy_name}")
    return (cast(a, DataType.Float) if result in SMALL_FLOATS else a), result


def ptp(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The largest element less the smallest."""
    low, high = _folded("min", a, axis, keepdims), _folded("max", a, axis, keepdims)
    return cast(high - low, a.dtype())


def average(a: Any, axis: Axis = None, weights: Any = None, *, keepdims: bool = False) -> Any:
    """`mean`."""
    if weights is not None:
        raise argument_error("np.average: keyword `weights` is not supported: divide (a * weights).sum(axis) by weights.sum(axis)")
    return mean(a, axis, keepdims=keepdims)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """How many elements are not zero."""
    return _folded("sum", a if a.dtype() == DataType.Bool else a != 0, axis, keepdims)


def nansum(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The sum of what is not NaN."""
    return METHODS["sum"](_with(a, 0.0), axis, dtype, keepdims=keepdims, initial=initial)


def nanprod(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The product of what is not NaN."""
    return METHODS["prod"](_with(a, 1.0), axis, dtype, keepdims=keepdims, initial=initial)


def nanmax(a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The largest of what is not NaN; NaN where all are."""
    return _nan_extreme("max", float("-inf"), a, axis, keepdims, initial)


def nanmin(a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None) -> Any:
    """The smallest of what is not NaN; NaN where all are."""
    return _nan_extreme("min", float("inf"), a, axis, keepdims, initial)


def _nan_extreme(op: str, bound: float, a: Any, axis: Axis, keepdims: bool, initial: Any) -> Any:
    found = _begun(op, _folded(op, _with(a, bound), axis, keepdims), initial)
    if a.dtype() not in FLOATING or initial is not None:
        return found
    return apply("where", _folded("all", apply("isnan", a), axis, keepdims), float("nan"), found)


def nanmean(a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
    """The mean of what is not NaN; NaN where all are."""
    computed, result = _deviating("np.nanmean", a, dtype)
    count = _count(computed, axis, keepdims, computed.dtype())
    return cast(_folded("sum", _with(computed, 0.0), axis, keepdims) / count, result)


def nanvar(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The variance of what is not NaN; NaN where `ddof` or fewer are not."""
    return cast(*_nan_variance("np.nanvar", a, axis, dtype, ddof, keepdims))


def nanstd(a: Any, axis: Axis = None, dtype: Any = None, *, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The square root of `nanvar`."""
    squares, result = _nan_variance("np.nanstd", a, axis, dtype, ddof, keepdims)
    return cast(apply("sqrt", squares), result)


def _nan_variance(written: str, a: Any, axis: Axis, dtype: Any, ddof: Any, keepdims: bool) -> Any:
    """The variance in the dtype in which deviations are computed, and the dtype of the result."""
    is_float = a.dtype() in FLOATING
    a, result = _deviating(written, a, dtype)
    if result in COMPLEX:
        raise argument_error(f"{written} takes real numbers, but has {result.numpy_name}")
    if not is_float:
        return _variance(a, axis, ddof, keepdims), result
    deviation = a - nanmean(a, axis, keepdims=True)
    squares = _folded("sum", apply("where", apply("isnan", a), 0.0, deviation * deviation), axis, keepdims)
    count = _count(a, axis, keepdims, a.dtype()) - ddof
    return squares / apply("where", count > 0, count, float("nan")), result


def _count(a: Any, axis: Axis, keepdims: bool, dtype: DataType) -> Any:
    """How many elements are not NaN."""
    return cast(_folded("sum", apply("logical_not", apply("isnan", a)), axis, keepdims), dtype)


def _with(a: Any, number: float) -> Any:
    """The tensor with a number for each NaN."""
    return apply("where", apply("isnan", a), number, a) if a.dtype() in FLOATING else a


# The methods, by name.
METHODS: Dict[str, Callable[..., Any]] = {
    **{op: truth(op) for op in ("all", "any")},
    **{op: extreme(op) for op in ("max", "min")},
    **{op: counting(op) for op in ("prod", "sum")},
    **{op: scan(op) for op in ("cummax", "cummin")},
    **{op: counting_scan(op) for op in _COUNTING},
    **{op: index(op) for op in ("argmax", "argmin")},
    "mean": mean,
    "std": deviation("std", lambda squares: apply("sqrt", squares), "The square root of `var`."),
    "var": deviation("var", lambda squares: squares, _VARIANCE),
}
