"""The text of `help(fd.ops.NAME)`, from the table of ops."""

import json
from typing import Any, Dict, List

from . import _native

# What each kind of parameter accepts.
KINDS = {
    "Operand": "a tensor, a scalar or a number",
    "Tensor": "a tensor",
    "Tensors": "a list of tensors",
    "Scalar": "a scalar or a number",
    "Numbers": "a number or a list of numbers",
    "Combine": "a lambda, or the name of a fold",
    "Lambda": "a lambda",
    "Int": "an int",
    "Ints": "a list of ints",
    "Shape": "a list of ints and integer scalars",
    "Bool": "True or False",
    "Bools": "a list of True and False",
    "DType": "a DataType",
}
ITEMS = {"Ints": "an int or a list of ints", "Tensors": "a tensor or a list of tensors"}


def docstring(row: Dict[str, Any]) -> str:
    """The docstring of an op, given its row of `_native.ops()`."""
    (entry,) = json.loads(_native.describe_ops(row["name"]))
    lines = [row["doc"], "", "Args:", *map(_parameter, row["params"])]
    if entry.get("rule"):
        lines += ["", f"Result: {entry['rule']}."]
    lines += ["", "Dtypes, and how far results may be off:", *_bounds(entry)]
    lines += ["", "Raises:"]
    lines += ["    ValueError: for dtypes, sizes or values that the op does not take.", "    TypeError: for arguments of a wrong type."]
    return "\n".join(lines) + "\n"


def _parameter(param: Dict[str, Any]) -> str:
    kind = ITEMS.get(param["kind"], KINDS[param["kind"]]) if param["alias"] else KINDS[param["kind"]]
    alias = f" (or `{param['alias']}`)" if param["alias"] else ""
    default = "" if param["required"] else f"; {param['default']} if not given"
    return f"    {param['name']}{alias}: {kind}{default}"


def _bounds(entry: Dict[str, Any]) -> List[str]:
    by_bound: Dict[str, List[str]] = {}
    for dtype, bound in entry["error"].items():
        by_bound.setdefault(bound, []).append(dtype)
    return [f"    {' '.join(dtypes)}: {bound}" for bound, dtypes in by_bound.items()]
