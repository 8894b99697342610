"""Folds: every dtype, axes and layout; sums and products within what any order of them may lose."""

import numpy as np

import dtypes
from cases import EMPTY, LAYOUTS, Case, Result, dense, laid_out

SHAPE = (6, 5, 7)
AXES = [None, [0], [1], [2], [0, 2], [0, 1, 2]]


def cases(ops):
    shorts = [short for short in ops["set"]["dtypes"] if not dtypes.ALL[short].is_complex]
    for short in shorts:
        for operand, axes in operands(short):
            for name in ("sum", "prod", "max", "min", "any", "all", "mean"):
                if name in ops and (name != "mean" or dtypes.ALL[short].is_float):
                    yield from fold(name, short, operand, axes)
            for name in ("argmax", "argmin"):
                if name in ops:
                    yield from arg_fold(name, operand, axes)
            if short in ("f32", "f64"):
                yield from moments(ops, short, operand, axes)


def operands(short):
    """Operands with axes to fold: whole numbers that halves hold, then a NaN and an infinity, then every layout."""
    random = np.random.default_rng(5)
    low = int(np.ceil(dtypes.ALL[short].start))
    cube = dense(random.integers(low, 5, SHAPE), short)
    for axes in AXES:
        yield cube, axes
    if dtypes.ALL[short].is_float and short != "f8e8m0":
        strange = random.standard_normal((4, 9))
        strange[0, 3], strange[1, 2], strange[2, 5] = np.nan, np.inf, -np.inf
        yield dense(strange, short), [1]
        yield dense(random.standard_normal((300, 40)), short), [0]
        yield dense(random.standard_normal((40, 300)), short), [1]
    for layout in LAYOUTS:
        rank = len(layout.sizes)
        for axes in ([0], [1]) if rank == 2 else (None,):
            yield laid_out(short, layout), axes


def words(axes, **others):
    """The arguments behind the operand."""
    given = {} if axes is None else {"dims": axes}
    return "".join(f", {name}={value}" for name, value in {**given, **others}.items())


def whole(x):
    """As wide as NumPy computes."""
    return x.astype(np.longdouble) if dtypes.of(x).is_float else x


def fold(name, short, operand, axes):
    kind, x = dtypes.ALL[short], whole(operand.values)
    over = None if axes is None else tuple(axes)
    counted = not kind.is_float
    result = {"any": "bool", "all": "bool"}.get(name, short)
    if name in ("sum", "prod") and counted:
        result = "i64"
    if name in ("max", "min"):
        values = extreme(name, kind, x, over)
        results = [Result(result, values)]
    elif name in ("any", "all"):
        results = [Result("bool", getattr(np, name)(x != 0, axis=over))]
    else:
        results = [added(name, result, kind, x, over)]
    yield Case(name, f"fd.ops.{name}({{0}}{words(axes)})", [operand], results)
    if axes is not None and name != "mean":
        kept = [Result(r.dtype, np.expand_dims(r.values, over), r.ulps, np.expand_dims(r.absolute, over) if np.ndim(r.absolute) else r.absolute) for r in results]
        yield Case(name, f"fd.ops.{name}({{0}}{words(axes, keepdim=True)})", [operand], kept)


def added(name, result, kind, x, over):
    """A sum, product or mean, with what n roundings may lose."""
    if not kind.is_float:
        return Result(result, getattr(np, name)(x, axis=over, dtype=dtypes.ALL[result].numpy))
    eps = float(np.finfo(kind.arithmetic.numpy).eps)
    values = getattr(np, name)(x, axis=over)
    count = x.size / max(1, values.size)
    finite = np.where(np.isfinite(x), np.abs(x), 0)
    terms = np.prod(finite, axis=over) if name == "prod" else np.sum(finite, axis=over)
    terms = terms / count if name == "mean" and count else terms
    return Result(result, values, 1, count * eps * terms)


def extreme(name, kind, x, over):
    """The largest or smallest; of nothing, what changes no other number."""
    info = np.iinfo(kind.numpy) if kind.numpy.kind in "iu" else None
    smallest, most = (info.min, info.max) if info else ((False, True) if kind.short == "bool" else (-np.inf, np.inf))
    return getattr(np, name)(x, axis=over, initial=smallest if name == "max" else most)


def arg_fold(name, operand, axes):
    if axes is None or len(axes) != 1 or operand.values.shape[axes[0]] == 0:
        return
    values = getattr(np, name)(whole(operand.values), axis=axes[0])
    yield Case(name, f"fd.ops.{name}({{0}}, dim={axes[0]})", [operand], [Result("i64", values.astype(np.int64))])


def moments(ops, short, operand, axes):
    """Variance, mean, and Welford's sum of squares."""
    x = whole(operand.values)
    if axes is None or not np.all(np.isfinite(x)):
        return
    over, eps = tuple(axes), float(np.finfo(operand.values.dtype).eps)
    count = np.prod([x.shape[axis] for axis in axes], dtype=np.longdouble)
    mean = np.sum(x, axis=over) / count
    squares = np.sum((x - np.sum(x, axis=over, keepdims=True) / count) ** 2, axis=over)
    most = float(np.max(np.abs(x), initial=1.0))
    slack = 8 * eps * float(max(count, 1))

    def results(correction):
        divisor = np.maximum(count - correction, 0)
        return Result(short, squares / divisor, 8, slack * most**2), Result(short, mean, 8, slack * most)

    if "var" in ops:
        yield Case("var", f"fd.ops.var({{0}}{words(axes)})", [operand], [results(1)[0]])
        yield Case("var", f"fd.ops.var({{0}}{words(axes, correction=0)})", [operand], [results(0)[0]])
    if "var_mean" in ops:
        yield Case("var_mean", f"fd.ops.var_mean({{0}}{words(axes)})", [operand], results(1))
    if "welford" in ops and operand.layout is not EMPTY:
        n = Result(short, np.full(mean.shape, float(count)))
        raw = Result(short, squares, 8, slack * most**2 * float(count))
        yield Case("welford", f"fd.ops.welford({{0}}{words(axes)})", [operand], [results(0)[1], raw, n])
