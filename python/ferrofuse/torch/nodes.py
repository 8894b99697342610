"""Facts about nodes of a torch graph: the name of the op, the tensors it returns, the user's line."""

import operator
import re
from typing import Any, List, Optional

import torch

from .. import caller
from . import rows
from .rows import Row


def op_of(node: Any) -> str:
    """A name such as "aten.add.Tensor", or "getitem"; empty for a node that calls no op."""
    if node.op != "call_function":
        return ""
    return "getitem" if node.target is operator.getitem else str(node.target)


def row_of(node: Any) -> Optional[Row]:
    """The row of its op in the table; one of several results has the row of the node that returns them."""
    if op_of(node) == "getitem":
        return row_of(node.args[0])
    return rows.row(op_of(node))


def is_free(node: Any) -> bool:
    """Is it a view or a constant, which costs nothing?"""
    row = row_of(node)
    return row is not None and row.kind.is_free


def results(node: Any) -> List[Any]:
    """The fake tensors that it returns, without numbers."""
    value = node.meta.get("val")
    values = value if isinstance(value, (list, tuple)) else [value]
    return [each for each in values if isinstance(each, torch.Tensor)]


def is_number(node: Any) -> bool:
    """Is it a size, or another Python number?"""
    return isinstance(node.meta.get("val"), (int, float, torch.SymInt, torch.SymFloat, torch.SymBool))


def line_of(node: Any) -> str:
    """The user's line that it comes from: `File "model.py", line 12, in forward`, and the code if known."""
    found = re.findall(r'File ".*?", line \d+.*(?:\n +\S.*)?', node.meta.get("stack_trace") or "")
    return " ".join(found[-1].split()) if found else "a line that torch does not tell"


def place_of(node: Any) -> caller.Place:
    """The same as a place."""
    found = re.findall(r'File "(.*?)", line (\d+)', node.meta.get("stack_trace") or "")
    return (caller.file_name(found[-1][0]), int(found[-1][1])) if found else caller.NOWHERE


def is_draw(node: Any) -> bool:
    """Does it draw random numbers from a generator?"""
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
