"""Scatters, which are left to eager, as eager is fast at them.

Sums at several indices, such as gradients of images, become sums at one combined index of all these axes: eager adds up
rows of that in parallel, and elements of the former one by one. And a scatter into a tensor that was just made is done in
place, where eager would copy the whole tensor first.
"""

from typing import Any, Optional, Sequence

import torch
from torch.utils._pytree import tree_leaves

from .nodes import is_free, op_of
from .regions import may_alias

_IN_PLACE = ("index_put", "index_add", "index_copy", "scatter", "scatter_add", "scatter_reduce")


def index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool = False) -> Any:
    """The decomposition of `aten.index_put`: for sums on a CPU at several indices of the last axes of a contiguous tensor,
    whose strides the result has.
    """
    given = [dim for dim, index in enumerate(indices) if index is not None]
    picked = [indices[dim] for dim in given]
    follow = given == list(range(x.ndim - len(given), x.ndim))
    are_numbers = all(index.dtype in (torch.int32, torch.int64) for index in picked)
    is_plain = follow and are_numbers and x.device.type == "cpu"
    if not accumulate or len(given) < 2 or not is_plain or not x.is_contiguous():
        return NotImplemented
    together = torch.zeros((), dtype=torch.int64)
    for dim, index in zip(given, picked):
        from_start = torch.where(index < 0, index + x.shape[dim], index).long()
        is_inside = (from_start >= 0) & (from_start < x.shape[dim])
        together = torch.where(is_inside, together * x.shape[dim] + from_start, -1)  # no index, which is an error
    others = x.shape[: given[0]]
    rows = torch.broadcast_to(values, (*others, *together.shape)).reshape(*others, together.numel())
    index = together.reshape(-1).expand(rows.shape)
    return x.flatten(given[0]).scatter_add(-1, index, rows).reshape(x.shape)


def scatter_in_place(graph: Any) -> None:
    """Changes the graph of a module after regions were put in it."""
    for node in graph.nodes:
        target = _writing(node)
        if target is not None and _is_made_for(node.args[0], node):
            node.target = target


def _writing(node: Any) -> Optional[Any]:
    """The op that writes to its first operand and is the same otherwise."""
    name, _, overload = op_of(node).removeprefix("aten.").partition(".")
    return getattr(getattr(torch.ops.aten, f"{name}_"), overload, None) if name in _IN_PLACE else None


def _is_made_for(tensor: Any, user: Any) -> bool:
    """Is it a constant tensor, or a view of one, that nothing else uses, and contiguous?"""
    while is_free(tensor) and _is_used_once(tensor, user) and tensor.meta["val"].is_contiguous():
        if not may_alias(tensor):
            return True
        tensor, user = tensor.args[0], tensor
    return False


def _is_used_once(tensor: Any, user: Any) -> bool:
    """Is it the first operand of its only user, and no other?"""
    return list(tensor.users) == [user] and tensor not in tree_leaves((user.args[1:], user.kwargs))
