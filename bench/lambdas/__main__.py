"""Folds by lambdas against the built-in forms of the same: times of both in turn, the best and the median of many.

    python -m lambdas [--rows N] [--columns N] [--threads N] [--rounds N]        in `bench`

Times are in microseconds a call; `ratio` is that of the lambda over that of the built-in form, of the best and of medians.
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

from ferrofuse import DataType, FusionDefinition


def definition(path):
    """The definition that the function of a file makes."""
    names = {"DataType": DataType}
    exec(path.read_text().split("\ninputs = ")[0], names)
    with FusionDefinition() as fd:
        names[path.parent.name](fd)
    return fd


def times(calls, rounds):
    """The times of each call, in microseconds; they take turns, so that other work disturbs all alike."""
    taken = [[] for _ in calls]
    for call in calls:
        call()  # compiles
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            taken[place].append(1e6 * (time.perf_counter() - start))
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    x = np.random.default_rng(0).standard_normal((options.rows, options.columns), dtype=np.float32)
    print(f"{'fold':18} {'built-in':>9} {'lambda':>9} {'ratio':>6} {'of medians':>10}")
    for folder in sorted(path for path in Path(__file__).parent.iterdir() if (path / "lambda.py").exists()):
        forms = [definition(folder / f"{form}.py") for form in ("builtin", "lambda")]
        calls = [lambda form=form: form.execute([x], threads=options.threads) for form in forms]
        taken = times(calls, options.rounds)
        (builtin, written), medians = map(min, taken), [statistics.median(each) for each in taken]
        ratios = f"{written / builtin:6.2f} {medians[1] / medians[0]:10.2f}"
        print(f"{folder.name:18} {builtin:9.0f} {written:9.0f} {ratios}")


if __name__ == "__main__":
    main()
