"""Nanoseconds an element of functions of f64 and f32 on one thread, beside torch's: a table in Markdown.

    python bench/functions.py [--dtype float32] [--scale 1e8] [FUNCTION…]

2^18 elements from 0.05 to 0.95 (acosh: one more), multiplied by the scale, second operands from 0.5 to 1.5; the best of
seven calls from Python. The last column is the largest difference from torch's result, relative to it.
"""

import argparse
import time

import torch

import ferrofuse
from ferrofuse import DataType, FusionDefinition

ELEMENTS = 1 << 18
CALLS = 7
ONE = """exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv
lgamma sigmoid silu gelu sqrt rsqrt reciprocal""".split()
TWO = "pow atan2 fmod remainder nextafter".split()
DTYPES = {"float64": (torch.float64, DataType.Double), "float32": (torch.float32, DataType.Float)}


def fused(function, dtype):
    with FusionDefinition() as fd:
        operands = [fd.define_tensor(shape=[-1], contiguity=True, dtype=dtype) for _ in range(1 + (function in TWO))]
        fd.add_output(getattr(fd.ops, function)(*operands))
    return fd


def of_torch(function):
    places = [torch, torch.special, torch.nn.functional]
    return next(getattr(place, function) for place in places if hasattr(place, function))


def nanoseconds(call):
    call()
    best = float("inf")
    for _ in range(CALLS):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return 1e9 * best / ELEMENTS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dtype", choices=DTYPES, default="float64")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("functions", nargs="*", default=[], metavar="FUNCTION")
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    ferrofuse.set_num_threads(1)
    torch_dtype, dtype = DTYPES[chosen.dtype]
    x = (torch.rand(ELEMENTS, dtype=torch_dtype) * 0.9 + 0.05) * chosen.scale
    y = torch.rand(ELEMENTS, dtype=torch_dtype) + 0.5
    print("| function | ferrofuse | torch | apart |\n|---|---|---|---|")
    for function in chosen.functions or ONE + TWO:
        inputs = [x + (function == "acosh"), y][: 1 + (function in TWO)]
        fd, other = fused(function, dtype), of_torch(function)
        expected = other(*inputs)
        apart = ((fd.execute(inputs)[0] - expected).abs() / expected.abs()).nan_to_num(0).max().item()
        times = [nanoseconds(call) for call in (lambda: fd.execute(inputs), lambda: other(*inputs))]
        print(f"| {function} | {times[0]:.2f} | {times[1]:.2f} | {apart:.1e} |", flush=True)


if __name__ == "__main__":
    main()
