#!/usr/bin/env python3
"""Writes what is made of the table of ops: the types of `fd.ops` and the reference.

    scripts/generate_ops.py          writes python/ferrofuse/operations.pyi and docs/ops.md
    scripts/generate_ops.py --check  says whether they are as they would be written

Needs the package itself (`make python`), whose table is the compiler's.
"""

import inspect
import json
import sys
from pathlib import Path

from ferrofuse import _native
from ferrofuse.operations import signature

ROOT = Path(__file__).resolve().parents[1]

# Types of arguments, by the kinds of parameters.
TYPES = {
    "Operand": "Operand",
    "Tensor": "TensorView",
    "Tensors": "Sequence[TensorView]",
    "Scalar": "Scalar",
    "Numbers": "Union[Number, Sequence[Number]]",
    "Combine": "Union[str, Callable[..., Any]]",
    "Lambda": "Callable[..., Any]",
    "Int": "Union[int, Val]",
    "Ints": "Sequence[int]",
    "Shape": "Sequence[Union[int, Val]]",
    "Bool": "bool",
    "Bools": "Sequence[bool]",
    "DType": "DTypeLike",
}
# Where the parameter has another name, such as `dim` for `dims`, one item will do.
TYPES_OR_ITEMS = {**TYPES, "Ints": "Union[int, Sequence[int]]", "Tensors": "Union[TensorView, Sequence[TensorView]]"}
# Ops that give something else than one value.
RESULTS = {
    "var_mean": 2,
    "welford": 3,
    "topk": 2,
    "dropout": 2,
    "batch_norm": 3,
    "instance_norm": 3,
    "sdpfa_fwd": 4,
    "sdpfa_bwd": 3,
    "batch_norm_backward": 3,
    "instance_norm_backward": 3,
    "layer_norm_backward": 3,
    "group_norm_backward": 3,
    "rms_norm_backward": 2,
}
OTHERS = {"size": "Val", "shape": "List[Val]", "fold": "Any", "scan": "Any"}

HEAD = '''# Made by scripts/generate_ops.py of the compiler's table of ops. Do not edit.
"""The types of `fd.ops`."""

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union, overload

from ._native import DataType, TensorView, Val

Number = Union[bool, int, float, complex]
Scalar = Union[Val, Number]
Operand = Union[TensorView, Val, Number]
DTypeLike = Union[DataType, type, Any]

TABLE: Dict[str, Dict[str, Any]]

def signature(row: Dict[str, Any]) -> inspect.Signature: ...

class Operations:
    def __init__(self, builder: Callable[[], Any]) -> None: ...
    def __dir__(self) -> List[str]: ...
    def at(self, vector: Sequence[Scalar], index: int) -> Val:
        """A scalar of a list such as `define_vector` and `shape` give, as nvFuser's `at`; `vector[index]` is the same."""
'''


# ---------------------------------------------------------------------------------------------------------- the stubs
def stubs():
    """The text of operations.pyi."""
    return HEAD + "".join(methods(row) for row in sorted(_native.ops(), key=lambda row: row["name"]))


def methods(row):
    """The method of an op, or its overloads: one for each operand that makes the result a tensor, and one for none."""
    name, params = row["name"], row["params"]
    operands = [param["name"] for param in params if param["kind"] == "Operand"]
    result = OTHERS.get(name) or (f"Tuple[{', '.join(['TensorView'] * RESULTS[name])}]" if name in RESULTS else "TensorView")
    if operands:
        choices = [{operand: "TensorView"} for operand in operands]
        versions = [(params, choice, "TensorView") for choice in choices]
        versions.append((params, {operand: "Scalar" for operand in operands}, "Val"))
    else:
        versions = [(variant, {}, result) for variant in renamed(params)]
    doc = f'        """{row["doc"]}"""\n'
    texts = [method(name, *version) for version in versions]
    if len(texts) == 1:
        return f"{texts[0]}\n{doc}"
    return "".join(f"    @overload\n{text}\n{doc if place == 0 else '        ...' + chr(10)}" for place, text in enumerate(texts))


def renamed(params):
    """The parameters, and again with the other name of the one that has another."""
    yield params
    if any(param["alias"] for param in params):
        yield [{**param, "name": param["alias"] or param["name"]} for param in params]


def method(name, params, narrowed, result):
    words, optional = ["self"], False
    for param in params:
        known = TYPES_OR_ITEMS if param["alias"] else TYPES
        said = narrowed.get(param["name"]) or known[param["kind"]]
        optional = optional or not param["required"]
        if optional:
            said = f"Optional[{said}] = ..."
        words.append(f"{param['name']}: {said}")
    line = f"    def {name}({', '.join(words)}) -> {result}:"
    if len(line) <= 120:
        return line
    return f"    def {name}(\n" + "".join(f"        {word},\n" for word in words) + f"    ) -> {result}:"


# ------------------------------------------------------------------------------------------------------ the reference
KINDS = {
    "primitives": ("Scalar ops", "Applied element by element; operands are brought to one shape and dtype."),
    "composites": ("Composites of scalar ops", "Expressions over the ops above, applied element by element."),
    "forms": ("Ops on whole tensors", "Movement, folds, scans, gathers, sorts, products, normalizations, random numbers."),
}


def reference():
    """The text of docs/ops.md."""
    lines = ["# Ops", "", "Made by `scripts/generate_ops.py` of the compiler's table; `ferrofuse ops` prints the same."]
    lines += ["A definition calls them as `fd.ops.NAME(...)`. Names and arguments are nvFuser's where nvFuser has the op.", ""]
    rows = {row["name"]: row for row in _native.ops()}
    kind = None
    for entry in json.loads(_native.describe_ops()):
        if entry["kind"] != kind:
            kind = entry["kind"]
            title, said = KINDS[kind]
            lines += [f"## {title}", "", said, ""]
        lines += described(entry, signature(rows[entry["name"]]))
    return "\n".join(lines)


def described(entry, parameters: inspect.Signature):
    yield f"### `{entry['name']}{parameters}`"
    yield ""
    yield entry["doc"]
    if "expression" in entry:
        yield f"`{entry['expression']}`."
    if "rule" in entry:
        yield f"Result: {entry['rule']}."
    by_error = {}
    for dtype, error in entry["error"].items():
        by_error.setdefault(error, []).append(dtype)
    for error, dtypes in by_error.items():
        yield f"* {' '.join(dtypes)}: {error}"
    yield ""


FILES = {ROOT / "python" / "ferrofuse" / "operations.pyi": stubs, ROOT / "docs" / "ops.md": reference}


def outdated():
    """The files that are not as they would be written."""
    return [path for path, make in FILES.items() if not path.exists() or path.read_text() != make()]


def main():
    if sys.argv[1:] == ["--check"]:
        for path in (old := outdated()):
            print(f"{path.relative_to(ROOT)} is out of date: run scripts/generate_ops.py")
        sys.exit(1 if old else 0)
    for path, make in FILES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(make())


if __name__ == "__main__":
    main()
