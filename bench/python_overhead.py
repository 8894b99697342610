"""What a call from Python costs: eight-element arrays, and a definition from its first line to its first result.

    python bench/python_overhead.py

Beside it, where they are installed, torch.compile and JAX at the same work, all in one process, in turn, best of many: the
machine's other work disturbs all of them alike. Times are in microseconds a call and milliseconds a definition.
"""

import sys
import time

import numpy as np

from ferrofuse import DataType, FusionDefinition

CALLS, ROUNDS = 2000, 30


def definition(scale=2.0):
    """x * scale + y: one kernel."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        y = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.add(fd.ops.mul(x, scale), y))
    return fd


def softmax(scale=1.0):
    """Of scaled rows: a kernel with two folds."""
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.softmax(fd.ops.mul(x, scale), dim=1))
    return fd


def callers():
    """Name and call of each way to do it."""
    fd = definition()
    x, y = np.ones(8, np.float32), np.ones(8, np.float32)
    yield "ferrofuse, NumPy", lambda: fd.execute([x, y])
    yield "NumPy itself", lambda: x * 2.0 + y
    if torch := imported("torch"):
        a, b = torch.ones(8), torch.ones(8)
        fused = definition()
        yield "ferrofuse, torch", lambda: fused.execute([a, b])
        yield "torch eager", lambda: a * 2.0 + b
        compiled = torch.compile(lambda a, b: a * 2.0 + b)
        yield "torch.compile", lambda: compiled(a, b)
    if jax := imported("jax"):
        c, d = jax.numpy.ones(8), jax.numpy.ones(8)
        jitted = jax.jit(lambda c, d: c * 2.0 + d)
        yield "jax.jit", lambda: jitted(c, d)


def imported(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed", file=sys.stderr)
        return None


def call_times():
    """Microseconds of a call of each, the best round of many taken in turn."""
    ways = dict(callers())
    best = dict.fromkeys(ways, float("inf"))
    for call in ways.values():
        for _ in range(CALLS):
            call()
    for _ in range(ROUNDS):
        for name, call in ways.items():
            start = time.perf_counter()
            for _ in range(CALLS):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / CALLS * 1e6)
    return best


def first_results(make, inputs, rounds=15):
    """Milliseconds from a definition never seen before to its first result, in a warm process: the best, and the median."""
    times = []
    for round in range(rounds):
        start = time.perf_counter()
        make(1.0 + round / 1024).execute(inputs)
        times.append((time.perf_counter() - start) * 1e3)
    return sorted(times)[0], sorted(times)[rounds // 2]


def main():
    for name, microseconds in call_times().items():
        print(f"{name:18} {microseconds:7.2f} us a call")
    line = np.ones(8, np.float32)
    for name, make, inputs in (("x * s + y", definition, [line, line]), ("softmax", softmax, [np.ones((4, 8), np.float32)])):
        best, median = first_results(make, inputs)
        print(f"{name:18} {best:7.1f} ms to the first result (median {median:.1f})")


if __name__ == "__main__":
    main()
