"""Ops that move elements, and tensors from nothing: exact in every dtype and layout."""

import numpy as np

import dtypes
from cases import LAYOUTS, Case, Result, dense, laid_out


def cases(ops):
    for short in ops["set"]["dtypes"]:
        if dtypes.ALL[short].is_complex:
            continue
        cube = dense(np.resize(dtypes.numbers(short), (4, 6, 5)))
        yield from moved(cube, ops)
        for layout in LAYOUTS:
            operand = laid_out(short, layout)
            yield from moved(operand, ops)
    yield from sizes()
    yield from factories(ops)


def exact(values):
    return values.astype(np.longdouble) if dtypes.of(values).is_float else values


def one(op, arguments, operand, values):
    return Case(op, f"fd.ops.{op}({{0}}, {arguments})", [operand], [Result(operand.dtype.short, values)])


def moved(operand, ops):
    """Every movement that this operand allows."""
    x, rank, shape = exact(operand.values), operand.values.ndim, operand.values.shape
    yield one("broadcast", f"is_broadcast_dim={[False] * rank + [True]}", operand, x[..., None])
    wide = [3, *shape]
    yield one("broadcast_in_dim", f"shape={wide}, broadcast_dims={list(range(1, rank + 1))}", operand, np.broadcast_to(x, wide))
    yield one("reshape", f"new_shape={[x.size]}", operand, x.reshape(-1))
    if rank == 0:
        return
    yield one("pad", f"pad_widths={[1, 2] * rank}", operand, np.pad(x, [(1, 2)] * rank))
    order = [*range(1, rank), 0]
    yield one("permute", f"dims={order}", operand, x.transpose(order))
    starts, ends = [min(1, n) for n in shape], [max(min(1, n), n - 1) for n in shape]
    cut = x[tuple(slice(a, b) for a, b in zip(starts, ends, strict=True))]
    yield one("slice", f"start_indices={starts}, end_indices={ends}", operand, cut)
    if shape[-1] > 2:
        yield one("pad", "pad_widths=[-1, -1]", operand, x[..., 1:-1])
    yield Case("cat", f"fd.ops.cat([{{0}}, {{0}}], dim={rank - 1})", [operand], [Result(operand.dtype.short, np.concatenate([x, x], rank - 1))])
    ones = f"fd.ops.broadcast({{0}}, is_broadcast_dim={[True] + [False] * rank})"
    yield Case("expand", f"fd.ops.expand({ones}, shape={[2, *[-1] * rank]})", [operand], [Result(operand.dtype.short, np.broadcast_to(x, (2, *shape)))])
    yield Case("squeeze", f"fd.ops.squeeze({ones}, dims=[0])", [operand], [Result(operand.dtype.short, x)])
    if "stride_order" in ops:
        yield one("stride_order", f"stride_order={list(range(rank))}", operand, x)
    if "triu" in ops and rank >= 2:
        for diagonal in (-1, 0, 2):
            yield one("triu", f"diagonal={diagonal}", operand, np.where(np.tri(*shape[-2:], diagonal - 1, dtype=bool), np.zeros((), x.dtype), x))


def sizes():
    """Sizes become numbers that arithmetic takes."""
    x = dense(np.zeros((3, 0, 4), np.float32))
    filled = "fd.ops.full(shape=[2], fill_value={}, dtype=DataType.Int)"
    for axis, size in enumerate((3, 0, 4)):
        call = filled.format(f"fd.ops.size({{0}}, dim={axis})")
        yield Case("size", call, [x], [Result("i64", np.full(2, size))])
    call = "fd.ops.reshape({0}, new_shape=fd.ops.shape({0}))"
    yield Case("shape", call, [x], [Result("f32", np.zeros((3, 0, 4)))])


def factories(ops):
    """Constants and counts; beside each stands an operand that is not used, for a run has at least one input."""
    spare = dense(np.zeros((1,), np.float32))
    for short in ops["set"]["dtypes"]:
        kind = dtypes.ALL[short]
        if kind.is_complex:
            continue
        fill = "True" if short == "bool" else "2"
        values = np.full((3, 4), 2 if short != "bool" else True)
        call = f"fd.ops.full(shape=[3, 4], fill_value={fill}, dtype=DataType.{kind.language})"
        yield Case("full", call, [spare], [Result(short, values)])
        if short in ("i32", "i64", "f32", "f64"):
            call = f"fd.ops.iota(7, 3, 2, DataType.{kind.language})"
            yield Case("iota", call, [spare], [Result(short, 3 + 2 * np.arange(7))])
            call = f"fd.ops.iota(0, None, None, DataType.{kind.language})"
            yield Case("iota", call, [spare], [Result(short, np.zeros(0))])
