"""Softmax and norms as composites: within a few roundings of the formula in double precision."""

import numpy as np

from cases import COLUMNS, EMPTY, EXPANDED, ROWS, STEPS, Case, Result, dense, laid_out


def cases(ops):
    for short in ("bf16", "f16", "f32", "f64"):
        random = np.random.default_rng(3)
        large = dense(3 * random.standard_normal((9, 130)), short)
        operands = [large, *[laid_out(short, layout) for layout in (ROWS, COLUMNS, STEPS, EXPANDED, EMPTY)]]
        for operand in operands:
            yield from softmaxes(operand)
            yield from norms(operand)


def slack(operand, factor):
    """So many roundings of what arithmetic is done in."""
    return factor * float(np.finfo(operand.dtype.arithmetic.numpy).eps)


def softmaxes(operand):
    x = operand.values.astype(np.longdouble)
    short = operand.dtype.short
    for dim in (0, 1):
        powers = np.exp(x - np.max(x, axis=dim, keepdims=True, initial=-np.inf))
        total = powers.sum(axis=dim, keepdims=True)
        results = [Result(short, powers / total, 40, slack(operand, 4))]
        yield Case("softmax", f"fd.ops.softmax({{0}}, dim={dim})", [operand], results)
        shifted = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
        results = [Result(short, shifted - np.log(total), 8, slack(operand, 40))]
        yield Case("log_softmax", f"fd.ops.log_softmax({{0}}, dim={dim})", [operand], results)


def norms(operand):
    x = operand.values.astype(np.longdouble)
    short, columns = operand.dtype.short, x.shape[1]
    if columns == 0:
        return
    mean = x.mean(axis=1, keepdims=True)
    centred = (x - mean) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    results = [Result(short, centred, 8, slack(operand, 400))]
    yield Case("layer_norm", f"fd.ops.layer_norm({{0}}, normalized_shape=[{columns}])", [operand], results)
    scaled = x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5)
    results = [Result(short, scaled, 40, slack(operand, 8))]
    yield Case("rms_norm", f"fd.ops.rms_norm({{0}}, normalized_shape=[{columns}])", [operand], results)
