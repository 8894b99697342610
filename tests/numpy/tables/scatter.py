"""Scatter: elements put where indices say, in order, the last one staying; every dtype and layout."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out


def cases(ops):
    if "scatter" not in ops:
        return
    random = np.random.default_rng(13)
    for short in ops["set"]["dtypes"]:
        if dtypes.ALL[short].is_complex or short == "f8e8m0":
            continue
        operands = [dense(random.integers(0, 5, (4, 6, 3)), short)]
        operands += [laid_out(short, layout) for layout in LAYOUTS if len(layout.sizes) == 2]
        for operand in operands:
            shape = operand.values.shape
            for axis in range(len(shape)):
                smaller = tuple(max(0, size - 1) for size in shape)
                for sizes in (shape, smaller):
                    high = max(1, shape[axis])
                    index = dense(random.integers(0, high, sizes if shape[axis] else (0,) * len(shape)), "i64")
                    yield from scatter(short, operand, index, axis)


def scatter(short, operand, index, axis):
    src = dense(np.arange(operand.values.size).reshape(operand.values.shape) % 7, short)
    call = f"fd.ops.scatter({{0}}, {{1}}, {{2}}, dim={axis})"
    result = put(operand.values, index.values, src.values, axis)
    yield Case("scatter", call, [operand, index, src], [Result(short, result)])
    if short in ("f32", "bf16", "i32"):
        ones = np.ones(index.values.shape, operand.values.dtype)
        result = put(operand.values, index.values, ones, axis)
        yield Case("scatter", f"fd.ops.scatter({{0}}, {{1}}, 1, dim={axis})", [operand, index], [Result(short, result)])


def put(x, index, src, axis):
    result = np.array(x)
    for place in np.ndindex(index.shape):
        result[(*place[:axis], index[place], *place[axis + 1 :])] = src[place]
    return result
