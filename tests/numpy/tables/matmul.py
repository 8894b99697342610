"""Products of matrices, in groups too, linear layers and attention, within what any order of the sums may lose."""

import numpy as np

import dtypes
from cases import Case, Result, dense

SHAPES = [
    ((5, 7), (7, 3)),
    ((7,), (7, 3)),
    ((5, 7), (7,)),
    ((7,), (7,)),
    ((2, 5, 7), (7, 3)),
    ((5, 7), (2, 7, 3)),
    ((2, 3, 5, 7), (3, 7, 4)),
    ((1, 300), (300, 1)),
    ((300, 5), (5, 290)),
    ((0, 7), (7, 3)),
    ((5, 0), (0, 3)),
    ((1, 1), (1, 1)),
]
GROUPS = [((5, 9), (9, 4), 9), ((6, 5), (3, 5, 4), 6), ((3, 6, 5), (5, 7), 7)]


def cases(ops):
    random = np.random.default_rng(17)
    for short in ops["set"]["dtypes"]:
        if not dtypes.ALL[short].is_float or short not in ("f16", "bf16", "f32", "f64"):
            continue
        number = lambda shape, short=short: dense(random.standard_normal(shape), short)
        if "matmul" in ops:
            for a, b in SHAPES:
                yield product(short, "matmul", number(a), number(b))
        if "linear" in ops:
            for a, b in SHAPES:
                if len(b) == 2:
                    yield product(short, "linear", number(a), number(b[::-1]))
                    yield product(short, "linear", number(a), number(b[::-1]), number(b[1:]))
        if "grouped_mm" in ops:
            for a, b, divided in GROUPS:
                for ends in ([0, 4, 4], [1, 2, divided]):
                    yield grouped(short, number(a), number(b), ends)
        if "sdpfa_fwd" in ops:
            for causal in (False, True):
                yield from attention(short, [number((2, 3, 5, 8)) for _ in range(4)], causal)


def wide(operand):
    return operand.values.astype(np.longdouble)


def within(short, values, magnitude, depth):
    """A sum of `depth` products whose magnitudes sum to this."""
    unit = float(np.finfo(dtypes.ALL[short].arithmetic.numpy).eps)
    return Result(short, values, 1, depth * unit * magnitude + 1e-300)


def product(short, op, a, b, bias=None):
    x, y = wide(a), wide(b)
    y = y.T if op == "linear" else y
    depth = x.shape[-1] + 1
    values, magnitude = x @ y, np.abs(x) @ np.abs(y)
    if bias is not None:
        values, magnitude = values + wide(bias), magnitude + np.abs(wide(bias))
    operands = [a, b] if bias is None else [a, b, bias]
    names = ", ".join(f"{{{place}}}" for place in range(len(operands)))
    return Case(op, f"fd.ops.{op}({names})", operands, [within(short, values, magnitude, depth)])


def grouped(short, a, b, ends):
    x, y = wide(a), wide(b)
    ranges = list(zip([0, *ends[:-1]], ends, strict=True))

    def together(x, y):
        if x.ndim == 2 and y.ndim == 2:
            return np.stack([x[:, start:end] @ y[start:end] for start, end in ranges])
        result = np.zeros((x.shape[-2], y.shape[-1]), np.longdouble)
        for group, (start, end) in enumerate(ranges):
            if x.ndim == 3:
                result[:, start:end] = x[group] @ y[:, start:end]
            else:
                result[start:end] = x[start:end] @ y[group]
        return result

    result = within(short, together(x, y), together(np.abs(x), np.abs(y)), x.shape[-1])
    return Case("grouped_mm", "fd.ops.grouped_mm({0}, {1}, {2})", [a, b, dense(np.array(ends, np.int32))], [result])


def attention(short, operands, causal):
    """Forward and back, by the formulas in doubles; outputs round once, so a few units of them are allowed."""
    q, k, v, grad = (operand.values.astype(np.float64) for operand in operands)
    scale = 1 / np.sqrt(q.shape[3])
    scores = scale * q @ k.swapaxes(2, 3)
    if causal:
        scores = np.where(np.tri(*scores.shape[2:], dtype=bool), scores, -np.inf)
    sums = np.log(np.exp(scores).sum(axis=3))
    weights = np.exp(scores - sums[..., None])
    output = weights @ v
    loose = lambda values, kind=short: Result(kind, values, 4, 3e-6)
    seed = [Result("u64", np.zeros(2, np.uint64)), Result("u64", np.zeros((), np.uint64))]
    call = f"fd.ops.sdpfa_fwd({{0}}, {{1}}, {{2}}, dropout_p=0.0, is_causal={causal})"
    yield Case("sdpfa_fwd", call, operands[:3], [loose(output), loose(sums, "f32"), *seed])
    rounded = dense(output, short)
    given = [operands[3], *operands[:3], rounded, dense(sums, "f32")]
    centred = grad @ v.swapaxes(2, 3) - (grad * rounded.values.astype(np.float64)).sum(axis=3, keepdims=True)
    inner = scale * weights * centred
    grads = [inner @ k, inner.swapaxes(2, 3) @ q, weights.swapaxes(2, 3) @ grad]
    philox = [dense(np.zeros(2, np.uint64)), dense(np.zeros((), np.uint64))]
    call = f"fd.ops.sdpfa_bwd({{0}}, {{1}}, {{2}}, {{3}}, {{4}}, {{5}}, 0.0, {causal}, {{6}}, {{7}}, None)"
    yield Case("sdpfa_bwd", call, [*given, *philox], [Result(short, grad, 4, 2e-5) for grad in grads])
