"""What each array of a call costs: definitions of so many inputs of eight floats and as many outputs.

    python bench/many_arrays.py [--arrays 1 64 256] [--library numpy|torch] [--calls N] [--slices]

Times are microseconds a call, the best of many rounds; `out=` gives the outputs' memory, and `both` are calls whose outputs
are written to their inputs and returned. With `--slices` they are of the definition of so many slices of an axis of unknown
size, the best of five. With `--calls` it makes so many calls after a few that compile and
times nothing: `valgrind --tool=callgrind` counts their instructions.
"""

import argparse
import time

import numpy as np

from ferrofuse import DataType, FusionDefinition


def definition(arrays):
    """Twice each input."""
    with FusionDefinition() as fd:
        for _ in range(arrays):
            fd.add_output(fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) * 2.0)
    return fd


def written_and_returned(arrays):
    """Twice each input, in its place and returned."""
    with FusionDefinition() as fd:
        for _ in range(arrays):
            x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            y = x * 2.0
            fd.add_output(y, alias_input=x)
            fd.add_output(y)
    return fd


def slices(count):
    """Microseconds to define so many slices."""
    times = []
    for _ in range(5):
        with FusionDefinition() as fd:
            x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
            start = time.perf_counter()
            for place in range(count):
                y = fd.ops.slice(x, [place], [place + 10])
            times.append((time.perf_counter() - start) * 1e6)
            fd.add_output(y)
    return min(times)


def inputs_of(library, arrays):
    """So many arrays of a library."""
    if library == "numpy":
        return [np.ones(8, np.float32) for _ in range(arrays)]
    import torch

    return [torch.ones(8) for _ in range(arrays)]


def best(call, rounds=100):
    """Microseconds of a call."""
    calls = 20
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arrays", type=int, nargs="+", default=[1, 64, 256])
    parser.add_argument("--library", default="numpy", choices=["numpy", "torch"])
    parser.add_argument("--calls", type=int)
    parser.add_argument("--slices", action="store_true")
    arguments = parser.parse_args()
    for arrays in arguments.arrays:
        if arguments.slices:
            print(f"{arrays:4} slices: {slices(arrays):8.1f} us")
            continue
        fd, inputs = definition(arrays), inputs_of(arguments.library, arrays)
        for _ in range(3 if arguments.calls is None else arguments.calls):
            fd.execute(inputs)
        if arguments.calls is None:
            both, out = written_and_returned(arrays), fd.execute(inputs)
            calls = [lambda: fd.execute(inputs), lambda: fd.execute(inputs, out=out), lambda: both.execute(inputs)]
            call, into, in_place = map(best, calls)
            text = f"{call:8.2f} us a call, {into:8.2f} with out=, {in_place:8.2f} both"
            print(f"{arrays:4} in, {arrays:4} out: {text}")


if __name__ == "__main__":
    main()
