"""Every op on every dtype and layout against NumPy, SciPy or a formula in double precision, and against the evaluator.

The cases are in `tests/numpy/tables`. Many are calls of one definition, so `-k` chooses groups by the first op's name.
"""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import running
import tables
import test_generated as generated
from tables import names

from ferrofuse import _native

FILE_TESTS = Path(__file__).parents[2] / "tests" / "run"
OPS = {entry["name"]: entry for entry in json.loads(_native.describe_ops())}
# NumPy warns of numbers that are out of range on purpose.
warnings.simplefilter("ignore", RuntimeWarning)
CASES = [case for case in tables.cases(OPS) if case.op in OPS]


def by_operands():
    """Batches of cases whose operands are the same share them, and kernels."""
    return running.batches(sorted(CASES, key=lambda case: [operand.dtype.short for operand in case.operands]))


def test_every_op_on_every_dtype_and_layout():
    # Compiling lets other threads run.
    with ThreadPoolExecutor(2) as pool:
        diagnostics = [diagnostic for found in pool.map(running.run, by_operands()) for diagnostic in found]
    assert not diagnostics, "\n".join(diagnostics[:20])


def test_every_op_has_a_case_or_a_file_test():
    checked = {case.op for case in CASES}
    assert not [name for name in OPS if name not in checked and not (FILE_TESTS / f"{name}.py").exists()]


def test_the_types_know_how_many_results_there_are():
    results = generated.generator().RESULTS
    differing = {case.label for case in CASES if results.get(case.op, 1) != len(case.results)}
    assert not {label for label in differing if "c64" not in label and "c128" not in label}


@pytest.mark.parametrize("name", names.NVFUSER)
def test_nvfusers_ops_are_there(name):
    missing = name in names.NVIDIA_ONLY or name in names.MISSING
    assert (name in OPS) != missing
