"""`repr`, executed, makes a definition that gives the same values in the same places: every example, random programs."""

import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import oracle
import pytest
import torch_stand_in

import ferrofuse
from ferrofuse import DataType, FusionDefinition

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "programs"
RANDOM = 60
KINDS = {"b": ml_dtypes.bfloat16, "f": np.float32, "p": np.float32, "i": np.int64}


def defined(text, names=None):
    """The definition of a function of `fd`, the first that the text defines."""
    found = {**(names or {}), "FusionDefinition": FusionDefinition, "DataType": DataType}
    before = set(found)
    exec(compile(text, "<definition>", "exec"), found)
    [function] = [value for name, value in found.items() if callable(value) and name not in before]
    with FusionDefinition() as fd:
        function(fd)
    return fd, found


def ran(fd, inputs):
    """Bytes, dtype, sizes and strides of every output, and bytes of every input after the call, which is undone. Of a call
    that is rejected, as some random programs are for their sizes or indices, why."""
    before = [np.copy(array) for array in inputs]
    ferrofuse.manual_seed(5)
    try:
        outputs = fd.execute(inputs)
    except (ferrofuse.InputError, ferrofuse.OutOfRangeError) as error:
        return str(error).split(": ", 1)[-1]
    seen = [(array.tobytes(), array.dtype, array.shape, array.strides) for array in outputs]
    after = [array.tobytes() for array in inputs]
    for array, values in zip(inputs, before):
        np.copyto(array, values)
    return seen, after


def require_equal(fd, inputs):
    again, _ = defined(repr(fd))
    assert repr(again) == repr(fd)
    assert ran(again, inputs) == ran(fd, inputs)


@pytest.mark.parametrize("example", oracle.EXAMPLES, ids=lambda example: example[0].__name__)
def test_examples(example):
    formula, kinds, shapes, sizes = example
    source = (ROOT / "examples" / f"{formula.__name__}.py").read_text()
    body = source[source.index("def ") : source.index("\nwith FusionDefinition")]
    fd, _ = defined(body)
    random = np.random.default_rng(1)
    for shape in (shapes(*sizes[1]), shapes(*sizes[2])):
        arrays = [oracle.given(random, kind, sizes, shape[0][-1], 0.2) for kind, sizes in zip(kinds, shape)]
        require_equal(fd, [array.astype(KINDS[kind]) for array, kind in zip(arrays, kinds)])


def test_random_programs():
    assert PROGRAMS.exists(), "`cargo build --package ferrofuse-testing --examples` makes what draws programs"
    printed = subprocess.run([PROGRAMS, "0", str(RANDOM)], capture_output=True, text=True, check=True).stdout
    programs = printed.split("# seed ")[1:]
    assert len(programs) == RANDOM
    for program in programs:
        seed, text = program.split("\n", 1)
        fd, found = defined(text, {"torch": torch_stand_in.module(int(seed))})
        require_equal(fd, [np.asarray(array) for array in found["inputs"]])
