"""What a call on a GPU from Python takes of the host besides the driver, whose place the stand-in takes.

    PYTHONPATH=python python bench/gpu_host.py

Microseconds, the minimum of many rounds: what the stand-in's functions take is subtracted, and their number is told. From Rust:
`cargo run --release --package ferrofuse-testing --example host_time`.
"""

import pathlib
import sys
import time

import numpy

from ferrofuse import DataType, FusionDefinition, to_gpu

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python" / "tests"))
import stand_in

# Calls of a round, whose work waits in the stream, and rounds.
CALLS, ROUNDS = 50, 200


def added(kernels):
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=DataType.Float)
        for _ in range(kernels):
            x = fd.ops.segment_set(x + 1.0)
        fd.add_output(x)
    return fd


def clocked(work):
    """Nanoseconds of a call beside the driver's functions, and how many of these it calls."""
    counts = lambda: numpy.array([stand_in.count("nanoseconds"), stand_in.count("calls")])
    with stand_in.setting("clock", 1):
        before, begin = counts(), time.perf_counter_ns()
        for _ in range(CALLS):
            work()
        whole, (busy, calls) = time.perf_counter_ns() - begin, counts() - before
    return (whole - busy) / CALLS, calls / CALLS


def main():
    x = to_gpu(numpy.zeros((4, 64), numpy.float32))
    out = [to_gpu(numpy.zeros((4, 64), numpy.float32))]
    one, ten = added(1), added(10)
    replay_one, replay_ten = one.capture([x]).replay, ten.capture([x]).replay
    rows = {
        "one kernel": lambda: one.execute([x]),
        "one kernel, into `out`": lambda: one.execute([x], out=out),
        "ten kernels": lambda: ten.execute([x]),
        "a replay of one kernel": replay_one,
        "a replay of ten kernels": replay_ten,
    }
    for name, work in rows.items():
        work()
        rounds = []
        for _ in range(ROUNDS):
            rounds.append(clocked(work))
            x.synchronize()
        own, calls = min(rounds)
        print(f"{name}: {own / 1e3:.2f} us, {calls:.0f} functions")


if __name__ == "__main__":
    main()
