"""Ops of three operands and those with constants beside a tensor."""

import numpy as np

import dtypes
from cases import COLUMNS, EMPTY, EXPANDED, ROWS, STEPS, ZERO_D, Case, Result, dense, laid_out

from .typing import ARITHMETIC, brought, types

LAYOUTS = [(COLUMNS, STEPS, EXPANDED), (ROWS, ZERO_D, STEPS), (EMPTY, EMPTY, EMPTY), (ZERO_D, ZERO_D, ZERO_D)]


def cases(ops):
    for name, table in (("where", where), ("clamp", clamp), ("threshold", threshold), ("threshold_backward", threshold_backward), ("lerp", lerp), ("addcmul", addcmul)):
        shorts = [short for short in ops.get(name, {}).get("dtypes", []) if not dtypes.ALL[short].is_complex]
        for short in shorts:
            yield from table(short)


def numbers_in(short, count=3):
    """Operands of one dtype, from files and in all layouts."""
    values = dtypes.numbers(short)
    yield [dense(np.roll(values, 31 * place)) for place in range(count)]
    for layouts in LAYOUTS:
        yield [laid_out(short, layout) for layout in layouts[:count]]


def where(short):
    for _, x, y in numbers_in(short):
        condition = dense(np.resize([True, False, False, True, True], x.values.shape).astype(np.bool_))
        values = np.where(condition.values, x.values, y.values)
        yield Case("where", "fd.ops.where({0}, {1}, {2})", [condition, x, y], [Result(short, exact(values))])


def exact(values):
    """Values as they are, floats as doubles."""
    return values.astype(np.longdouble) if dtypes.of(values).is_float else values


def clamp(short):
    for [x] in numbers_in(short, 1):
        values = exact(x.values)
        low, high = (0, 3) if short in ("bool", "f8e8m0") or dtypes.ALL[short].is_unsigned else (-2, 3)
        if short == "bool":
            low, high = False, True
        clamped = np.where(np.isnan(values.astype(float)), values, np.minimum(np.maximum(values, low), high)).astype(values.dtype)
        yield Case("clamp", f"fd.ops.clamp({{0}}, {low}, {high})", [x], [Result(short, clamped)])


def threshold(short):
    for [x] in numbers_in(short, 1):
        values = exact(x.values)
        low, other = (False, True) if short == "bool" else (1, 2)
        chosen = np.where(values <= low, np.asarray(other, values.dtype), values)
        yield Case("threshold", f"fd.ops.threshold({{0}}, {low}, {other})", [x], [Result(short, chosen)])


def threshold_backward(short):
    for grad, x in numbers_in(short, 2):
        g, values = exact(grad.values), exact(x.values)
        low = False if short == "bool" else 1
        passed = np.where(values <= low, np.zeros_like(g), g)
        yield Case("threshold_backward", f"fd.ops.threshold_backward({{0}}, {{1}}, {low})", [grad, x], [Result(short, passed)])


def lerp(short):
    if not dtypes.ALL[short].is_float:
        return
    computed, result = types(ARITHMETIC, [short])
    for start, end, weight in numbers_in(short):
        operands = [tame(operand) for operand in (start, end, weight)]
        a, b, w = (brought(operand.values, computed) for operand in operands)
        difference = b - a
        values = np.where(w < 0.5, a + w * difference, b - difference * (1 - w))
        scale = (np.abs(a) + np.abs(b)) * (1 + np.abs(w))
        eps = float(np.finfo(dtypes.ALL[computed].numpy).eps)
        yield Case("lerp", "fd.ops.lerp({0}, {1}, {2})", operands, [Result(result, values, 2, 4 * eps * scale)])


def addcmul(short):
    # The constant 2 makes integers of bools.
    computed, result = types(ARITHMETIC, [short] if short != "bool" else ["i64"])
    for operands in numbers_in(short):
        operands = [tame(operand) for operand in operands]
        a, b, c = (brought(operand.values, computed) for operand in operands)
        kind = dtypes.ALL[result]
        if kind.is_float:
            scale = np.abs(a) + 2 * np.abs(b * c)
            wanted = Result(result, a + 2 * b * c, 2, 4 * float(np.finfo(kind.numpy).eps) * scale)
        else:
            wanted = Result(result, a + np.asarray(2, a.dtype) * b * c)
        yield Case("addcmul", "fd.ops.addcmul({0}, {1}, {2}, 2)", operands, [wanted])


def tame(operand):
    """Floats of at most 100, so that no intermediate result is infinite."""
    if not operand.dtype.is_float or np.all(np.abs(operand.values.astype(np.float64)) <= 100):
        return operand
    values = np.nan_to_num(operand.values.astype(np.float64), nan=1.0, posinf=1.0, neginf=-1.0)
    return dense(np.clip(values, -100, 100), operand.dtype.short)
