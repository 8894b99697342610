"""Ops that take elements at indices which are data: exact in every dtype and layout of the tensor."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out


def cases(ops):
    for short in ops["set"]["dtypes"]:
        if dtypes.ALL[short].is_complex:
            continue
        cube = dense(np.resize(dtypes.numbers(short), (4, 6, 5)))
        yield from taken(cube, ops)
        for layout in LAYOUTS:
            operand = laid_out(short, layout)
            if operand.values.ndim:
                yield from taken(operand, ops)


def exact(values):
    return values.astype(np.longdouble) if dtypes.of(values).is_float else values


def places(shape, size, kind):
    """Indices below a size, not in order."""
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % max(size, 1)).reshape(shape).astype(kind)


def case(op, call, operand, indices, values):
    return Case(op, call, [operand, dense(indices)], [Result(operand.dtype.short, values)])


def taken(operand, ops):
    """Every gather along each axis that has elements."""
    x = exact(operand.values)
    for axis, size in enumerate(x.shape):
        for kind in (np.int64, np.int32) if size else ():
            yield from along(operand, x, axis, kind)
    if x.ndim == 2 and x.shape[0]:
        at = places((2, 3), x.shape[0], np.int64)
        yield case("embedding_fwd", "fd.ops.embedding_fwd({1}, {0})", operand, at, x[at])


def along(operand, x, axis, kind):
    shape, size = list(x.shape), x.shape[axis]
    wider = [*shape[:axis], 3, *shape[axis + 1 :]]
    at = places(wider, size, kind)
    yield case("take_along_axis", f"fd.ops.take_along_axis({{0}}, {{1}}, dim={axis})", operand, at, np.take_along_axis(x, at, axis))
    smaller = [3 if k == axis else min(n, 2) for k, n in enumerate(shape)]
    at, corner = places(smaller, size, kind), tuple(slice(None) if k == axis else slice(n) for k, n in enumerate(smaller))
    yield case("gather", f"fd.ops.gather({{0}}, {{1}}, dim={axis})", operand, at, np.take_along_axis(x[corner], at, axis))
    at = places((4,), size, kind)
    yield case("index_select", f"fd.ops.index_select({{0}}, {{1}}, dim={axis})", operand, at, np.take(x, at, axis))
    for number in (0, -1):
        call = f"fd.ops.select({{0}}, {number}, {axis})"
        yield Case("select", call, [operand], [Result(operand.dtype.short, np.take(x, number, axis))])
