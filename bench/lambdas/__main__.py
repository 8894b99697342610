"""Folds by lambdas against the built-in forms of the same: times of both in turn, the best of many.

    python -m lambdas [--rows N] [--columns N]        in `bench`

Times are in microseconds a call; `ratio` is that of the lambda over that of the built-in form.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from ferrofuse import DataType, FusionDefinition

ROUNDS = 60


def definition(path):
    """The definition that the function of a file makes."""
    names = {"DataType": DataType}
    exec(path.read_text().split("\ninputs = ")[0], names)
    with FusionDefinition() as fd:
        names[path.parent.name](fd)
    return fd


def best(calls):
    """The shortest time of each call, in microseconds; they take turns, so that other work disturbs all alike."""
    shortest = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            shortest[place] = min(shortest[place], 1e6 * (time.perf_counter() - start))
    return shortest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    options = parser.parse_args()
    x = np.random.default_rng(0).standard_normal((options.rows, options.columns), dtype=np.float32)
    print(f"{'fold':12} {'built-in':>9} {'lambda':>9} {'ratio':>6}")
    for folder in sorted(path for path in Path(__file__).parent.iterdir() if (path / "lambda.py").exists()):
        forms = [definition(folder / f"{form}.py") for form in ("builtin", "lambda")]
        builtin, written = best([lambda form=form: form.execute([x]) for form in forms])
        print(f"{folder.name:12} {builtin:9.0f} {written:9.0f} {written / builtin:6.2f}")


if __name__ == "__main__":
    main()
