"""How far sums, means, variances and norms in f32 are from the exact ones, beside NumPy and torch: a table in Markdown.

    python bench/accuracy.py [--longest 26]

Errors are relative, in units of 2^-24, half a unit in the last place of 1: of sums and means to the sum or mean of the
magnitudes, of variances to the variance, where that is zero absolute, of a layer norm the largest of an element (no
deviation is larger than the root of the length). The median of a few draws. Exact results are NumPy's of the same numbers in
doubles, which add pairwise. torch is left out where it is not installed.
"""

import argparse
import sys

import numpy as np

from ferrofuse import FusionDefinition

UNIT = 2.0**-24
DRAWS = 3
NUMBERS = {
    "equal": lambda random, n: np.full(n, np.float32(0.1)),
    "mean of 1e3 deviations": lambda random, n: random.normal(1e3, 1, n).astype(np.float32),
    "mean of 1e6 deviations": lambda random, n: random.normal(1e6, 1, n).astype(np.float32),
    "alternating": lambda random, n: np.where(np.arange(n) % 2 == 0, 1.1, -0.9).astype(np.float32),
    "normal": lambda random, n: random.normal(0, 1, n).astype(np.float32),
    "uniform": lambda random, n: random.random(n, np.float32),
}


def fused(shape, reduced, op):
    """An op of the definition language on tensors of this rank, over axes."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1] * len(shape), contiguity=True)
        fd.add_output(op(fd.ops, x, reduced))
    return lambda x: np.asarray(fd.execute([x])[0])


def normalized(x):
    """NumPy's layer norm, in the dtype of its operand."""
    return (x - x.mean(dtype=x.dtype)) / np.sqrt(x.var(dtype=x.dtype) + x.dtype.type(1e-5))


def layer_norm(ops, x, _):
    variance, mean = ops.var_mean(x, dims=[0], correction=0, keepdim=True)
    return ops.mul(ops.sub(x, mean), ops.rsqrt(ops.add(variance, 1e-5)))


# For each result what ferrofuse, NumPy and torch call it, and what its error is relative to.
RESULTS = {
    "sum": (
        lambda ops, x, axes: ops.sum(x, dims=axes),
        lambda x: x.sum(dtype=x.dtype),
        lambda torch, x: x.sum(),
        lambda x: np.abs(x).sum(),
    ),
    "mean": (
        lambda ops, x, axes: ops.mean(x, dims=axes),
        lambda x: x.mean(dtype=x.dtype),
        lambda torch, x: x.mean(),
        lambda x: np.abs(x).mean(),
    ),
    "variance": (
        lambda ops, x, axes: ops.var_mean(x, dims=axes, correction=0)[0],
        lambda x: x.var(dtype=x.dtype),
        lambda torch, x: x.var(correction=0),
        lambda x: x.var() or 1.0,
    ),
    "layer norm": (
        layer_norm,
        normalized,
        lambda torch, x: torch.nn.functional.layer_norm(x, x.shape),
        lambda x: 1.0,
    ),
}


def error(result, exact, scale):
    """The largest distance, in units."""
    distance = np.abs(np.asarray(result, np.float64) - exact)
    return float(np.max(distance) / scale / UNIT)


def torch_or_none():
    try:
        import torch
    except ImportError:
        print("torch is not installed", file=sys.stderr)
        return None
    return torch


def cell(value):
    return "-" if value is None else f"{value:.2g}" if value < 1e4 else f"{value:.1e}"


def rows(longest, torch):
    """Result, numbers, length and the errors of the three."""
    for name, (ours, numpy, theirs, scale) in RESULTS.items():
        run = fused([0], [0], ours)
        for kind, numbers in NUMBERS.items():
            for power in range(10, longest + 1, 8):
                random, errors = np.random.default_rng(power), []
                for _ in range(DRAWS):
                    x = numbers(random, 2**power)
                    wide = x.astype(np.float64)
                    exact, relative = numpy(wide), scale(wide)
                    results = [run(x), numpy(x), torch and theirs(torch, torch.from_numpy(x))]
                    errors.append([None if r is None else error(r, exact, relative) for r in results])
                yield name, kind, power, [
                    None if None in column else float(np.median(column)) for column in zip(*errors)
                ]


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--longest", type=int, default=26, help="the longest row has two to this power elements")
    longest = options.parse_args().longest
    print("| result | numbers | length | ferrofuse | NumPy | torch |\n|---|---|---|---|---|---|")
    for name, kind, power, errors in rows(longest, torch_or_none()):
        print(f"| {name} | {kind} | 2^{power} | {' | '.join(map(cell, errors))} |")


if __name__ == "__main__":
    main()
