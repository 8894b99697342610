"""Sorted order along an axis: stable, NaN last, both zeros alike; every dtype and layout."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out


def cases(ops):
    if "argsort" not in ops:
        return
    for short in ops["set"]["dtypes"]:
        if dtypes.ALL[short].is_complex or short == "f8e8m0":
            continue
        for operand in operands(short):
            for axis in range(operand.values.ndim):
                for descending in (False, True):
                    yield argsort(operand, axis, descending)
                    yield topk(short, operand, axis, descending)
            if operand.values.ndim == 0:
                yield Case("argsort", "fd.ops.argsort({0}, dim=0)", [operand], [Result("i64", np.zeros((), np.int64))])


def operands(short):
    random = np.random.default_rng(11)
    low = 0 if dtypes.ALL[short].is_unsigned else -3
    yield dense(random.integers(low, 4, (3, 50, 2)), short)
    if dtypes.ALL[short].is_float:
        strange = random.standard_normal((4, 9))
        strange[0, 3], strange[0, 7], strange[1, 2], strange[2, 5], strange[3, ::2] = np.nan, np.nan, np.inf, -np.inf, -0.0
        yield dense(strange, short)
    yield from (laid_out(short, layout) for layout in LAYOUTS)


def order(x, axis, descending):
    """Places in sorted order, by whole numbers that are ordered as the elements are."""
    kind = dtypes.of(x)
    keys = x.astype(np.float64) if kind.is_float else x
    ranks = np.unique(keys, return_inverse=True, equal_nan=True)[1].reshape(x.shape).astype(np.int64)
    return np.argsort(-ranks if descending else ranks, axis=axis, kind="stable")


def argsort(operand, axis, descending):
    call = f"fd.ops.argsort({{0}}, dim={axis}, descending={descending}, stable=True)"
    return Case("argsort", call, [operand], [Result("i64", order(operand.values, axis, descending))])


def topk(short, operand, axis, largest):
    k = min(3, operand.values.shape[axis])
    places = np.take(order(operand.values, axis, largest), np.arange(k), axis=axis)
    values = np.take_along_axis(operand.values, places, axis=axis)
    call = f"fd.ops.topk({{0}}, {k}, dim={axis}, largest={largest}, sorted=True)"
    return Case("topk", call, [operand], [Result(short, values), Result("i64", places)])
