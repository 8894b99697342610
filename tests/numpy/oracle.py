"""Every example against formulas in plain NumPy, computed in double precision.

Runs the binary (its path is the one argument) on every example at small, odd and zero sizes, with row-major inputs from
a file and with strided inputs that the binary draws, always with --check; so compiled = evaluator = NumPy.
"""

import concurrent.futures
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

from tables.random import uniform

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOWEST, SPAN = -9, 19  # what strided inputs are drawn from: whole numbers, exact in every dtype


def bf16_bits(x):
    """The nearest bf16 of each float32, as its 16 bits; ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def rounded(x):
    """Rounded to bf16."""
    return from_bf16(bf16_bits(np.asarray(x, np.float64).astype(np.float32)))


# -------------------------------------------------------------------------------------------------- the formulas
def silu_mul(gate, up):
    return [gate / (1 + np.exp(-gate)) * up]


def gelu_bias(x, bias):
    t = x + bias
    return [0.5 * t * (1 + np.tanh(0.7978845608028654 * (t + 0.044715 * t**3)))]


def softmax(x):
    powers = np.exp(x - np.max(x, axis=1, keepdims=True, initial=-np.inf))
    return [powers / powers.sum(axis=1, keepdims=True)]


def layer_norm(x, weight, bias):
    mean = x.mean(axis=1, keepdims=True)
    invstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return [(x - mean) * invstd * weight + bias, mean[:, 0], invstd]


def layer_norm_backward(grad, x, mean, invstd, weight):
    normalized = (x - mean[:, None]) * invstd
    gw = grad * weight
    inner = gw - gw.mean(axis=1, keepdims=True) - normalized * (gw * normalized).mean(axis=1, keepdims=True)
    return [inner * invstd, (grad * normalized).sum(axis=0), grad.sum(axis=0)]


def rms_norm(x, weight):
    return [x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * weight]


def transpose_add(a, b):
    return [a.T + b]


def batch_norm(x, weight, bias, running_mean, running_var):
    axes, wide = (0, 2, 3), (None, slice(None), None, None)
    count = x.shape[0] * x.shape[2] * x.shape[3]
    mean, variance = x.mean(axis=axes), x.var(axis=axes)
    invstd = 1 / np.sqrt(variance + 1e-5)
    result = (x - mean[wide]) * invstd[wide] * weight[wide] + bias[wide]
    unbiased = variance * (np.float64(count) / (count - 1.0))
    return [result, mean, invstd, 0.9 * running_mean + 0.1 * mean, 0.9 * running_var + 0.1 * unbiased]


def reduction_broadcast_add(x):
    return [x + x.sum(axis=1, keepdims=True) + x.sum(axis=0, keepdims=True)]


def modulated_layer_norm_backward(weight, bias, scale, grad, mean, invstd, x):
    centred = x - mean[:, :, None]
    normalized = centred * invstd
    g_affine = rounded(scale + 1) * grad
    g_normalized = weight * g_affine
    g_centred = invstd * g_normalized
    g_invstd = (centred * g_normalized).sum(axis=2, keepdims=True)
    g_mean = -g_centred.sum(axis=2, keepdims=True)
    d_x = g_centred + g_mean / x.shape[2] - g_invstd * invstd**3 * centred / x.shape[2]
    return [
        grad.sum(axis=1),
        ((normalized * weight + bias) * grad).sum(axis=1),
        g_affine.sum(axis=(0, 1)),
        (normalized * g_affine).sum(axis=(0, 1)),
        d_x,
    ]


def nanogpt_attention(x, weight_qkv, bias_qkv, weight_out, bias_out):
    batch, length, width = x.shape
    qkv = (x @ weight_qkv.T + bias_qkv).reshape(batch, length, 3, 4, 16)
    q, k, v = qkv.transpose(2, 0, 3, 1, 4)
    scores = np.where(np.tri(length, dtype=bool), q @ k.swapaxes(2, 3) / 4, -np.inf)
    powers = np.exp(scores - scores.max(axis=3, keepdims=True, initial=-np.inf))
    heads = powers / powers.sum(axis=3, keepdims=True) @ v
    return [heads.swapaxes(1, 2).reshape(batch, length, width) @ weight_out.T + bias_out]


def gelu_bias_backward(grad, x, bias):
    t = x + bias
    bent = np.tanh(0.7978845608028654 * (t + 0.044715 * t**3))
    slope = 0.7978845608028654 * (1 + 0.134145 * t**2)
    dt = grad * 0.5 * (1 + bent + t * (1 - bent**2) * slope)
    return [dt, dt.sum(axis=0)]


def rms_norm_backward(grad, x, scale, weight):
    scaled, gw = x * scale, grad * weight
    dx = scale * (gw - scaled * (gw * scaled).mean(axis=1, keepdims=True))
    return [dx, (grad * scaled).sum(axis=0)]


def rotated(x):
    """Halves of the last axis changed, the new first one negated."""
    first, second = np.split(x, 2, axis=-1)
    return np.concatenate([-second, first], axis=-1)


def rope(x, cos, sin):
    return [x * cos + rotated(x) * sin]


def rope_backward(cos, sin, query, key, value):
    def back(grad):
        return grad * cos - rotated(rounded(grad * sin))

    batch, heads, tokens, width = query.shape
    groups = [x.reshape(batch, 8, 4, tokens, width) for x in (rounded(back(query)), back(key), value)]
    parts = [groups[0]] + [rounded(x.sum(axis=2, keepdims=True)) for x in groups[1:]]
    packed = np.concatenate(parts, axis=2).transpose(0, 3, 1, 2, 4)
    return [packed.reshape(batch, tokens, 6 * 8 * width)]


def group_norm(x, weight, bias):
    batch, channels, height, width = x.shape
    groups = x.reshape(batch, 32, channels // 32, height, width)
    mean, variance = (f(groups, axis=(2, 3, 4), keepdims=True) for f in (np.mean, np.var))
    images = ((groups - mean) / np.sqrt(variance + 1e-5)).reshape(x.shape)
    return [images * weight[:, None, None] + bias[:, None, None]]


def dropout_layer_norm(block, residual, weight, bias, *, seed):
    mask = uniform(seed, 0, block.shape, "f32", 0, 1) < np.float32(0.8)
    x = residual + block * mask * 1.25
    mean = x.mean(axis=1, keepdims=True)
    invstd = 1 / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5)
    return [(x - mean) * invstd * weight + bias, mask, mean, invstd]


def adam_step(param, grad, mean, square, steps):
    step = steps + 1
    new_mean, new_square = 0.9 * mean + 0.1 * grad, 0.999 * square + 0.001 * grad**2
    # The definition's arithmetic is in single precision, where 1 - 0.999^step loses three digits.
    decay = 1 - np.float64(np.float32(0.999)) ** step
    size = np.sqrt(new_square / decay) + 1e-8
    new_param = param * 0.99999 - 0.001 * new_mean / (1 - 0.9**step) / size
    return [new_param, new_mean, new_square, step]


def cross_entropy(logits, labels):
    largest = np.max(logits, axis=1, initial=-np.inf)
    total = np.exp(logits - largest[:, None]).sum(axis=1)
    loss = np.log(total) + largest - logits[np.arange(len(labels)), labels.astype(int)]
    return [loss, loss.sum() / np.float64(len(labels))]


# --------------------------------------------------------------------------------- shapes of the inputs, and sizes
PLANES = [(1, 1), (3, 17), (17, 3), (1023, 17), (17, 1023), (1, 1023), (1023, 1), (64, 96), (0, 5), (5, 0)]
IMAGES = [(1, 1, 1, 1), (3, 17, 1, 3), (17, 3, 3, 1), (1, 1023, 1, 1), (1023, 1, 1, 3), (2, 3, 17, 17), (0, 3, 2, 2), (2, 0, 3, 3)]
LINES = [(1,), (3,), (17,), (1023,), (100_000,), (0,)]
TOKENS = [(1, 1), (3, 17), (2, 33), (1, 65), (0, 3), (2, 0)]
CUBES = [(1, 1, 1), (3, 17, 1), (1, 3, 17), (2, 17, 33), (3, 1, 1023), (1, 1023, 3), (4, 64, 96), (0, 3, 5), (3, 0, 5), (3, 5, 0)]

# Formula, dtypes of the inputs, their shapes for given sizes, the sizes.
EXAMPLES = [
    (silu_mul, "bb", lambda r, c: [(r, c), (r, c)], PLANES),
    (gelu_bias, "bb", lambda r, c: [(r, c), (c,)], PLANES),
    (softmax, "b", lambda r, c: [(r, c)], PLANES),
    (layer_norm, "bbb", lambda r, c: [(r, c), (c,), (c,)], PLANES),
    (layer_norm_backward, "bbffb", lambda r, c: [(r, c), (r, c), (r,), (r, 1), (c,)], PLANES),
    (rms_norm, "bb", lambda r, c: [(r, c), (c,)], PLANES),
    (transpose_add, "ff", lambda r, c: [(r, c), (c, r)], PLANES),
    (batch_norm, "fffff", lambda n, c, h, w: [(n, c, h, w), (c,), (c,), (c,), (c,)], IMAGES),
    (cross_entropy, "bi", lambda r, c: [(r, c), (r,)], [(r, c) for r, c in PLANES if c]),
    (reduction_broadcast_add, "b", lambda r, c: [(r, c)], PLANES),
    (
        modulated_layer_norm_backward,
        "bbbbffb",
        lambda n, r, c: [(n, r, c), (n, r, c), (n, 1, c), (n, r, c), (n, r), (n, r, 1), (n, r, c)],
        CUBES,
    ),
    (
        nanogpt_attention,
        "fffff",
        lambda n, length: [(n, length, 64), (192, 64), (192,), (64, 64), (64,)],
        [(1, 1), (3, 17), (2, 33), (1, 150), (0, 5), (2, 0)],
    ),
    (gelu_bias_backward, "bbb", lambda r, c: [(r, c), (r, c), (c,)], PLANES),
    (rms_norm_backward, "bbfb", lambda r, c: [(r, c), (r, c), (r, 1), (c,)], PLANES),
    (rope, "bbb", lambda n, t: [(n, 3, t, 128), (t, 128), (t, 128)], TOKENS),
    (rope_backward, "bbbbb", lambda n, t: [(t, 64)] * 2 + [(n, 32, t, 64)] * 3, TOKENS),
    (group_norm, "bbb", lambda n, h, w: [(n, 320, h, w), (320,), (320,)], [(1, 1, 1), (2, 3, 5), (1, 17, 16), (0, 2, 2), (2, 0, 3)]),
    (dropout_layer_norm, "bbbb", lambda r, c: [(r, c), (r, c), (c,), (c,)], PLANES),
    (adam_step, "fffpp", lambda n: [(n,)] * 4 + [(1,)], LINES),
]
# What numbers are scaled by where a softmax of large ones would hang on the last bit of a sum; whole numbers will not do.
SCALES = {nanogpt_attention: 0.2}
# Of which dtype inputs are; `p` is f32 above zero.
TORCH = {"b": "torch.bfloat16", "f": "torch.float32", "p": "torch.float32", "i": "torch.int64"}


# ------------------------------------------------------------------------------------------------------- the inputs
STORED = {"f": np.float32, "p": np.float32, "i": np.int64}


def given(random, kind, shape, columns, scale):
    """Normal numbers in the dtype of the kind, `p` above zero; integers are places among the columns."""
    if kind == "i":
        return random.integers(0, columns, shape)
    numbers = scale * random.standard_normal(shape)
    numbers = np.abs(numbers) + 0.5 if kind == "p" else numbers
    return rounded(numbers) if kind == "b" else numbers.astype(np.float32)


def write_safetensors(path, tensors):
    header, blobs, place = {}, [], 0
    for name, (kind, values) in tensors.items():
        blob = (bf16_bits(values) if kind == "b" else values.astype(STORED[kind])).tobytes()
        dtype = {"b": "BF16", "f": "F32", "p": "F32", "i": "I64"}[kind]
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": [place, place + len(blob)]}
        blobs.append(blob)
        place += len(blob)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def read_safetensors(path):
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:start]).items():
        first, last = entry["data_offsets"]
        assert entry["dtype"] == "BF16", "all else goes to .npy"
        bits = np.frombuffer(data[start + first : start + last], np.uint16)
        tensors[name] = from_bf16(bits).reshape(entry["shape"])
    return tensors


def mixed(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def stream(state, places):
    """SplitMix64 by place, as the binary draws."""
    return mixed(np.uint64(state) + (places + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


def drawn(seed, number, count, lowest, span):
    """What the binary draws for input `number` from so many whole numbers."""
    one = lambda state, place: stream(state, np.array([place], np.uint64))[0]
    random = stream(one(seed, 0) + one(number, 1), np.arange(count, dtype=np.uint64))
    high, low = random >> np.uint64(32), random & np.uint64(0xFFFFFFFF)
    return lowest + ((high * np.uint64(span) + (low * np.uint64(span) >> np.uint64(32))) >> np.uint64(32)).astype(np.int64)


def strided_layout(shape, number):
    """Strides and storage: column-major with a gap, or row-major with one, or with the first axis expanded."""
    order = range(len(shape)) if number % 2 == 0 else reversed(range(len(shape)))
    strides, step = [0] * len(shape), 1 + number % 3
    for axis in order:
        strides[axis] = step
        step = max(1, step * shape[axis]) + 2
    if number % 4 == 3 and len(shape) > 1:
        strides[0] = 0
    return strides, sum(max(0, n - 1) * s for n, s in zip(shape, strides)) + 1


# --------------------------------------------------------------------------------------------------------- one case
def run(binary, definition, folder, words):
    line = [binary, "run", str(definition), "--check", "--json", "--output", str(folder / "out"), *words]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise AssertionError(f"exit code {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr}")
    report = json.loads(ended.stdout)
    lazily = functools.cache(read_safetensors)
    results = []
    for output in report["outputs"]:
        path = pathlib.Path(output["file"])
        results.append(np.load(path) if path.suffix == ".npy" else lazily(path)[output["name"]])
    return report, results


def compare(name, report, got, expected):
    for output, ours, theirs in zip(report["outputs"], got, expected, strict=True):
        assert ours.shape == theirs.shape, f"{name}: {output['name']} is {ours.shape}, NumPy's is {theirs.shape}"
        relative = 2.0**-8 if output["dtype"] == "bf16" else 2e-5
        finite = np.abs(theirs[np.isfinite(theirs)])
        absolute = 2e-5 * max(1.0, finite.max(initial=0.0))
        close = np.isclose(ours.astype(np.float64), theirs, rtol=relative, atol=absolute, equal_nan=True)
        if not close.all():
            at = tuple(int(k) for k in np.argwhere(~close)[0])
            raise AssertionError(f"{name}: {output['name']}{list(at)} is {ours[at]}, NumPy says {theirs[at]}")
    executor = report["executor"]
    on_evaluator = [s["name"] for s in report["segments"] if "evaluator_reason" in s]
    assert executor != "compiled" or not on_evaluator, f"{name}: {on_evaluator} run on the evaluator"


def case(binary, formula, kinds, shapes, strided):
    name = f"{formula.__name__} {shapes} {'strided' if strided else 'dense'}"
    source = (ROOT / "examples" / f"{formula.__name__}.py").read_text()
    names = re.findall(r"^    (\w+) = fd\.define_tensor", source, re.M)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if strided:
            values, lines = [], []
            for number, (kind, shape) in enumerate(zip(kinds, shapes, strict=True)):
                strides, storage = strided_layout(shape, number)
                lowest, span = {"i": (0, shapes[0][-1]), "p": (1, SPAN)}.get(kind, (LOWEST, SPAN))
                flat = drawn(7, number, storage, lowest, span).astype(np.float64)
                values.append(np.lib.stride_tricks.as_strided(flat, shape, [8 * s for s in strides]))
                draw = f"torch.randint({lowest}, {lowest + span}, ({storage},)).to({TORCH[kind]})"
                lines.append(f"    {draw}.as_strided({tuple(shape)!r}, {tuple(strides)!r}),\n")
            definition = folder / "definition.py"
            definition.write_text(re.sub(r"^inputs = \[.*?^\]", lambda _: f"inputs = [\n{''.join(lines)}]", source, flags=re.M | re.S))
            report, got = run(binary, definition, folder, ["--seed", "7"])
        else:
            random = np.random.default_rng(len(name))
            scale = SCALES.get(formula, 1)
            values = [given(random, kind, shape, shapes[0][-1], scale) for kind, shape in zip(kinds, shapes, strict=True)]
            tensors = {n: (kind, v) for n, kind, v in zip(names, kinds, values, strict=True)}
            write_safetensors(folder / "inputs.safetensors", tensors)
            definition = ROOT / "examples" / f"{formula.__name__}.py"
            report, got = run(binary, definition, folder, ["--input", str(folder / "inputs.safetensors")])
        drawing = {"seed": 7 if strided else 0} if formula.__code__.co_kwonlyargcount else {}
        compare(name, report, got, formula(*[np.asarray(v, np.float64) for v in values], **drawing))


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    here = {path.stem for path in (ROOT / "examples").glob("*.py")}
    unchecked = here - {formula.__name__ for formula, *_ in EXAMPLES}
    cases = [
        (binary, formula, kinds, shapes(*sizes), strided)
        for formula, kinds, shapes, all_sizes in EXAMPLES
        for sizes in all_sizes
        for strided in ((False,) if formula in SCALES else (False, True))
    ]
    failures = [f"examples/{name}.py has no formula here" for name in sorted(unchecked)]
    warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, about sizes of zero and sums that wrap
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for future in [pool.submit(case, *arguments) for arguments in cases]:
            try:
                future.result()
            except AssertionError as failure:
                failures.append(str(failure))
    for failure in failures:
        print(failure)
    print(f"{len(cases)} cases against NumPy, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
