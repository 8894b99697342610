"""Ufuncs of NumPy that are no ops, composed of ops.

Each takes operands in the dtype that NumPy computes with. Its result is cast to that dtype, as ops compute f16 in f32.
"""

import math
from typing import Any, Callable, Dict, Sequence

from .._native import DataType, Val
from .array_types import FLOATING
from .calls import apply
from .elementwise import conjugate
from .operands import combine, with_all_axes
from .promotion import cast, computed_in, operand


def compose(of: Any, ufunc: Any, operands: Sequence[Any]) -> Any:
    """What a ufunc of the table gives of operands, one of which is a value of the definition of `of`."""
    dtype = computed_in(f"np.{ufunc.__name__}", ufunc, operands)
    made = UFUNCS[ufunc.__name__](*(operand(of, each, dtype) for each in operands))
    if isinstance(made, tuple):
        return tuple(_finished(each, dtype, operands) for each in made)
    return _finished(made, dtype, operands)


def _finished(made: Any, dtype: DataType, operands: Sequence[Any]) -> Any:
    return with_all_axes(cast(made, dtype), *operands)


def _choose(condition: Any, chosen: Any, other: Any) -> Any:
    return apply("where", condition, chosen, other)


def _applied(op: str, *operands: Any) -> Any:
    """An op on two operands, one of which may be a number."""
    return combine(op, next(each for each in operands if isinstance(each, Val)), *operands)


def _cube_root(x: Any) -> Any:
    wide = cast(x, DataType.Double)
    size = apply("abs", wide)
    root = apply("pow", size, 1.0 / 3.0)
    exact = root - (root - size / (root * root)) / 3.0  # a step of Newton's method, as 1/3 is rounded
    signed = _choose(apply("signbit", wide), -exact, exact)
    return _choose((size == 0.0) | ~apply("isfinite", wide), wide, signed)


def _with_sign_of(x: Any, sign: Any) -> Any:
    size = apply("abs", x)
    return _choose(apply("signbit", sign), -size, size)


def _floor_divide(x: Any, y: Any) -> Any:
    if _dtype_of(x, y) not in FLOATING:
        quotient = _applied("div", x, y)
        return quotient - cast(_applied("ne", _applied("remainder", x, y), _applied("fmod", x, y)), quotient.dtype())
    # As NumPy's: the quotient of what the remainder leaves is whole but for rounding.
    rest = apply("fmod", x, y)
    is_across = (rest != 0.0) & ((y < 0.0) != (rest < 0.0))
    divided = (x - rest) / y
    lower = _choose(is_across, divided - 1.0, divided)
    floor = apply("floor", lower)
    nearest = _choose(lower - floor > 0.5, floor + 1.0, floor)
    whole = _choose(lower == 0.0, _with_sign_of(lower, x / y), nearest)
    return _choose(y == 0.0, x / y, whole)


def _divmod(x: Any, y: Any) -> Any:
    rest = _applied("remainder", x, y)
    signed = _choose(rest == 0.0, _with_sign_of(rest, y), rest) if rest.dtype() in FLOATING else rest
    return _floor_divide(x, y), signed


def _heaviside(x: Any, at_zero: Any) -> Any:
    return _choose(x == 0.0, at_zero, _choose(x < 0.0, 0.0, _choose(x > 0.0, 1.0, x)))


def _skipping_nan(op: str) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        found = _applied(op, x, y)
        if found.dtype() not in FLOATING:
            return found
        return _choose(apply("isnan", x), y, _choose(apply("isnan", y), x, found))

    return function


def _log_of_sum(exp: str, log_of_two: float, scale: float) -> Callable[[Any, Any], Any]:
    """The logarithm of the sum of two powers, of which the larger one is divided out."""

    def function(x: Any, y: Any) -> Any:
        smaller = apply(exp, -apply("abs", x - y))
        return _choose(x == y, x + log_of_two, apply("maximum", x, y) + apply("log1p", smaller) * scale)

    return function


def _dtype_of(*operands: Any) -> DataType:
    return next(each.dtype() for each in operands if isinstance(each, Val))


UFUNCS: Dict[str, Callable[..., Any]] = {
    "cbrt": _cube_root,
    "conjugate": conjugate,
    "copysign": _with_sign_of,
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "degrees": lambda x: x * (180.0 / math.pi),
    "divmod": _divmod,
    "fabs": lambda x: apply("abs", x),
    "float_power": lambda x, y: apply("pow", x, y),
    "floor_divide": _floor_divide,
    "fmax": _skipping_nan("maximum"),
    "fmin": _skipping_nan("minimum"),
    "heaviside": _heaviside,
    "logaddexp": _log_of_sum("exp", math.log(2.0), 1.0),
    "logaddexp2": _log_of_sum("exp2", 1.0, 1.0 / math.log(2.0)),
    "positive": lambda x: x,
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "radians": lambda x: x * (math.pi / 180.0),
}
