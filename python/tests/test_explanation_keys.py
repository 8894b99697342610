"""The page about explanations names exactly the keys that they have: over the examples, and definitions of rarer ones."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import ferrofuse
import stand_in  # noqa: F401  what runs on a GPU runs there
from ferrofuse import DataType, FusionDefinition

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explain.md"
FILES = """run/fold run/log_sum_exp_of_infinite_elements segments/parameters_of_one_norm""".split()
X = np.ones((64, 100), np.float32)


def keys(value, path="", found=None):
    """The paths of all keys in a decoded explanation. The keys of `assumed` and `decided_for` are sizes."""
    found = set() if found is None else found
    if isinstance(value, dict) and path not in ("assumed", "decided_for"):
        for key, each in value.items():
            found.add(f"{path}.{key}".lstrip("."))
            keys(each, f"{path}.{key}".lstrip("."), found)
    elif isinstance(value, list):
        for each in value:
            keys(each, f"{path}[]", found)
    return found


def grouped(fd, x):
    with fd.group("outer", device="cuda:1", stream=2):
        with fd.group("inner"):
            y = fd.ops.exp(x)
    with fd.group("copy", stay=True):
        z = fd.ops.set(y)
    fd.add_output(fd.ops.sum(z, dims=[1]))


def repeated(fd, _):
    fd.add_output(fd.ops.softmax(fd.ops.expand(fd.define_tensor(shape=[1, -1], contiguity=True), [16, -1]), dim=1))


def views(fd, x):
    fd.add_output(fd.ops.permute(x, [1, 0]))
    y = fd.ops.exp(x)
    fd.add_output(fd.ops.permute(y, [1, 0]))
    fd.add_output(y)
    fd.add_output(y)


def products(fd, x):
    fd.add_output(fd.ops.matmul(x, fd.ops.permute(x, [1, 0])))
    fd.add_output(fd.ops.argsort(x, dim=1))
    fd.add_output(fd.ops.sum(x))


def moments(fd, x):
    def combine(mean, squares, count, other_mean, other_squares, other_count):
        all, apart = count + other_count, other_mean - mean
        more = apart * apart * count * other_count / all
        return [mean + apart * other_count / all, squares + other_squares + more, all]

    zeros, ones = (fd.ops.full(shape=fd.ops.shape(x), fill_value=n, dtype=DataType.Float) for n in (0.0, 1.0))
    for result in fd.ops.fold([x, zeros, ones], combine, init=[0.0, 0.0, 0.0], dims=[1]):
        fd.add_output(result)


def of(define):
    with FusionDefinition() as fd:
        define(fd, fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float))
    return fd


def without_llvm():
    """The explanation of an example in a process without libLLVM."""
    program = (
        "import json, sys, ferrofuse\n"
        "print(json.dumps(ferrofuse.FusionDefinition.load(sys.argv[1]).explain().to_dict()))"
    )
    environment = {**os.environ, "FERROFUSE_LIBLLVM": "none"}
    command = [sys.executable, "-c", program, str(ROOT / "examples" / "softmax.py")]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def explanations():
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield FusionDefinition.load(path).explain().to_dict()
    for define in (grouped, repeated, views, products, moments):
        yield of(define).explain().to_dict()
    yield of(products).explain([X]).to_dict()
    columns = np.zeros((16384, 2048), ml_dtypes.bfloat16)
    yield FusionDefinition.load(ROOT / "tests/segments/softmax_of_long_columns_is_two.py").explain([columns]).to_dict()
    for size in (64, 5000):
        yield of(products).explain([ferrofuse.to_gpu(np.ones((size, 300), np.float32))]).to_dict()
    for name in FILES:
        yield FusionDefinition.load(ROOT / "tests" / f"{name}.py").explain().to_dict()
    yield without_llvm()


def test_the_page_names_the_keys_that_explanations_have():
    rows = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    named = [key for row in rows for key in re.findall(r"`([^`]+)`", row)]
    assert len(named) == len(set(named))
    made = set()
    for explained in explanations():
        keys(explained, found=made)
    assert sorted(made - {*named}) == [] and sorted({*named} - made) == []
