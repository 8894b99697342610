"""Casts from every dtype to every other: rounded to nearest, ties to even; to integers truncated and saturated, NaN to 0, in the dtype
of their arithmetic, from which they wrap."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out


def cases(ops):
    # The dtypes of `set` are all there are.
    shorts = [short for short in ops["set"]["dtypes"] if not dtypes.ALL[short].is_complex]
    for source in shorts:
        operands = [dense(dtypes.numbers(source)), *[laid_out(source, layout) for layout in LAYOUTS]]
        for target in shorts:
            call = f"fd.ops.cast({{0}}, dtype=DataType.{dtypes.ALL[target].language})"
            for operand in operands:
                yield Case("cast", call, [operand], [Result(target, cast(operand.values, target))])


def cast(values, target):
    """The numbers in another dtype."""
    source, kind = dtypes.of(values), dtypes.ALL[target]
    with np.errstate(all="ignore"):
        if target == "bool":
            return values.astype(np.longdouble if source.is_float else values.dtype) != 0
        if kind.is_float:
            # Integers of 64 bits have more digits than doubles, but not more than long doubles.
            return through(values.astype(np.longdouble), kind)
        if source.is_float:
            return saturated(values.astype(np.longdouble), kind.arithmetic).astype(kind.numpy)
        return values.astype(kind.numpy)


def through(wide, kind):
    """Rounded once: narrow formats go through f32 here only where that rounds nothing, or to odd."""
    if kind.short in ("f32", "f64"):
        return wide.astype(kind.numpy).astype(np.longdouble)
    single = wide.astype(np.float32)
    lost = np.isfinite(single) & (single.astype(np.longdouble) != wide)
    inward = np.where(np.abs(single.astype(np.longdouble)) > np.abs(wide), np.nextafter(single, np.float32(0)), single)
    odd = (inward.view(np.uint32) | np.uint32(1)).view(np.float32)
    return kind.rounded(np.where(lost, odd, single)).astype(np.longdouble)


def saturated(wide, kind):
    info = np.iinfo(kind.numpy)
    whole = np.trunc(np.where(np.isnan(wide), 0, wide))
    inside = (whole >= info.min) & (whole <= np.longdouble(int(info.max)))
    cut = np.where(inside, whole, 0).astype(kind.numpy)
    return np.where(inside, cut, np.where(whole < 0, info.min, info.max).astype(kind.numpy)).astype(kind.numpy)
