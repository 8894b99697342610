"""Every op on every dtype and layout against NumPy, SciPy or a formula in double precision.

Runs the binary (its path is the one argument; further arguments name ops to check alone) on the cases of the tables,
many in one definition. Fails too when `ferrofuse ops` names an op that has no case here and no file test, or when a name of nvFuser's
language is neither there nor said to be missing.
"""

import concurrent.futures
import json
import pathlib
import subprocess
import sys
import warnings

import running
import tables
from tables import names


FILE_TESTS = pathlib.Path(__file__).parent.parent / "run"


def ops_of(binary):
    """What the binary says of each op."""
    listed = subprocess.run([binary, "ops", "--json"], capture_output=True, text=True, check=True)
    return {entry["name"]: entry for entry in json.loads(listed.stdout)}


def coverage(ops, cases):
    """Complaints about ops without cases, and about nvFuser's names."""
    checked = {case.op for case in cases}
    for name in ops:
        if name not in checked and not (FILE_TESTS / f"{name}.py").exists():
            yield f"{name}: neither a case here nor a file test of its name checks it"
    for name in names.NVFUSER:
        expected_missing = name in names.NVIDIA_ONLY or name in names.MISSING
        if name in ops and expected_missing:
            yield f"{name}: there is such an op now; take it off the list of those that are missing"
        if name not in ops and not expected_missing:
            yield f"{name}: an op of nvFuser's that is missing"


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    ops = ops_of(binary)
    warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy, about numbers that are out of range on purpose
    cases = [case for case in tables.cases(ops) if case.op in ops]
    failures = []
    if sys.argv[2:]:
        cases = [case for case in cases if case.op in sys.argv[2:]]
    else:
        failures += coverage(ops, cases)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda batch: running.run(binary, batch), running.batches(cases)):
            failures += found
    for failure in failures:
        print(failure)
    print(f"{len(cases)} cases of {len({case.op for case in cases})} ops against NumPy, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
