"""Composites over tensors and their gradients: formulas in double precision, gradients by the textbook."""

import numpy as np

from cases import COLUMNS, EMPTY, ROWS, STEPS, Case, Result, dense, laid_out

SHORTS = ("bf16", "f16", "f32", "f64")


def cases(ops):
    for short in SHORTS:
        for layout in (ROWS, COLUMNS, STEPS, EMPTY):
            operand = laid_out(short, layout)
            yield from averages(operand)
            yield from softmax_gradients(operand)
            yield from dropouts(operand)
        random = np.random.default_rng(5)
        drawn = lambda *shape: dense(random.standard_normal(shape), short)
        yield from layers(drawn(6, 33), drawn(6, 33), drawn(33))
        yield from channels(drawn(3, 8, 5), drawn(3, 8, 5), drawn(8), drawn(8))


def slack(operand, factor=400):
    """So many roundings of what arithmetic is done in."""
    return factor * float(np.finfo(operand.dtype.arithmetic.numpy).eps)


def result(operand, values, factor=400):
    return Result(operand.dtype.short, values, 8, slack(operand, factor))


def wide(operand):
    return operand.values.astype(np.longdouble)


def averages(operand):
    x = wide(operand)
    for dim in (0, 1):
        yield Case("mean", f"fd.ops.mean({{0}}, dims=[{dim}])", [operand], [result(operand, x.mean(axis=dim))])
        deviation = np.sqrt(((x - x.mean(axis=dim, keepdims=True)) ** 2).sum(axis=dim) / max(x.shape[dim] - 1, 0))
        call = f"fd.ops.standard_deviation({{0}}, dims=[{dim}])"
        yield Case("standard_deviation", call, [operand], [result(operand, deviation)])


def softmax_gradients(operand):
    y = wide(operand) / 4
    for dim in (0, 1):
        plain = y * (y * 4) - y * (y * (y * 4)).sum(axis=dim, keepdims=True)
        halved = "fd.ops.cast(fd.ops.mul({0}, 0.25), dtype=DataType.%s)" % operand.dtype.language
        call = f"fd.ops.softmax_backward({{0}}, {halved}, dim={dim})"
        yield Case("softmax_backward", call, [operand], [result(operand, plain, 4000)])
        log = 4 * y - np.exp(y) * (4 * y).sum(axis=dim, keepdims=True)
        call = f"fd.ops.log_softmax_backward({{0}}, {halved}, dim={dim})"
        yield Case("log_softmax_backward", call, [operand], [result(operand, log, 4000)])


def dropouts(operand):
    x = wide(operand)
    # Nothing dropped, and everything.
    for p, kept in ((0.0, x), (1.0, x * 0)):
        mask = np.full(x.shape, p == 0.0)
        yield Case("dropout", f"fd.ops.dropout({{0}}, {p})", [operand], [result(operand, kept), Result("bool", mask)])
    call = "fd.ops.dropout_backward({0}, fd.ops.gt({0}, 0.0), 2.0)"
    yield Case("dropout_backward", call, [operand], [result(operand, np.where(x > 0, 2 * x, 0))])


def gradients(dy, x, over, along, weight, centred=True):
    """Mean, inverse deviation, and the gradients of operand, weight and bias, axes kept."""
    mean = x.mean(axis=over, keepdims=True) if centred else 0
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(axis=over, keepdims=True) + 1e-5)
    n, g = (x - mean) * scale, dy * weight
    drift = g.mean(axis=over, keepdims=True) if centred else 0
    dx = scale * (g - drift - n * (g * n).mean(axis=over, keepdims=True))
    others = tuple(axis for axis in range(x.ndim) if axis not in along)
    return mean, scale, dx, (dy * n).sum(axis=others), dy.sum(axis=others)


def saved(operand, values):
    """Statistics as the forward pass saves them."""
    kind = operand.dtype.arithmetic
    return dense(np.asarray(values), kind.short)


def layers(grad, operand, weight):
    dy, x, w = wide(grad), wide(operand), wide(weight)
    columns = x.shape[1]
    mean, scale, dx, dw, db = gradients(dy, x, (1,), (1,), w)
    call = f"fd.ops.layer_norm_backward({{0}}, {{1}}, [{columns}], {{2}}, {{3}}, {{4}})"
    operands = [grad, operand, saved(operand, mean[:, 0]), saved(operand, scale[:, 0]), weight]
    yield Case("layer_norm_backward", call, operands, [result(operand, v, 4000) for v in (dx, dw, db)])
    _, scale, dx, dw, _ = gradients(dy, x, (1,), (1,), w, centred=False)
    call = f"fd.ops.rms_norm_backward({{0}}, {{1}}, [{columns}], {{2}}, {{3}})"
    operands = [grad, operand, saved(operand, scale[:, 0]), weight]
    yield Case("rms_norm_backward", call, operands, [result(operand, v, 4000) for v in (dx, dw)])


def channels(grad, operand, weight, bias):
    dy, x = wide(grad), wide(operand)
    w, b = wide(weight)[:, None], wide(bias)[:, None]
    for name, over in (("batch_norm", (0, 2)), ("instance_norm", (2,))):
        mean, scale, dx, dw, db = gradients(dy, x, over, (1,), w)
        outputs = [(x - mean) * scale * w + b, mean.squeeze(over), scale.squeeze(over)]
        outputs = [result(operand, outputs[0]), *[Result(operand.dtype.arithmetic.short, v, 8, slack(operand)) for v in outputs[1:]]]
        yield Case(name, f"fd.ops.{name}({{0}}, {{1}}, {{2}})", [operand, weight, bias], outputs)
        operands = [grad, operand, saved(operand, mean.squeeze(over)), saved(operand, scale.squeeze(over)), weight]
        call = f"fd.ops.{name}_backward({{0}}, {{1}}, {{2}}, {{3}}, {{4}})"
        yield Case(f"{name}_backward", call, operands, [result(operand, v, 4000) for v in (dx, dw, db)])
    yield from groups(grad, operand, weight, bias)


def groups(grad, operand, weight, bias):
    dy, x = (wide(v).reshape(3, 2, 4, 5) for v in (grad, operand))
    w, b = (wide(v).reshape(2, 4, 1) for v in (weight, bias))
    mean, scale, dx, dw, db = gradients(dy, x, (2, 3), (1, 2), w)
    forward = ((x - mean) * scale * w + b).reshape(3, 8, 5)
    yield Case("group_norm", "fd.ops.group_norm({0}, 2, {1}, {2})", [operand, weight, bias], [result(operand, forward)])
    operands = [grad, operand, saved(operand, mean[:, :, 0, 0]), saved(operand, scale[:, :, 0, 0]), weight]
    call = "fd.ops.group_norm_backward({0}, {1}, 2, {2}, {3}, {4})"
    wanted = (dx.reshape(3, 8, 5), dw.reshape(8), db.reshape(8))
    yield Case("group_norm_backward", call, operands, [result(operand, v, 4000) for v in wanted])
