"""What definitions in the style of nvFuser's examples and benchmarks cost: from `import` changed to results, once.

    python bench/published_style.py

Each of `python/tests/published_style.py`: defining it and its first call, without a cache on disk (time on the wall, and of
all processors), and `validate`, which compares with the evaluator. Times are milliseconds in one process; the longest of
each column come last.
"""

import os
import pathlib
import sys
import time

os.environ["FERROFUSE_CACHE"] = "none"  # before the library reads it

import ferrofuse.compat  # noqa: E402
from ferrofuse import FusionDefinition  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python" / "tests"))
ferrofuse.compat.install()

from published_style import DEFINITIONS  # noqa: E402


def timed(run):
    """What it gives, and milliseconds on the wall and of all processors."""
    begin, spent = time.perf_counter(), time.process_time()
    result = run()
    return result, (time.perf_counter() - begin) * 1e3, (time.process_time() - spent) * 1e3


def first_call(make, inputs):
    """A definition that was made and called."""
    with FusionDefinition() as fd:
        make(fd)
    fd.execute(list(inputs))
    return fd


def main():
    rows = []
    print(f"{'':<26}{'first ms':>10}{'of CPUs':>10}{'validate':>10}")
    for name, (make, inputs) in DEFINITIONS.items():
        fd, *first = timed(lambda: first_call(make, inputs))
        _, checked, _ = timed(lambda: fd.validate(list(inputs)))
        rows.append((*first, checked))
        print(f"{name:<26}" + "".join(f"{column:10.1f}" for column in rows[-1]), flush=True)
    print(f"{'longest of ' + str(len(rows)):<26}" + "".join(f"{max(column):10.1f}" for column in zip(*rows)))


if __name__ == "__main__":
    main()
