"""docs/errors.md says of each mistake what is said; errors name file, line and what is likely meant."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import ferrofuse
from ferrofuse import ArgumentError, DataType, DefinitionError, FusionDefinition, InputError

ROOT = Path(__file__).parents[2]


def test_the_page_is_as_it_would_be_written():
    script = runpy.run_path(str(ROOT / "scripts" / "generate_errors.py"))
    assert script["BINARY"].exists(), "`cargo build --package ferrofuse-cli` makes the binary"
    assert len(script["PYTHON"]) >= 30 and len(script["COMMAND_LINE"]) >= 20
    assert script["PAGE"].read_text() == script["page"](), "run scripts/generate_errors.py"


@pytest.fixture
def x():
    with FusionDefinition() as fd:
        yield fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)


def test_unknown_keywords_list_the_signature_and_the_likely_one(x):
    with pytest.raises(ArgumentError, match=r"no parameter `axis`; did you mean `dims`\?; it is sum\(arg, dims=None") as caught:
        ferrofuse.ops.sum(x, axis=1)
    assert caught.value.op == "sum" and caught.value.line is not None


def test_there_is_one_suggester():
    with pytest.raises(AttributeError, match="there is no op `mull`; did you mean `mul`"):
        ferrofuse.ops.mull
    with pytest.raises(AttributeError, match="there is no op `quantize_everything`$"):
        ferrofuse.ops.quantize_everything


def test_files_are_named(x):
    names = {"x": x, "ops": ferrofuse.ops}
    with pytest.raises(DefinitionError, match=r"^model.py:2: `sum`: argument `dims`") as caught:
        exec(compile("\nops.sum(x, dims=[5])", "/somewhere/model.py", "exec"), names)
    assert caught.value.line == 2


def test_another_dtype_suggests_the_cast():
    with FusionDefinition() as fd:
        fd.add_output(fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float) + 1.0)
    with pytest.raises(InputError, match="cast the array to float32, or declare the input with DataType.Double"):
        fd.execute([np.ones(3)])
