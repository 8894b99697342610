"""What segments cost: cutting a definition of 100 ops, and a call through segments against one of the whole.

    python bench/segments.py

Calls are on a row of 64 numbers, so that they take little but what is beside the kernels; boundaries
keep the whole in as many kernels as there are segments. Best of many, in turn.
"""

import time

import numpy as np

from ferrofuse import DataType, FusionDefinition

OPS = 100
ROUNDS = 2000


def chain(ops, segments=1):
    """A chain of so many ops, cut into so many parts of the same length."""
    with FusionDefinition() as fd:
        value = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        for place in range(ops):
            value = fd.ops.add(fd.ops.neg(value) if place % 2 else fd.ops.abs(value), 1.0)
            if segments > 1 and (place + 1) % (ops // segments) == 0 and place + 1 < ops:
                value = fd.ops.segment_set(value)
        fd.add_output(value)
    return fd


def rows(folds):
    """So many centered rows, each of the one before: a fold, a difference, a product and a sum."""
    with FusionDefinition() as fd:
        value = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        for place in range(folds):
            mean = fd.ops.mean(value, dims=[place % 2], keepdim=True)
            value = fd.ops.mul(fd.ops.sub(value, mean), 1.5) + value
        fd.add_output(value)
    return fd


def best(*calls, rounds=ROUNDS):
    """The shortest time of each call, in microseconds."""
    shortest = [float("inf")] * len(calls)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            shortest[place] = min(shortest[place], 1e6 * (time.perf_counter() - start))
    return shortest


def block(layers):
    """So many layers of an MLP behind a layer norm, with what is added to them."""
    with FusionDefinition() as fd:
        value = fd.define_tensor(shape=[-1, 256], contiguity=True, dtype=DataType.Float)
        weights = [
            fd.define_tensor(shape=[256, 256], contiguity=True, dtype=DataType.Float) for _ in range(2 * layers)
        ]
        for up, down in zip(weights[::2], weights[1::2]):
            centered = value - fd.ops.mean(value, dims=[1], keepdim=True)
            scale = fd.ops.rsqrt(fd.ops.mean(centered * centered, dims=[1], keepdim=True) + 1e-5)
            hidden = fd.ops.gelu(fd.ops.linear(centered * scale, up))
            value = value + fd.ops.linear(hidden, down)
        fd.add_output(value)
    return fd


def main():
    print(f"{'fd.segment() of':24} {'ops':>5} {'segments':>8} {'ms':>7}")
    chained, layers, folds = chain(OPS // 2), block(OPS // 10), rows(OPS // 4)
    for name, fd in (("a chain", chained), ("layers of an MLP", layers), ("folds of rows, columns", folds)):
        [time_of_cut] = best(fd.segment, rounds=30)
        print(f"{name:24} {repr(fd).count('fd.ops.'):5} {len(fd.segments):8} {time_of_cut / 1e3:7.2f}")
    print(f"\n{'a call of segments':>24} {'whole us':>9} {'through us':>10} {'us a segment':>12}")
    x = np.ones((1, 64), np.float32)
    for segments in (1, 2, 5, 10, 25):
        whole, through = chain(OPS // 2, segments), chain(OPS // 2, segments)
        assert len(through.segment()) == segments
        times = best(lambda: whole.execute([x]), lambda: through.execute([x]))
        print(f"{segments:24} {times[0]:9.2f} {times[1]:10.2f} {(times[1] - times[0]) / segments:12.2f}")


if __name__ == "__main__":
    main()
