"""Folds of short rows whose sizes are symbolic or known, ms: `python bench/short_rows.py`. Best of 30 calls."""

import time

import numpy as np

from ferrofuse import DataType, FusionDefinition

ELEMENTS = 1 << 22


def squares(fd, x):
    fd.add_output(fd.ops.sum(fd.ops.mul(x, x), [1]))


def unit(fd, x):
    norm = fd.ops.sqrt(fd.ops.sum(fd.ops.mul(x, x), [1], True))
    fd.add_output(fd.ops.div(x, fd.ops.add(norm, 1e-6)))


def layer_norm(fd, x):
    variance, mean = fd.ops.var_mean(x, [1], 0, True)
    fd.add_output(fd.ops.mul(fd.ops.sub(x, mean), fd.ops.rsqrt(fd.ops.add(variance, 1e-5))))


def argmax(fd, x):
    fd.add_output(fd.ops.argmax(x, 1))


def milliseconds(function, x, columns):
    with FusionDefinition() as fd:
        function(fd, fd.define_tensor(shape=[-1, columns], contiguity=True, dtype=DataType.Float))
    smallest = float("inf")
    for _ in range(30):
        begin = time.perf_counter()
        fd.execute([x])
        smallest = min(smallest, time.perf_counter() - begin)
    return smallest * 1e3


def main():
    functions = [squares, unit, layer_norm, argmax]
    print("columns" + "".join(f"{function.__name__:>18}" for function in functions) + "   symbolic, known")
    for columns in (3, 4, 5, 8, 16, 24, 32, 64, 128, 256, 768):
        x = np.random.default_rng(0).standard_normal((ELEMENTS // columns, columns), dtype=np.float32)
        pairs = [[milliseconds(function, x, size) for size in (-1, columns)] for function in functions]
        print(f"{columns:>7}" + "".join(f"{symbolic:>10.3f}{known:>8.3f}" for symbolic, known in pairs))


if __name__ == "__main__":
    main()
