"""Scans: every dtype, axis and layout; sums and products within what any grouping of them may lose."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out

NAMES = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
}


def cases(ops):
    for short in ops["set"]["dtypes"]:
        if dtypes.ALL[short].is_complex or short == "bool":
            continue
        for operand in operands(short):
            for dim in range(operand.values.ndim):
                for name in NAMES:
                    yield Case(name, f"fd.ops.{name}({{0}}, dim={dim})", [operand], [scanned(name, operand, dim)])


def operands(short):
    """Whole numbers that halves hold, a NaN and infinities, then every layout with axes."""
    random = np.random.default_rng(9)
    low = {"u64": 0, "f8e8m0": 1}.get(short, -2)
    yield dense(random.integers(low, 3, (5, 40)), short)
    if short in ("f16", "bf16", "f32", "f64"):
        strange = random.standard_normal((3, 50))
        strange[0, 20], strange[1, 30], strange[2, 10] = np.nan, np.inf, -np.inf
        yield dense(strange, short)
    for layout in LAYOUTS:
        if layout.sizes:
            yield laid_out(short, layout)


def scanned(name, operand, dim):
    """What all elements up to each one give; the dtype does not change."""
    kind, x = operand.dtype, operand.values
    if not kind.is_float:
        return Result(kind.short, NAMES[name].accumulate(x, axis=dim, dtype=x.dtype))
    wide = x.astype(np.longdouble)
    values = NAMES[name].accumulate(wide, axis=dim)
    if name in ("cummax", "cummin"):
        return Result(kind.short, values)
    sizes = np.where(np.isfinite(wide), np.abs(wide), 0)
    terms = NAMES[name].accumulate(sizes, axis=dim)
    eps = float(np.finfo(kind.arithmetic.numpy).eps)
    return Result(kind.short, values, 1, (x.shape[dim] + 1) * eps * terms)
