"""Gives convolutions on a CPU channels-last images, in graphs in which some convolution has groups.

oneDNN then runs convolutions with groups in half the time, and others about as fast. Ops after a convolution keep its
layout, as in eager; outputs of the graph keep their strides. Inductor's `layout_opt` does the same.
"""

from typing import Any, Dict, List

import torch
from torch._dispatch.python import no_python_dispatcher
from torch._library.utils import is_builtin
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.node import map_arg

from .nodes import is_draw, op_of, results

# The positions of each op's image and of its number of groups.
_CONVOLUTIONS = {"aten.convolution.default": (0, 8), "aten.convolution_backward.default": (1, 9)}

# Views that need neighbouring axes to be contiguous in memory.
_VIEWS = {"aten.view.default", "aten._unsafe_view.default"}

# Ops whose results depend on the layout of their operand, which they do not declare.
_OF_STRIDES = {
    "aten.as_strided.default",
    "aten.as_strided_.default",
    "aten.as_strided_scatter.default",
    "aten.resize_.default",
    "aten.set_.source_Tensor",
    "aten.view.dtype",
}


def channels_last(module: Any, fallback_random: bool = False) -> None:
    """Gives the convolutions of a graph channels-last images if that pays, and all nodes the resulting fake tensors. Not
    where eager draws numbers, which it does in the order of memory."""
    nodes = list(module.graph.nodes)
    draws = fallback_random and any(is_draw(node) for node in nodes)
    if not draws and any(_gains(node) for node in nodes) and all(_is_plain(node) for node in nodes):
        module.graph = _Rewriting(nodes).graph
        module.recompile()


def _gains(node: Any) -> bool:
    if op_of(node) not in _CONVOLUTIONS or not torch.backends.mkldnn.is_available():
        return False
    place, groups = _CONVOLUTIONS[op_of(node)]
    [image] = results(node.args[place])
    on_cpu = image.device.type == "cpu" and image.dtype in (torch.float32, torch.bfloat16)
    return on_cpu and image.dim() == 4 and node.args[groups] > 1


def _is_plain(node: Any) -> bool:
    """Is the node's meaning independent of its operands' strides, and are all sizes known?"""
    if node.op == "output":
        return True
    calls_torch = isinstance(node.target, torch._ops.OpOverload) and is_builtin(node.target)
    is_of_torch = node.op != "call_function" or op_of(node) == "getitem" or calls_torch
    values = node.meta.get("val")
    given = values if isinstance(values, (list, tuple)) else [values]
    tensors = [each for each in given if each is not None]
    known = bool(given) and all(
        isinstance(each, torch.Tensor) and all(isinstance(size, int) for size in each.shape) for each in tensors
    )
    return "val" in node.meta and is_of_torch and known and op_of(node) not in _OF_STRIDES


class _Rewriting:
    """A graph that is copied node by node, with fake tensors computed again."""

    def __init__(self, nodes: List[Any]) -> None:
        self.graph = torch.fx.Graph()
        self._made: Dict[Any, Any] = {}
        self._images: Dict[Any, Any] = {}
        with next(fake for node in nodes for fake in results(node)).fake_mode:
            for node in nodes:
                self._made[node] = self._copied(node)

    def _copied(self, node: Any) -> Any:
        if node.op == "output":
            return self.graph.output(map_arg(node.args[0], self._with_old_strides))
        made = self.graph.node_copy(node, self._made.__getitem__)
        if node.op != "call_function":
            return made
        if op_of(node) in _CONVOLUTIONS:
            place, _ = _CONVOLUTIONS[op_of(node)]
            with self.graph.inserting_before(made):
                made.args = (*made.args[:place], self._image(made.args[place]), *made.args[place + 1 :])
        if op_of(node) in _VIEWS and not _is_view(made):
            with self.graph.inserting_before(made):
                made.args = (self._clone(made.args[0], torch.contiguous_format), *made.args[1:])
        args, kwargs = map_arg((made.args, made.kwargs), lambda each: each.meta["val"])
        op: Any = made.target
        made.meta["val"] = op(*args, **kwargs)
        return made

    def _image(self, image: Any) -> Any:
        fake = image.meta["val"]
        if fake.dim() != 4 or fake.is_contiguous(memory_format=torch.channels_last):
            return image
        if image not in self._images:
            self._images[image] = self._clone(image, torch.channels_last)
        return self._images[image]

    def _clone(self, node: Any, layout: torch.memory_format) -> Any:
        clone = self.graph.call_function(torch.ops.aten.clone.default, (node,), {"memory_format": layout})
        clone.meta = {**node.meta, "val": node.meta["val"].clone(memory_format=layout)}
        return clone

    def _with_old_strides(self, node: Any) -> Any:
        old, made = node.meta["val"], self._made[node]
        if not isinstance(old, torch.Tensor) or old.stride() == made.meta["val"].stride():
            return made
        if all(size == 1 or one == other for size, one, other in zip(old.shape, old.stride(), made.meta["val"].stride())):
            return self._viewed(torch.ops.aten.as_strided.default, made, list(old.shape), list(old.stride()))
        order = sorted(range(old.dim()), key=lambda axis: (-old.stride(axis), axis))
        for axis in range(old.dim()):
            if old.stride(axis) == 0:
                made = self._viewed(torch.ops.aten.slice.Tensor, made, axis, 0, 1)
        made = self._viewed(torch.ops.aten.permute.default, made, order)
        made = self._clone(made, torch.contiguous_format)
        made = self._viewed(torch.ops.aten.permute.default, made, [order.index(axis) for axis in range(old.dim())])
        return self._viewed(torch.ops.aten.expand.default, made, list(old.shape)) if 0 in old.stride() else made

    def _viewed(self, op: Any, node: Any, *how: Any) -> Any:
        view = self.graph.call_function(op, (node, *how))
        view.meta = {**node.meta, "val": op(node.meta["val"], *how)}
        return view


def _is_view(node: Any) -> bool:
    """Is there a view of these sizes? Meta tensors tell: fake ones accept more than real ones."""
    given, sizes = node.args[0].meta["val"], node.args[1]
    with unset_fake_temporarily(), no_python_dispatcher():
        try:
            torch.empty_strided(given.shape, given.stride(), device="meta").view(sizes)
        except RuntimeError:
            return False
    return True
