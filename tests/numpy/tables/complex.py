"""Ops of complex numbers, computed by NumPy one format wider. Errors are measured against the modulus of the result."""

import numpy as np

import dtypes
from cases import EMPTY, EXPANDED, LAYOUTS, ROWS, STEPS, Case, Result, dense, laid_out

from . import gather
from . import movement as moves

PARTS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.75, 2.0, -3.0, 1e-3, 11.0)
WIDER = {"c64": np.complex128, "c128": np.clongdouble}
REAL = {"c64": "f32", "c128": "f64"}
ULPS = 48

UNARY = {
    "set": lambda z: z,
    "segment_set": lambda z: z,
    "neg": np.negative,
    "sign": np.sign,
    "reciprocal": np.reciprocal,
    "exp": np.exp,
    "exp2": lambda z: np.exp(z * np.log(z.real.dtype.type(2))),
    "expm1": np.expm1,
    "log": np.log,
    "log2": lambda z: np.log(z) / np.log(z.real.dtype.type(2)),
    "log10": lambda z: np.log(z) / np.log(z.real.dtype.type(10)),
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda z: 1 / np.sqrt(z),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": lambda z: 1 / (1 + np.exp(-z)),
    "silu": lambda z: z / (1 + np.exp(-z)),
}
# Those of which the C standard says the results at infinities and NaN, signs included, so that NumPy cannot differ.
WELL_DEFINED = ["exp", "log", "sqrt", "cos", "cosh", "tan", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh"]
OF_PARTS = {"abs": np.abs, "real": np.real, "imag": np.imag}
QUESTIONS = {"isreal": np.isreal, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite, "logical_not": np.logical_not}
BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "truediv": np.divide, "pow": np.power}
COMPARED = {"eq": np.equal, "ne": np.not_equal, "logical_and": np.logical_and, "logical_or": np.logical_or}


def numbers(short):
    """Products of awkward parts, and drawn ones; no poles, where one format rounds to an infinity and the other does not."""
    draws = np.random.default_rng(5)
    drawn = draws.normal(size=120) + 1j * draws.normal(size=120)
    grid = np.array([complex(re, im) for re in PARTS for im in PARTS])
    return np.concatenate([grid, drawn]).astype(dtypes.ALL[short].numpy)


def cases(ops):
    with np.errstate(all="ignore"):
        for short in WIDER:
            yield from elementwise(short)
            yield from reductions(short)
            yield from movement(short)
            yield from conversions(short)
            yield from strange(short)
            yield from matrices(short)
            yield from in_every_layout(ops, short)


def result(short, exact, ulps=ULPS):
    """A complex result: each part is right within units of the modulus."""
    spacing = dtypes.ALL[REAL[short]].spacing(np.abs(exact))
    return Result(short, exact, ulps, np.where(np.isfinite(spacing), ulps * spacing, 0))


def elementwise(short):
    z = dense(numbers(short))
    wide = z.values.astype(WIDER[short])
    tame = dense(z.values[np.abs(z.values) > 1e-2])
    real = REAL[short]
    for op, formula in UNARY.items():
        # Poles and cuts at 0, 1, i are NumPy's, in both formats alike.
        yield Case(op, f"fd.ops.{op}({{0}})", [tame], [result(short, formula(tame.values.astype(WIDER[short])))])
    for op, formula in OF_PARTS.items():
        yield Case(op, f"fd.ops.{op}({{0}})", [z], [Result(real, formula(wide), 2)])
    for op, formula in QUESTIONS.items():
        yield Case(op, f"fd.ops.{op}({{0}})", [z], [Result("bool", formula(z.values))])
    w = dense(np.roll(z.values, 71)[: len(tame.values)])
    right = w.values.astype(WIDER[short])
    divisor = dense(np.where(w.values == 0, 1, w.values))
    for op, formula in BINARY.items():
        beside = divisor if op in ("div", "truediv") else w
        exact = formula(tame.values.astype(WIDER[short]), beside.values.astype(WIDER[short]))
        # The exponent times the logarithm is rounded before the power is taken.
        ulps = ULPS * 64 if op == "pow" else ULPS
        yield Case(op, f"fd.ops.{op}({{0}}, {{1}})", [tame, beside], [result(short, exact, ulps)])
    for op, formula in COMPARED.items():
        yield Case(op, f"fd.ops.{op}({{0}}, {{1}})", [tame, w], [Result("bool", formula(tame.values, w.values))])
    flags = dense(np.arange(len(right)) % 3 == 0)
    chosen = np.where(flags.values, tame.values, w.values)
    yield Case("where", "fd.ops.where({0}, {1}, {2})", [flags, tame, w], [Result(short, chosen)])
    scaled = tame.values.astype(WIDER[short]) * (0.5 - 2j) + right * 3
    yield Case("addcmul", "fd.ops.addcmul(fd.ops.mul({1}, 3), {0}, 0.5 - 2j, 1)", [tame, w], [result(short, scaled)])
    between = tame.values + (right - tame.values) * (0.25 + 1j)
    yield Case("lerp", "fd.ops.lerp({0}, {1}, 0.25 + 1j)", [tame, w], [result(short, between)])
    parts = [dense(z.values.real.copy()), dense(z.values.imag.copy())]
    yield Case("complex", "fd.ops.complex({0}, {1})", parts, [Result(short, z.values)])
    yield Case("hypot", "fd.ops.hypot({0}, {1})", parts, [Result(real, np.hypot(wide.real, wide.imag), 2)])


def strided(short, layout):
    flat = numbers(short)[:200]
    strides = [stride * flat.itemsize for stride in layout.strides]
    return np.lib.stride_tricks.as_strided(flat, layout.sizes, strides)


def reductions(short):
    for layout in (ROWS, STEPS, EXPANDED, EMPTY):
        z = dense(np.ascontiguousarray(strided(short, layout)))
        wide = z.values.astype(WIDER[short])
        size = np.abs(wide).sum(1)
        absolute = 8 * dtypes.ALL[REAL[short]].spacing(size + 1)
        yield Case("sum", "fd.ops.sum({0}, dims=[1])", [z], [Result(short, wide.sum(1), 4, absolute)])
    z = dense(np.ascontiguousarray(strided(short, ROWS)))
    wide = z.values.astype(WIDER[short])
    near_one = dense(np.exp(1j * z.values.real).astype(z.values.dtype))
    factors = near_one.values.astype(WIDER[short])
    yield Case("prod", "fd.ops.prod({0}, dims=[1], keepdim=True)", [near_one], [result(short, factors.prod(1, keepdims=True))])
    yield Case("cumprod", "fd.ops.cumprod({0}, 1)", [near_one], [result(short, factors.cumprod(1))])
    yield Case("cumsum", "fd.ops.cumsum({0}, 0, 0.5 + 1j)", [near_one], [result(short, factors.cumsum(0) + (0.5 + 1j))])
    for init in (0.5 - 2j, 3.0):
        yield Case("cumprod", f"fd.ops.cumprod({{0}}, 1, {init})", [near_one], [result(short, factors.cumprod(1) * init)])
    deviation = Result(REAL[short], wide.std(1, ddof=1), 64)
    yield Case("standard_deviation", "fd.ops.standard_deviation({0}, dims=[1])", [z], [deviation])
    yield Case("mean", "fd.ops.mean({0}, dims=[0], keepdim=True)", [z], [result(short, wide.mean(0, keepdims=True))])
    outputs = [Result(REAL[short], wide.var(1, ddof=1), 64), result(short, wide.mean(1))]
    yield Case("var_mean", "fd.ops.var_mean({0}, dims=[1])", [z], outputs)
    yield Case("var", "fd.ops.var({0}, dims=[0], correction=0)", [z], [Result(REAL[short], wide.var(0), 64)])


def matrices(short):
    """Products against NumPy's, errors measured against the sum of the moduli."""
    a, b = (np.resize(np.roll(numbers(short), roll), sizes) for roll, sizes in ((3, (2, 5, 7)), (50, (4, 7))))
    bias = numbers(short)[30:34]
    wide, other = a.astype(WIDER[short]), b.astype(WIDER[short])
    spacing = 16 * dtypes.ALL[REAL[short]].spacing(np.abs(wide) @ np.abs(other).T + np.abs(bias))
    product = wide @ other.T
    transposed = dense(np.ascontiguousarray(b.T))
    yield Case("matmul", "fd.ops.matmul({0}, {1})", [dense(a), transposed], [Result(short, product, 4, spacing)])
    yield Case("linear", "fd.ops.linear({0}, {1})", [dense(a), dense(b)], [Result(short, product, 4, spacing)])
    outputs = [Result(short, product + bias, 4, spacing)]
    yield Case("linear", "fd.ops.linear({0}, {1}, {2})", [dense(a), dense(b), dense(bias)], outputs)
    index = dense(np.arange(7 * 3).reshape(7, 3) % 2)
    for source, values in (("{2}", transposed.values[:, :3]), ("2.5", np.full((7, 3), 2.5))):
        put = transposed.values.copy()
        np.put_along_axis(put, index.values, values, 1)
        call = f"fd.ops.scatter({{0}}, {{1}}, {source}, dim=1)"
        unique = dense(np.ascontiguousarray(transposed.values[:, :3]))
        yield Case("scatter", call, [transposed, index, unique][: 3 if source == "{2}" else 2], [Result(short, put)])


def movement(short):
    z = dense(np.ascontiguousarray(strided(short, ROWS)))
    x = z.values
    for call, exact in {
        "fd.ops.permute({0}, [1, 0])": x.T,
        "fd.ops.reshape({0}, [7, 5])": x.reshape(7, 5),
        "fd.ops.slice({0}, [1, 2], [4, 6])": x[1:4, 2:6],
        "fd.ops.pad({0}, [1, 2], 1.0 - 2.0j)": np.pad(x, ((0, 0), (1, 2)), constant_values=1 - 2j),
        "fd.ops.cat([{0}, {0}], 1)": np.concatenate([x, x], 1),
        "fd.ops.broadcast_in_dim({0}, [2, 5, 7], [1, 2])": np.broadcast_to(x, (2, 5, 7)),
    }.items():
        yield Case(call.split("(")[0].removeprefix("fd.ops."), call, [z], [Result(short, np.ascontiguousarray(exact))])
    full = f"fd.ops.full([2, 3], 0.5 - 1.5j, DataType.{dtypes.ALL[short].language})"
    yield Case("full", full, [], [Result(short, np.full((2, 3), 0.5 - 1.5j, dtypes.ALL[short].numpy))])


def conversions(short):
    z = dense(numbers(short))
    for target in ("f32", "f64", "i32", "bool", "c64", "c128"):
        kind = dtypes.ALL[target]
        source = z.values if kind.is_complex or target == "bool" else z.values.real
        yield Case("cast", f"fd.ops.cast({{0}}, DataType.{kind.language})", [z], [Result(target, source.astype(kind.numpy))])
    x = dense(np.array([1.5, -2.0, 0.0], np.float32))
    kind = dtypes.ALL[short]
    yield Case("cast", f"fd.ops.cast({{0}}, DataType.{kind.language})", [x], [Result(short, x.values.astype(kind.numpy))])


def strange(short):
    """Zeros, infinities and NaNs in either part."""
    part = np.array([0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
    pairs = np.empty((6, 6), dtypes.ALL[short].numpy)
    pairs.real, pairs.imag = part[:, None], part
    x = pairs.ravel()
    y = np.where(np.arange(x.size) % 3 == 0, x, np.roll(x, 1))
    for op in WELL_DEFINED:
        yield Case(op, f"fd.ops.{op}({{0}})", [dense(x)], [result(short, UNARY[op](x))])
    yield Case("abs", "fd.ops.abs({0})", [dense(x)], [Result(REAL[short], np.abs(x), ULPS)])
    for op, formula in QUESTIONS.items():
        yield Case(op, f"fd.ops.{op}({{0}})", [dense(x)], [Result("bool", formula(x))])
    for op, formula in {**COMPARED, "logical_xor": np.logical_xor}.items():
        yield Case(op, f"fd.ops.{op}({{0}}, {{1}})", [dense(x), dense(y)], [Result("bool", formula(x, y))])
    for op, values in (("real", x.real), ("imag", x.imag)):
        yield Case(op, f"fd.ops.{op}({{0}})", [dense(x)], [Result(REAL[short], values)])


def in_every_layout(ops, short):
    """Parts, sums and what moves elements, of tensors as they lie in memory."""
    cube = dense(np.resize(numbers(short), (4, 6, 5)))
    for operand in (cube, *[laid_out(short, layout) for layout in LAYOUTS]):
        x = operand.values
        yield from moves.moved(operand, ops)
        for op, values in (("real", x.real), ("imag", x.imag)):
            yield Case(op, f"fd.ops.{op}({{0}})", [operand], [Result(REAL[short], values)])
        if x.ndim:
            yield from gather.taken(operand, ops)
        for axis in range(x.ndim):
            yield from folded(short, operand, axis)


def folded(short, operand, axis):
    x, real, count = operand.values.astype(WIDER[short]), REAL[short], operand.values.shape[axis]
    unit = float(np.finfo(operand.values.dtype).eps) * max(count, 1)
    total, most = x.sum(axis=axis), float(np.max(np.abs(x), initial=1.0))
    yield Case("sum", f"fd.ops.sum({{0}}, dims=[{axis}])", [operand], [Result(short, total, 4, unit * np.abs(x).sum(axis=axis))])
    for op, values in (("any", np.any(x != 0, axis=axis)), ("all", np.all(x != 0, axis=axis))):
        yield Case(op, f"fd.ops.{op}({{0}}, dims=[{axis}])", [operand], [Result("bool", values)])
    if count:
        squares = (np.abs(x - np.expand_dims(total / count, axis)) ** 2).sum(axis=axis)
        mean, raw = Result(short, total / count, 8, 8 * unit * most), Result(real, squares, 8, 8 * unit * most**2 * count)
        counted = Result(real, np.full(total.shape, float(count)))
        yield Case("welford", f"fd.ops.welford({{0}}, dims=[{axis}])", [operand], [mean, raw, counted])
