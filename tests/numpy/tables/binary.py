"""Ops of two operands: every pair of numbers in each dtype, dtypes that differ, constants, layouts and broadcasting."""

import dataclasses
from collections.abc import Callable

import ml_dtypes
import numpy as np
from scipy import special

import dtypes
from cases import COLUMNS, EMPTY, EXPANDED, ROWS as ROW_MAJOR, STEPS, ZERO_D, Case, Result, dense, laid_out

from .typing import ARITHMETIC, BITWISE, BOOL, FLOAT, PLAIN, brought, types


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    rule: str
    formula: Callable
    ulps: float | None = None
    scale: Callable | None = None
    most: float | None = None


def quotient(a, b):
    """C's `/`, with the language's meaning of a division by zero and of MIN / -1."""
    if a.dtype.kind == "f":
        return a / b
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    with np.errstate(all="ignore"):
        whole = a // safe
        whole = whole + ((a - whole * safe != 0) & ((a < 0) != (safe < 0))).astype(a.dtype)
    return np.where(b == 0, 0, whole).astype(a.dtype)


def fmod(a, b):
    if a.dtype.kind == "f":
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where((b == 0) | (b == -1), 1, b).astype(a.dtype))).astype(a.dtype)


def remainder(a, b):
    rest = fmod(a, b)
    moved = (rest != 0) & ((rest < 0) != (b < 0))
    if a.dtype.kind != "f":
        moved &= b != 0
    return np.where(moved, rest + b, rest).astype(a.dtype)


def power(a, b):
    if a.dtype.kind == "f":
        return np.power(a, b)
    if a.dtype.kind == "u":
        return np.power(a, b)
    ones = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b >= 0, np.power(a, np.maximum(b, 0)), ones).astype(a.dtype)


def smallest(a, b):
    both = np.minimum(a, b)
    return np.where((a == 0) & (b == 0) & (np.signbit(a) | np.signbit(b)), -0.0, both) if a.dtype.kind == "f" else both


def largest(a, b):
    both = np.maximum(a, b)
    positive = (a == 0) & (b == 0) & ~(np.signbit(a) & np.signbit(b))
    return np.where(positive, 0.0, both) if a.dtype.kind == "f" else both


def bits(a):
    return 8 * a.dtype.itemsize


def left_shift(a, b):
    inside = (b >= 0) & (b < bits(a))
    return np.where(inside, np.left_shift(a, np.where(inside, b, 0)), 0).astype(a.dtype)


def right_shift(a, b):
    if a.dtype.kind == "u":
        return logical_right_shift(a, b)
    inside = (b >= 0) & (b < bits(a))
    return np.right_shift(a, np.where(inside, b, bits(a) - 1)).astype(a.dtype)


def logical_right_shift(a, b):
    unsigned = a.view(f"u{a.dtype.itemsize}")
    inside = (b >= 0) & (b < bits(a))
    shifted = np.right_shift(unsigned, np.where(inside, b, 0).astype(unsigned.dtype))
    return np.where(inside, shifted, 0).astype(unsigned.dtype).view(a.dtype)


def gelu_backward(grad, x):
    x64 = np.asarray(x, np.float64)
    cdf = 0.5 * (1 + special.erf(x64 * np.sqrt(0.5)))
    return grad * (cdf + x64 * np.exp(-0.5 * x64 * x64) / np.sqrt(2 * np.pi))


def tanh_gelu_backward(grad, x):
    t = np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))
    slope = 0.7978845608028654 * (1 + 0.134145 * x * x)
    return grad * 0.5 * (1 + t + x * (1 - t * t) * slope)


def silu_backward(grad, x):
    s = 1 / (1 + np.exp(-x))
    return grad * s * (1 + x * (1 - s))


def of_truth(formula):
    return lambda a, b: formula(a != 0, b != 0)


ROWS = [
    Row("add", ARITHMETIC, np.add),
    Row("sub", ARITHMETIC, np.subtract),
    Row("mul", ARITHMETIC, np.multiply),
    Row("div", ARITHMETIC, quotient),
    Row("truediv", FLOAT, np.divide, 0.5),
    Row("fmod", ARITHMETIC, fmod),
    Row("mod", ARITHMETIC, fmod, 0),
    Row("remainder", ARITHMETIC, remainder, 0.5),
    Row("pow", ARITHMETIC, power),
    Row("atan2", FLOAT, np.arctan2),
    Row("minimum", ARITHMETIC, smallest),
    Row("maximum", ARITHMETIC, largest),
    Row("nextafter", PLAIN, np.nextafter, 0),
    Row("gcd", ARITHMETIC, np.gcd, 0),
    Row("eq", BOOL, np.equal),
    Row("ne", BOOL, np.not_equal),
    Row("lt", BOOL, np.less),
    Row("le", BOOL, np.less_equal),
    Row("gt", BOOL, np.greater),
    Row("ge", BOOL, np.greater_equal),
    Row("logical_and", BOOL, of_truth(np.logical_and)),
    Row("logical_or", BOOL, of_truth(np.logical_or)),
    Row("logical_xor", BOOL, of_truth(np.logical_xor), 0),
    Row("bitwise_and", BITWISE, np.bitwise_and),
    Row("bitwise_or", BITWISE, np.bitwise_or),
    Row("bitwise_xor", BITWISE, np.bitwise_xor),
    Row("bitwise_left_shift", BITWISE, left_shift),
    Row("bitwise_right_shift", BITWISE, right_shift),
    Row("logical_right_shift", BITWISE, logical_right_shift),
    Row("gelu_backward", PLAIN, gelu_backward, 8, scale=lambda g, x: 4 * np.abs(g) * (1 + np.abs(x)), most=30),
    Row("silu_backward", PLAIN, silu_backward, 12, scale=lambda g, x: 8 * np.abs(g) * (1 + np.abs(x)), most=30),
    Row("sigmoid_backward", PLAIN, lambda g, y: g * y * (1 - y), 4, most=1000),
    Row("tanh_backward", PLAIN, lambda g, y: g * (1 - y * y), 4, scale=lambda g, y: 4 * np.abs(g) * (1 + y * y), most=1000),
    Row("tanh_gelu_backward", PLAIN, tanh_gelu_backward, 8, scale=lambda g, x: 30 * np.abs(g) * (1 + np.abs(x)) ** 3, most=30),
]

MIXED = [("i32", "i64"), ("bool", "i32"), ("i64", "f32"), ("bf16", "f32"), ("f16", "bf16"), ("f32", "f64"), ("i32", "f16")]
MIXED += [("i8", "u8"), ("u8", "i16"), ("i16", "u16"), ("i32", "u32"), ("u32", "u8"), ("bool", "u8"), ("u8", "f16"), ("i16", "f32")]
LAYOUTS = [(COLUMNS, STEPS), (EXPANDED, ROW_MAJOR), (STEPS, ZERO_D), (EMPTY, EMPTY), (ZERO_D, ZERO_D)]


def cases(ops):
    for row in ROWS:
        said = ops.get(row.name, {})
        ulps = said.get("ulp") if row.ulps is None else row.ulps
        shorts = [short for short in said.get("dtypes", []) if not dtypes.ALL[short].is_complex]
        pairs = [(short, short) for short in shorts]
        if row.rule != PLAIN:
            pairs += [pair for pair in MIXED if set(pair) <= set(shorts)]
        for pair in pairs:
            yield case(row, every_pair(pair, row.most), ulps)
        for short in shorts:
            for first, second in LAYOUTS:
                yield case(row, (laid_out(short, first), laid_out(short, second)), ulps)
        if "f32" in shorts:
            yield with_constant(row, ulps)


_PAIRS: dict = {}


def every_pair(pair, most):
    if (pair, most) not in _PAIRS:
        left, right = (dtypes.common(short) for short in pair)
        if most is not None:
            left, right = (np.clip(v.astype(np.float64), -most, most).astype(v.dtype) for v in (left, right))
        _PAIRS[pair, most] = (dense(np.repeat(left, len(right))), dense(np.tile(right, len(left))))
    return _PAIRS[pair, most]


def case(row, operands, ulps):
    computed, result = types(row.rule, [operand.dtype.short for operand in operands])
    a, b = (brought(operand.values, computed) for operand in operands)
    return Case(row.name, f"fd.ops.{row.name}({{0}}, {{1}})", operands, [expected(row, computed, result, a, b, ulps)])


def with_constant(row, ulps):
    """A constant takes the dtype of the tensor beside it."""
    operand = laid_out("f32", ROW_MAJOR)
    computed, result = types(row.rule, ["f32"])
    a = brought(operand.values, computed)
    return Case(row.name, f"fd.ops.{row.name}({{0}}, 1.5)", [operand], [expected(row, computed, result, a, np.full_like(a, 1.5), ulps)])


def expected(row, computed, result, a, b, ulps):
    if row.name == "nextafter":  # neighbours are those of the dtype itself
        a, b = (x.astype(dtypes.ALL[computed].numpy) for x in (a, b))
    values = row.formula(a, b)
    absolute = 0.0
    if row.scale is not None and dtypes.ALL[computed].is_float:
        scale = row.scale(a, b)
        absolute = np.where(np.isfinite(scale), scale, 0) * float(ml_dtypes.finfo(dtypes.ALL[computed].numpy).eps)
    if computed == "f64" and ulps:
        ulps += 4
    return Result(result, values, ulps or 0, absolute)
