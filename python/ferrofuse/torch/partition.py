"""Cuts a joint graph into forward and backward, as torch does, and corrects inputs that the forward writes to.

torch's partitioner may keep an input for the backward that the forward graph writes to at its end: the backward would
recompute from the new value. The old value of such an input is kept instead.
"""

from typing import Any, Optional, Tuple

import torch
from functorch.compile import min_cut_rematerialization_partition

from .channels_last import channels_last
from .masks import without_masks
from .regions import may_alias, writes


def partition(
    joint: Any, inputs: Any, *, num_fwd_outputs: int, fallback_random: bool, **others: Any
) -> Tuple[Any, Any]:
    """The modules of forward and backward."""
    without_masks(joint)
    channels_last(joint, fallback_random)
    forward, backward = min_cut_rematerialization_partition(joint, inputs, num_fwd_outputs=num_fwd_outputs, **others)
    _keep_old_values(forward, num_fwd_outputs)
    return forward, backward


def _keep_old_values(forward: Any, outputs: int) -> None:
    graph = forward.graph
    written = {node.args[0]: node for node in reversed(list(graph.nodes)) if writes(node)}
    [result] = graph.find_nodes(op="output")
    given = list(result.args[0])
    for place in range(outputs, len(given)):
        writer = written.get(_memory(given[place]))
        if writer is not None:
            given[place] = _copy(graph, given[place], min(written.values()))
    result.args = (tuple(given),)
    forward.recompile()


def _memory(node: Any) -> Optional[Any]:
    """The node that owns its memory: itself, or the source of the view."""
    while isinstance(node, torch.fx.Node) and node.op == "call_function" and may_alias(node):
        node = node.args[0]
    return node


def _copy(graph: Any, node: Any, before: Any) -> Any:
    with graph.inserting_before(before):
        copied = graph.call_function(torch.ops.aten.clone.default, (node,))
    copied.meta = dict(node.meta)
    return copied
