"""Methods and functions of NumPy on each element alone that are not ufuncs, and tensors like another one."""

from typing import Any

from .. import caller
from .._native import DataType, TensorView, Val
from ..errors import argument_error
from .array_types import COMPLEX, FLOATING
from .axes import integer, one_of
from .calls import apply, first_tensor
from .operands import beside, combine, with_all_axes
from .promotion import INTEGERS, cast, computed_in, dtype_given, of_dtype, operand
from .shapes import broadcast_to, sizes, sizes_of

_MISSING = object()
# The largest finite number of each dtype.
_LARGEST = {
    DataType.Half: 65504.0,
    DataType.BFloat16: 3.3895313892515355e38,
    DataType.Float: 3.4028234663852886e38,
    DataType.Double: 1.7976931348623157e308,
}


def where(condition: Any, x: Any = _MISSING, y: Any = _MISSING) -> Any:
    """`fd.ops.where`."""
    if x is _MISSING or y is _MISSING:
        raise argument_error(
            "np.where takes a condition and two values to choose from here: how many places a condition holds at is "
            "known only when the definition runs"
        )
    of: Any = first_tensor((condition, x, y))
    if isinstance(condition, Val) and condition.dtype() != DataType.Bool:
        condition = combine("ne", of, condition, 0)
    made = of._apply("where", caller.place(), condition, beside(x, y), beside(y, x))
    return with_all_axes(made, condition, x, y)


def clip(a: Any, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None) -> Any:
    """`fd.ops.clamp`."""
    given = {"min": one_of(min=min, a_min=a_min), "max": one_of(max=max, a_max=a_max)}
    bounds = {name: beside(bound, a) for name, bound in given.items() if bound is not None}
    return with_all_axes(apply("clamp", a, **bounds), *given.values())


def astype(a: Any, dtype: Any) -> Any:
    """`fd.ops.cast`; also to a type of Python's, and to a dtype by NumPy's name for it."""
    return apply("cast", a, dtype_given("`astype`", dtype))


def to(a: Any, dtype: Any) -> Any:
    """As `astype`."""
    return astype(a, dtype)


def copy(a: Any) -> Any:
    """The same elements in memory of their own."""
    # As `fd.ops.set` a result would be a view of the input.
    return a._apply("where", caller.place(), True, a, a)


def round(a: Any, decimals: int = 0) -> Any:
    """The nearest number with so many decimals; halfway, the even one."""
    decimals, dtype = integer("`round`", "decimals", decimals), a.dtype()
    if dtype in COMPLEX:
        return apply("complex", round(real(a), decimals), round(imag(a), decimals))
    if dtype == DataType.Bool:
        raise argument_error("`round` takes numbers, but has bool")
    if dtype in INTEGERS and decimals >= 0:
        return a
    if decimals == 0:
        return apply("round", a)
    wide = cast(a, DataType.Double) if dtype in INTEGERS else a
    factor = 10.0 ** abs(decimals)
    scaled = cast(wide * factor if decimals > 0 else wide / factor, wide.dtype())  # rounded, as NumPy computes in f16
    whole = apply("round", scaled)
    return cast(whole / factor if decimals > 0 else whole * factor, dtype)


def real(val: Any) -> Any:
    """The real part of complex numbers; real numbers as they are."""
    return apply("real", val) if val.dtype() in COMPLEX else val


def imag(val: Any) -> Any:
    """The imaginary part of complex numbers; zeros of real ones."""
    return apply("imag", val) if val.dtype() in COMPLEX else zeros_like(val)


def conjugate(a: Any) -> Any:
    """Complex numbers with their imaginary part negated; real numbers as they are."""
    return apply("complex", real(a), -imag(a)) if a.dtype() in COMPLEX else a


def isreal(x: Any) -> Any:
    """Is the imaginary part 0?"""
    return imag(x) == 0 if x.dtype() in COMPLEX else apply("isreal", x)


def isposinf(x: Any) -> Any:
    """`fd.ops.isposinf`."""
    return apply("isposinf", x)


def isneginf(x: Any) -> Any:
    """`fd.ops.isneginf`."""
    return apply("isneginf", x)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Is |a - b| at most `atol + rtol * |b|`? Infinities are close to themselves."""
    import numpy

    of = first_tensor((a, b))
    dtype = computed_in("np.isclose", numpy.true_divide, (a, b))  # integers are compared as floats
    x, y = operand(of, a, dtype), operand(of, b, dtype)
    near = (abs(x - y) <= abs(y) * rtol + atol) & apply("isfinite", y)
    close = near | (x == y)
    both_nan = apply("isnan", x) & apply("isnan", y) if equal_nan else None
    return with_all_axes(close if both_nan is None else close | both_nan, a, b)


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close, a tensor."""
    return isclose(a, b, rtol, atol, equal_nan).all()


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers for NaN and infinities: for these the largest ones unless others are given."""
    dtype = x.dtype()
    if dtype not in FLOATING:
        return x
    if dtype in COMPLEX:
        return apply("complex", *(nan_to_num(part, copy, nan, posinf, neginf) for part in (real(x), imag(x))))
    if dtype not in _LARGEST:
        raise argument_error(f"np.nan_to_num takes numbers of f16, bf16, f32 or f64, but has {dtype.numpy_name}")
    above = _LARGEST[dtype] if posinf is None else posinf
    below = -_LARGEST[dtype] if neginf is None else neginf
    finite = apply("where", apply("isposinf", x), above, apply("where", apply("isneginf", x), below, x))
    return apply("where", apply("isnan", x), nan, finite)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """A tensor of one value in the shape and dtype of another."""
    kind = a.dtype() if dtype is None else dtype_given("np.full_like", dtype)
    given = sizes(a) if shape is None else sizes_of(shape)
    if isinstance(fill_value, TensorView):
        return broadcast_to(cast(fill_value, kind), given)
    return a._apply("full", caller.place(), given, of_dtype(fill_value, kind), kind)


def zeros_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Zeros in the shape and dtype of a tensor."""
    return full_like(a, 0, dtype, shape=shape)


def ones_like(a: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """Ones in the shape and dtype of a tensor."""
    return full_like(a, 1, dtype, shape=shape)


def empty_like(prototype: Any, dtype: Any = None, *, shape: Any = None) -> Any:
    """As `zeros_like`: elements without a value do not exist."""
    return zeros_like(prototype, dtype, shape=shape)
