"""Removes masks of attention that depend on no input: a causal one becomes `is_causal`, one that masks nothing is dropped.

Traced models make masks where eager would tell attention that it is causal. torch's kernels skip the part that a causal
mask leaves out, which is half of the work, but read any other mask.
"""

from typing import Any, Dict, Optional, Set, Tuple

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.node import map_arg

from .nodes import is_draw, op_of, results

# The positions of each op's queries and of its flag for causal attention.
_ATTENTION = {
    "aten._scaled_dot_product_flash_attention_for_cpu.default": (0, 4),
    "aten._scaled_dot_product_flash_attention_for_cpu_backward.default": (1, 7),
}

# Masks with more elements than this are left as they are.
_MOST = 1 << 26


def without_masks(module: Any) -> None:
    """Removes masks from the attention of a graph, forward and backward, if results differ only by rounding."""
    kinds: Dict[Any, Optional[str]] = {}
    changed = False
    for node in module.graph.nodes:
        mask = node.kwargs.get("attn_mask") if op_of(node) in _ATTENTION else None
        if mask is None:
            continue
        queries, place = _ATTENTION[op_of(node)]
        lengths = tuple(results(each)[0].shape[-2] for each in node.args[queries : queries + 2])
        if any(node.args[place:]) or not all(isinstance(length, int) for length in lengths):
            continue
        if (mask, lengths) not in kinds:
            kinds[mask, lengths] = _kind(mask, lengths)
        if kinds[mask, lengths] is not None:
            _take_mask(node, place, is_causal=kinds[mask, lengths] == "causal")
            changed = True
    if changed:
        module.graph.eliminate_dead_code()
        module.recompile()


def _take_mask(node: Any, place: int, is_causal: bool) -> None:
    # The argument before it is the probability of dropout, which may be absent as well.
    node.args = (*node.args[:place], *[0.0] * (place - len(node.args)), is_causal)
    node.kwargs = {key: value for key, value in node.kwargs.items() if key != "attn_mask"}


def _kind(mask: Any, lengths: Tuple[int, ...]) -> Optional[str]:
    """`causal`, or `none` for a mask that masks nothing; `lengths` are the numbers of queries and keys."""
    constants = _constants(mask)
    if constants is None:
        return None
    with unset_fake_temporarily(), torch.no_grad():
        return _kind_of(_value(mask, constants), lengths)


def _kind_of(value: torch.Tensor, lengths: Tuple[int, ...]) -> Optional[str]:
    """The same for its value, which is added to the scores: these ops take no masks of bools."""
    kept = value == 0
    if not (kept | (value == -torch.inf)).all():
        return None
    if kept.all():
        return "none"
    return "causal" if (kept == torch.ones(*lengths, dtype=torch.bool).tril()).all() else None


def _constants(node: Any) -> Optional[Set[Any]]:
    """The nodes that a node needs, if no input and no random number is among them."""
    needed: Set[Any] = set()
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node not in needed:
            if not _is_constant(node):
                return None
            needed.add(node)
            waiting += node.all_input_nodes
    return needed


def _value(node: Any, constants: Set[Any]) -> torch.Tensor:
    """The result of a node that needs only these."""
    values: Dict[Any, Any] = {}
    for each in node.graph.nodes:
        if each in constants:
            arguments, named = map_arg((each.args, each.kwargs), values.__getitem__)
            values[each] = each.target(*arguments, **named)
    value: torch.Tensor = values[node]
    return value


def _is_constant(node: Any) -> bool:
    """Whether a node of constants is one, on the CPU and of a moderate size."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    if is_draw(node) or node.target._schema.is_mutable:
        return False
    return all(
        fake.device.type == "cpu" and all(isinstance(size, int) for size in fake.shape) and fake.numel() <= _MOST
        for fake in results(node)
    )
