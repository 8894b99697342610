"""What each array of a call costs: definitions of so many inputs of eight floats and as many outputs.

    python bench/many_arrays.py [--arrays 1 64 256] [--library numpy|torch] [--calls N]

Times are microseconds a call, the best of many rounds. With `--calls` it makes so many calls after a few that compile and
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


def inputs_of(library, arrays):
    """So many arrays of a library."""
    if library == "numpy":
        return [np.ones(8, np.float32) for _ in range(arrays)]
    import torch

    return [torch.ones(8) for _ in range(arrays)]


def best(call, rounds=200):
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
    arguments = parser.parse_args()
    for arrays in arguments.arrays:
        fd, inputs = definition(arrays), inputs_of(arguments.library, arrays)
        for _ in range(3 if arguments.calls is None else arguments.calls):
            fd.execute(inputs)
        if arguments.calls is None:
            print(f"{arrays:4} in, {arrays:4} out: {best(lambda: fd.execute(inputs)):8.2f} us a call")


if __name__ == "__main__":
    main()
