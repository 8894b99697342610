"""Whether a region may take a node, and if not, why."""

from dataclasses import dataclass
from typing import Any, Iterator, Optional

import torch
from torch._subclasses.fake_tensor import FakeTensor

from . import devices, dtypes, rows
from .nodes import is_number, op_of, results, row_of


@dataclass(frozen=True)
class Reason:
    """Why a node is left to eager.

    `expected` marks reasons that the user is not warned about: work of torch's libraries, and ops that have no row.
    """

    text: str
    expected: bool


def reason(node: Any, fallback_random: bool) -> Optional[Reason]:
    """Why no region takes this node, which calls a function; `None` if one may."""
    row = row_of(node)
    if row is None:
        return Reason(rows.library.kind(op_of(node)) or "no row in the table of ops", expected=True)
    if row.kind == rows.Kind.DRAW and fallback_random:
        return Reason("random numbers are eager's (fallback_random)", expected=True)
    if op_of(node) == "aten.copy_.default" and node.args[0].op != "placeholder":
        return Reason("it writes to what is no input of the graph", expected=True)
    if any(one.meta.get("val") is None for one in node.all_input_nodes):
        return Reason("an operand that the graph does not describe", expected=True)
    if op_of(node) == "aten.copy_.default" and node.args[0].meta["val"].is_neg():
        return Reason("it writes to a tensor whose sign is not carried out yet", expected=True)
    rejected = next((said for fake in _tensors(node) if (said := _of_tensor(fake)) is not None), None)
    mixture = devices.mixture(node) if rejected is None else None
    return rejected if mixture is None else Reason(mixture, expected=True)


def _tensors(node: Any) -> Iterator[Any]:
    for one in (node, *node.all_input_nodes):
        if not is_number(one):
            yield from results(one)


def _of_tensor(fake: Any) -> Optional[Reason]:
    """Why a kernel cannot take a tensor, if so."""
    if fake.layout is not torch.strided:
        return Reason(f"a tensor of layout {fake.layout}", expected=False)
    if fake.is_quantized:
        return Reason(f"a quantized tensor ({fake.dtype})", expected=False)
    missing = devices.missing(fake.device)
    if missing is not None:
        return Reason(f"a tensor on {fake.device}: {missing}", expected=False)
    if type(fake) not in (FakeTensor, torch.Tensor, torch.nn.Parameter):
        return Reason(f"a tensor of the class {type(fake).__name__}", expected=False)
    return _of_elements(fake)


def _of_elements(fake: Any) -> Optional[Reason]:
    if fake.dtype not in dtypes.KNOWN:
        return Reason(f"the dtype {fake.dtype}", expected=True)
    if any(isinstance(size, torch.SymInt) and size.node.hint is None for size in (*fake.shape, *fake.stride())):
        return Reason("a size that only the data tell", expected=True)
    return None
