"""Ops on single elements: aten's names, and the definition's ops for them."""

from typing import Any, Dict, Optional, Sequence

from ..._native import DataType, TensorView, Val
from .row import Call, Kind, Result, Row, Unsupported, held, same
from .views import in_shape

NARROW = ("Byte", "Char", "Short")
INTEGERS = ("Int", "Int32", "Bool", *NARROW)


def _scaled(call: Call, x: Any, alpha: Any) -> Any:
    """A term times a number, in the dtype of the sum."""
    alpha = bool(alpha) if call.dtype == DataType.Bool and not isinstance(alpha, Val) else alpha
    if not isinstance(alpha, Val) and alpha == 1:
        return x
    return call.ops.mul(call.ops.cast(x, call.computed) if isinstance(x, TensorView) else x, alpha)


def _add(call: Call, x: Any, y: Any, alpha: Any = 1) -> Result:
    return call.ops.add(x, _scaled(call, y, alpha))


def _sub(call: Call, x: Any, y: Any, alpha: Any = 1) -> Result:
    return call.ops.sub(x, _scaled(call, y, alpha))


def _rsub(call: Call, x: Any, y: Any, alpha: Any = 1) -> Result:
    return call.ops.sub(y, _scaled(call, x, alpha))


def _rounded_div(call: Call, x: Any, y: Any, rounding_mode: Optional[str] = None) -> Result:
    if rounding_mode is None:
        return call.ops.truediv(x, y)
    if rounding_mode == "trunc" and call.dtype.name in INTEGERS:
        return call.ops.div(x, y)
    if rounding_mode == "trunc":
        return call.ops.trunc(call.ops.truediv(x, y))
    if call.dtype.name in INTEGERS:
        return _floored_integers(call, x, y)
    return _floored(call, x, y)


def _floored_integers(call: Call, x: Any, y: Any) -> Result:
    """One below the truncated quotient if the remainder is not zero and the signs differ."""
    ops = call.ops
    quotient = ops.div(x, y)
    rest = ops.sub(x, ops.mul(quotient, y))
    is_above = ops.logical_and(ops.ne(rest, 0), ops.ne(ops.lt(rest, 0), ops.lt(y, 0)))
    return ops.where(is_above, ops.sub(quotient, 1), quotient)


def _floored(call: Call, x: Any, y: Any) -> Result:
    """The floored quotient of floats as in Python and torch: the quotient of the dividend without the remainder, which is
    nearly whole. Zeros have the quotient's sign; a division by zero gives the quotient itself.
    """
    ops = call.ops
    quotient, rest = ops.truediv(x, y), ops.fmod(x, y)
    near = ops.truediv(ops.sub(x, rest), y)
    is_above = ops.logical_and(ops.ne(rest, 0.0), ops.ne(ops.lt(rest, 0.0), ops.lt(y, 0.0)))
    near = ops.where(is_above, ops.sub(near, 1.0), near)
    below = ops.floor(near)
    whole = ops.where(ops.gt(ops.sub(near, below), 0.5), ops.add(below, 1.0), below)
    signed = ops.where(ops.eq(near, 0.0), ops.mul(quotient, 0.0), whole)
    return ops.where(ops.eq(y, 0.0), quotient, signed)


def _power(call: Call, x: Any, exponent: Any) -> Result:
    """A power with a number as torch computes it: by products, roots and reciprocals if those are the same."""
    if isinstance(exponent, TensorView) or isinstance(exponent, bool):
        return call.ops.pow(x, exponent)
    x = call.ops.cast(x, call.computed)
    is_float = call.dtype.name not in INTEGERS
    if isinstance(exponent, Val):
        return call.ops.pow(x, exponent)
    if exponent == 1:
        return call.ops.mul(x, exponent)
    if exponent == 2:
        return call.ops.mul(x, x)
    if exponent == 3:
        return call.ops.mul(call.ops.mul(x, x), x)
    if exponent == 0.5 and is_float:
        return call.ops.sqrt(x)
    if exponent == -0.5 and is_float:
        return call.ops.rsqrt(x)
    if exponent in (-1, -2) and is_float:
        return call.ops.reciprocal(x if exponent == -1 else call.ops.mul(x, x))
    return call.ops.pow(x, exponent)


def _clamp(call: Call, x: Any, min: Any = None, max: Any = None) -> Result:
    if isinstance(min, TensorView) or isinstance(max, TensorView):
        x = x if min is None else call.ops.maximum(x, min)
        return x if max is None else call.ops.minimum(x, max)
    return call.ops.clamp(call.ops.cast(x, call.computed), min, max)


def _nextafter(call: Call, x: Any, y: Any) -> Result:
    if call.dtype != call.computed:
        raise Unsupported("numbers of a half type, computed as floats")
    return call.ops.nextafter(x, y)


def _gelu(call: Call, x: Any, approximate: str = "none") -> Result:
    return call.ops.tanh_gelu(x) if approximate == "tanh" else call.ops.gelu(x)


def _sign(call: Call, x: Any) -> Result:
    """The sign; 0 for NaN, as in torch. A bool is its own."""
    if call.dtype == DataType.Bool:
        return x
    above, below = (call.ops.cast(compare(x, 0), call.computed) for compare in (call.ops.gt, call.ops.lt))
    return call.ops.sub(above, below)


def _fma(call: Call, x: Any, y: Any, z: Any) -> Result:
    return call.ops.add(call.ops.mul(x, y), z)


def _identity(call: Call, x: Any, *_: Any, **__: Any) -> Result:
    return x


def _fill(call: Call, x: Any, value: Any) -> Result:
    return call.ops.full(call.shape, held(call, value), call.dtype)


def _copied_onto(call: Call, onto: Any, x: Any, *_: Any) -> Result:
    """`copy` and `copy_`: the second in the shape of the first."""
    return in_shape(call, x, call.shape)


_UNARY = """abs bitwise_not ceil floor frac isfinite isinf isnan isneginf isposinf logical_not neg reciprocal relu round
rsqrt signbit sqrt trunc"""
_TRANSCENDENTAL = """acos acosh asin asinh atan atanh cos cosh erf erfc erfinv exp exp2 expm1 lgamma log log10 log1p log2
sigmoid silu sin sinh tan tanh"""
_BINARY = """atan2 bitwise_and bitwise_or bitwise_xor eq fmod ge gt hypot le logical_and logical_or logical_xor lt maximum
minimum mul ne remainder"""
_OVERLOADS = ("default", "Tensor", "Scalar", "Scalar_Tensor")

# The dtypes in which kernels call a function for each element, where eager has vectors.
_SLOW_IN: Dict[str, Sequence[DataType]] = {
    **dict.fromkeys("acos asin atan atan2 atanh cos erf erfc erfinv gelu log1p pow sin tan".split(), [DataType.Double]),
    **dict.fromkeys("div fmod nextafter remainder".split(), [DataType.Float, DataType.Double]),
    "lgamma": [DataType.Float],
}
_SHIFTS = {"l": "bitwise_left_shift", "r": "bitwise_right_shift"}

ROWS: Dict[str, Row] = {
    **{f"aten.{name}.default": same(name, 0) for name in _UNARY.split()},
    **{f"aten.{name}.default": same(name, 0, weight=2, slow_in=_SLOW_IN.get(name, ())) for name in _TRANSCENDENTAL.split()},
    **{
        f"aten.{name}.{overload}": same(name, slow_in=_SLOW_IN.get(name, ()))
        for name in _BINARY.split()
        for overload in _OVERLOADS
    },
    **{f"aten.{op}.{of}": same(op) for op in _SHIFTS.values() for of in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")},
    **{f"aten.__{way}shift__.{of}": same(op) for way, op in _SHIFTS.items() for of in ("Tensor", "Scalar")},
    **{f"aten.add.{overload}": Row(_add) for overload in ("Tensor", "Scalar")},
    **{f"aten.sub.{overload}": Row(_sub) for overload in ("Tensor", "Scalar")},
    **{f"aten.rsub.{overload}": Row(_rsub) for overload in ("Tensor", "Scalar")},
    **{f"aten.div.{overload}": same("truediv") for overload in ("Tensor", "Scalar")},
    "aten.div.Tensor_mode": Row(_rounded_div, slow_in=_SLOW_IN["div"]),
    "aten.div.Scalar_mode": Row(_rounded_div, slow_in=_SLOW_IN["div"]),
    "aten.pow.Tensor_Scalar": Row(_power, slow_in=_SLOW_IN["pow"]),
    "aten.pow.Tensor_Tensor": same("pow", slow_in=_SLOW_IN["pow"]),
    "aten.pow.Scalar": same("pow", slow_in=_SLOW_IN["pow"]),
    "aten.nextafter.default": Row(_nextafter, slow_in=_SLOW_IN["nextafter"], limit="half types"),
    "aten.clamp.default": Row(_clamp),
    "aten.clamp.Tensor": Row(_clamp),
    "aten.where.self": same("where", weight=2),
    "aten.where.ScalarOther": same("where", weight=2),
    "aten.where.ScalarSelf": same("where", weight=2),
    "aten.where.Scalar": same("where", weight=2),
    "aten.sign.default": Row(_sign),
    "aten.gelu.default": Row(_gelu, slow_in=_SLOW_IN["gelu"]),
    "aten.fill.Scalar": Row(_fill),
    "prims.fma.default": Row(_fma),
    "aten.clone.default": Row(_identity, Kind.COPY),
    "aten._to_copy.default": Row(_identity, Kind.COPY),
    "prims.convert_element_type.default": Row(_identity, Kind.COPY),
    "aten.copy.default": Row(_copied_onto, Kind.COPY),
    "aten.copy_.default": Row(_copied_onto, Kind.COPY, limit="what is not written to an input of the graph"),
}

# Ops whose tensors are converted to one dtype before the computation.
_PROMOTING = {"add", "sub", "rsub", "div", "pow", "clamp", "where", *_BINARY.split(), *_SHIFTS.values()}


# Those whose numbers have a meaning of their own.
_BOUNDS_AND_EXPONENTS = {"clamp", "pow"}


def converts_numbers(op: str) -> bool:
    """Does an op convert its numbers to that dtype too?"""
    return promotes(op) and op.split(".")[1] not in _BOUNDS_AND_EXPONENTS


def rounds_numbers(op: str, place: int) -> bool:
    """Does an op round the operand at a place to a half type, if that is a number and it computes in one? Products and
    quotients take it as it is, but not the dividend of a quotient that is rounded to an integer.
    """
    name = op.removeprefix("aten.")
    is_dividend = place == 0 and name in ("div.Scalar_mode", "div.Tensor_mode")
    return name != op and (is_dividend or compares(op) or name.split(".")[0] in ("add", "fmod", "remainder", "rsub", "sub"))


def compares(op: str) -> bool:
    """Does an op compare its operands by size?"""
    return op.startswith("aten.") and op.split(".")[1] in ("eq", "ge", "gt", "le", "lt", "ne")


def promotes(op: str) -> bool:
    """Does an op convert its tensors to one dtype first?"""
    return op.startswith("aten.") and op.split(".")[1] in _PROMOTING and op in ROWS
