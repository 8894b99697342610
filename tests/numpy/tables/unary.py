"""Ops of one operand: every dtype, hard numbers and all layouts."""

import dataclasses
import math
from collections.abc import Callable

import ml_dtypes
import numpy as np
from scipy import special

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out

from .typing import ARITHMETIC, BITWISE, BOOL, FLOAT, PLAIN, brought, types


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    rule: str
    formula: Callable
    ulps: float | None = None  # of a composite; a primitive says its own
    scale: Callable | None = None  # errors of so many units of this magnitude, where terms cancel
    most: float | None = None  # beyond this magnitude intermediate results overflow and the formula says nothing
    cheaper: bool = False  # what is rounded to a half type is computed in cheaper forms, and is within one unit of it


def doubles(formula):
    """A formula that knows doubles only."""
    return lambda x: formula(np.asarray(x, np.float64))


def one_by_one(formula):
    """A function of the C library, which SciPy's are less exact than."""
    return np.vectorize(lambda x: formula(float(x)), otypes=[np.float64])


def lgamma(x):
    try:
        return math.lgamma(x)
    except (OverflowError, ValueError):  # beyond doubles, or a pole
        return np.inf


def erfcinv(y):
    """SciPy's, and where it ends early, among the smallest doubles, Newton's steps on the logarithm."""
    y = np.asarray(y, np.float64)
    smallest = (y > 0) & (y < 1e-300)
    x = special.erfcinv(np.where(smallest, 1e-300, y))
    for _ in range(4):
        step = (np.log(special.erfcx(x)) - x * x - np.log(y)) * special.erfcx(x) * np.sqrt(np.pi) / 2
        x = np.where(smallest, x + step, x)
    return x


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + special.erf(np.asarray(x, np.float64) * np.sqrt(0.5)))


def tanh_gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def softplus(x):
    return np.where(x > 20, x, np.log1p(np.exp(x)))


def hardsigmoid(x):
    return np.clip(x / 6 + 0.5, 0, 1)


def sign(x):
    return np.where(x > 0, 1, np.where(x < 0, -1, x)).astype(x.dtype)


def frac(x):
    return x - np.trunc(x)


def ints(of_floats, of_others=lambda x: x):
    """A formula for floats and one for integers and bools."""
    return lambda x: of_floats(x) if x.dtype.kind == "f" else of_others(x)


def magnitude(x):
    return np.where(np.isfinite(x), np.abs(x), 0)



ROWS = [
    Row("exp", FLOAT, np.exp),
    Row("exp2", FLOAT, np.exp2),
    Row("expm1", FLOAT, np.expm1),
    Row("log", FLOAT, np.log),
    Row("log2", FLOAT, np.log2),
    Row("log10", FLOAT, np.log10, 4),
    Row("log1p", FLOAT, np.log1p),
    Row("sqrt", FLOAT, np.sqrt),
    Row("rsqrt", FLOAT, lambda x: 1 / np.sqrt(x)),
    Row("reciprocal", FLOAT, lambda x: 1 / x),
    Row("sin", FLOAT, np.sin),
    Row("cos", FLOAT, np.cos),
    Row("tan", FLOAT, np.tan, 8),
    Row("asin", FLOAT, np.arcsin),
    Row("acos", FLOAT, np.arccos),
    Row("atan", FLOAT, np.arctan),
    Row("sinh", FLOAT, np.sinh, 12),
    Row("cosh", FLOAT, np.cosh, 12),
    Row("tanh", FLOAT, np.tanh),
    Row("asinh", FLOAT, np.arcsinh, 8),
    Row("acosh", FLOAT, np.arccosh, 8),
    Row("atanh", FLOAT, np.arctanh, 8),
    Row("erf", FLOAT, one_by_one(math.erf)),
    Row("erfc", FLOAT, one_by_one(math.erfc)),
    Row("erfinv", FLOAT, doubles(special.erfinv), 8),
    Row("erfcinv", FLOAT, erfcinv, 8),
    Row("lgamma", FLOAT, one_by_one(lgamma), 8, scale=lambda x: 8 * (1 + magnitude(np.log1p(magnitude(x))))),
    # exp(-x) overflows before the result vanishes.
    Row("sigmoid", FLOAT, sigmoid, 6, most=80, cheaper=True),
    Row("silu", PLAIN, lambda x: x * sigmoid(x), 6, most=80, cheaper=True),
    Row("gelu", PLAIN, gelu, 8, scale=lambda x: 2 * magnitude(x)),
    Row("tanh_gelu", PLAIN, tanh_gelu, 8, scale=lambda x: 8 * magnitude(x), cheaper=True),
    Row("softplus", PLAIN, softplus, 8),
    Row("relu", PLAIN, lambda x: np.maximum(x, 0), 0),
    Row("leaky_relu", PLAIN, ints(lambda x: np.where(x >= 0, x, 0.01 * x), lambda x: np.maximum(x, 0)), 1.5),
    Row("elu", PLAIN, lambda x: np.where(x > 0, x, np.expm1(x)), 6),
    Row("celu", PLAIN, lambda x: np.where(x > 0, x, np.expm1(x)), 6),
    Row("selu", PLAIN, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)), 8),
    Row("hardsigmoid", PLAIN, hardsigmoid, 2, scale=lambda x: 1 + 0 * magnitude(x)),
    Row("hardswish", PLAIN, lambda x: x * hardsigmoid(x), 2, scale=lambda x: 2 * magnitude(x)),
    Row("relu6", PLAIN, lambda x: np.minimum(np.maximum(x, 0), 6).astype(x.dtype), 0),
    Row("mish", PLAIN, lambda x: x * np.tanh(softplus(x)), 16, most=80),
    Row("logsigmoid", PLAIN, lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), 8),
    Row("softsign", PLAIN, lambda x: x / (1 + np.abs(x)), 3, cheaper=True),
    Row("softshrink", PLAIN, lambda x: np.where(x > 0.5, x - 0.5, np.where(x < -0.5, x + 0.5, x * 0)), 1.5),
    Row("hardshrink", PLAIN, lambda x: np.where(np.abs(x) <= 0.5, 0, x), 0),
    Row("tanhshrink", PLAIN, lambda x: x - np.tanh(x), 8, scale=lambda x: 8 * magnitude(np.tanh(x))),
    Row("floor", PLAIN, ints(np.floor)),
    Row("ceil", PLAIN, ints(np.ceil)),
    Row("round", PLAIN, ints(np.rint)),
    Row("trunc", PLAIN, ints(np.trunc)),
    Row("frac", PLAIN, ints(frac, lambda x: x - x), 0),
    Row("abs", PLAIN, np.abs),
    Row("neg", ARITHMETIC, np.negative),
    Row("sign", PLAIN, sign, 0),
    Row("signbit", BOOL, lambda x: np.signbit(x) & ~np.isnan(x), 0),
    Row("isfinite", BOOL, np.isfinite, 0),
    Row("isinf", BOOL, np.isinf, 0),
    Row("isnan", BOOL, np.isnan, 0),
    Row("isposinf", BOOL, lambda x: x == np.inf, 0),
    Row("isneginf", BOOL, lambda x: x == -np.inf, 0),
    Row("isreal", BOOL, np.isreal, 0),
    Row("logical_not", BOOL, np.logical_not),
    Row("bitwise_not", BITWISE, np.invert),
    Row("set", PLAIN, lambda x: x),
    Row("segment_set", PLAIN, lambda x: x),
]


def cases(ops):
    for row in ROWS:
        said = ops.get(row.name, {})
        for short in said.get("dtypes", []):
            if dtypes.ALL[short].is_complex:
                continue  # these have a table of their own
            ulps = said.get("ulp") if row.ulps is None else row.ulps
            for operand in operands(short):
                yield case(row, short, within(row.most, operand), ulps)


def within(most, operand):
    """The operand itself, or its numbers brought to at most this magnitude."""
    values = operand.values.astype(np.float64)
    if most is None or not np.any(np.abs(values) > most):
        return operand
    return dense(np.clip(values, -most, most), operand.dtype.short)


_DENSE: dict = {}


def operands(short):
    if short not in _DENSE:
        _DENSE[short] = dense(dtypes.numbers(short))
    return [_DENSE[short], *[laid_out(short, layout) for layout in LAYOUTS]]


def case(row, short, operand, ulps):
    computed, result = types(row.rule, [short])
    x = brought(operand.values, computed)
    absolute = 0.0
    if row.scale is not None:
        absolute = row.scale(x) * float(ml_dtypes.finfo(dtypes.ALL[computed].numpy).eps)
    if computed == "f64" and ulps:
        ulps += 4  # SciPy's own error
    expected = row.formula(x)
    if row.cheaper and result in ("f16", "bf16"):
        absolute = absolute + dtypes.ALL[result].spacing(np.asarray(expected, np.longdouble)) / 2
    return Case(row.name, f"fd.ops.{row.name}({{0}})", [operand], [Result(result, expected, ulps or 0, absolute)])
