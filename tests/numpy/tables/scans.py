"""Scans: every dtype, axis and layout, within what any order of adding may lose; with what stands before them."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out

SHAPE = (4, 5, 6)
NUMPY = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}


def cases(ops):
    for short in ops["set"]["dtypes"]:
        kind = dtypes.ALL[short]
        if kind.is_complex or short == "bool":
            continue
        for operand, axis in operands(short):
            for name in NUMPY:
                # Products of the laid out numbers are beyond what eight bits hold.
                if name in ops and (name != "cumprod" or not operand.layout or not short.startswith("f8")):
                    yield from scan(name, short, operand, axis)


def operands(short):
    """Small whole numbers, whose sums halves hold, and every layout."""
    random = np.random.default_rng(7)
    low = max(-2, int(np.ceil(dtypes.ALL[short].start)))
    cube = dense(random.integers(low, 3, SHAPE), short)
    for axis in (0, 1, 2, -1):
        yield cube, axis
    if dtypes.ALL[short].is_float and short != "f8e8m0":
        strange = random.standard_normal((3, 8))
        strange[0, 3], strange[1, 2] = np.nan, np.inf
        yield dense(strange, short), 1
        # Near 1, so that products stay among the normal numbers.
        yield dense(1 + random.standard_normal((200, 30)) / 64, short), 0
    for layout in LAYOUTS:
        if len(layout.sizes) == 2:
            yield laid_out(short, layout), 0
            yield laid_out(short, layout), 1


def scan(name, short, operand, axis):
    kind = dtypes.ALL[short]
    x = operand.values.astype(np.longdouble) if kind.is_float else operand.values
    values = accumulated(name, x, axis)
    slack = 0.0
    if kind.is_float and name in ("cumsum", "cumprod"):
        eps = float(np.finfo(kind.arithmetic.numpy).eps)
        terms = accumulated(name, np.where(np.isfinite(x), np.abs(x), 0), axis)
        slack = x.shape[axis] * eps * terms
    yield Case(name, f"fd.ops.{name}({{0}}, {axis})", [operand], [Result(short, values, float(kind.is_float), slack)])


def accumulated(name, x, axis):
    """Along an axis, in the dtype itself."""
    if x.size == 0:
        return x
    return NUMPY[name].accumulate(x, axis=axis, dtype=x.dtype)
