"""A key that is equal for regions that one definition computes: without names of nodes and symbols."""

from typing import Any, Dict, Sequence, Tuple

import torch

from .. import compute_tensor_descriptor
from .nodes import op_of, results
from .options import Options
from .regions import Region
from .sizes import expression, hint


class Structure:
    """The key of a region.

    Attributes:
        key: equal for regions that one definition computes.
    """

    def __init__(self, region: Region, options: Options) -> None:
        self._symbols: Dict[Any, Any] = {}
        self._places: Dict[Any, int] = {}
        inputs = [self._declaration(node) for node in region.inputs]
        body = [self._call(node) for node in region.body]
        outputs = [(self._places[node], order(node.meta["val"])) for node in region.outputs]
        choices = (options.emulate_precision_casts, str(region.device))
        self.key = (tuple(inputs), tuple(body), tuple(outputs), choices)

    def name(self, expr: Any) -> str:
        """An expression with its symbols numbered in order of occurrence."""
        for symbol in sorted(expr.free_symbols, key=str):
            self._symbols.setdefault(symbol, type(symbol)(f"n{len(self._symbols)}", **symbol.assumptions0))
        return str(expr.xreplace(self._symbols))

    def _declaration(self, node: Any) -> Any:
        self._places[node] = len(self._places)
        fake = node.meta["val"]
        return fake.dtype, str(fake.device), self._sizes(fake), layout(fake)

    def _call(self, node: Any) -> Any:
        called: Tuple[Any, ...] = op_of(node), self._argument(node.args), self._argument(sorted(node.kwargs.items()))
        self._places[node] = len(self._places)
        if op_of(node) == "aten.as_strided.default":  # whose result depends on where its operand lies in memory
            given = node.args[0].meta["val"]
            called = (*called, tuple(map(hint, given.stride())), hint(given.storage_offset()))
        return called, tuple((fake.dtype, self._sizes(fake)) for fake in results(node))

    def _sizes(self, fake: Any) -> Tuple[str, ...]:
        return tuple(self.name(expression(size)) for size in fake.shape)

    def _argument(self, value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            return self._operand(value)
        if isinstance(value, (list, tuple)):
            return tuple(map(self._argument, value))
        return type(value).__name__, repr(value)

    def _operand(self, node: Any) -> Any:
        if node in self._places:
            return "node", self._places[node]
        value = node.meta["val"]
        return type(value).__name__, self.name(expression(value))


def layout(fake: Any) -> Tuple[Tuple[Any, ...], Tuple[int, ...]]:
    """The declaration of a tensor: contiguity of its axes from the outermost in memory on, and their order in memory."""
    contiguity, places = compute_tensor_descriptor(list(map(hint, fake.shape)), list(map(hint, fake.stride())))
    return tuple(contiguity), tuple(places)


def order(fake: Any) -> Tuple[int, ...]:
    """For each axis of a result its rank in memory, 0 innermost."""
    outermost_first = sorted(range(fake.ndim), key=lambda axis: -hint(fake.stride()[axis]))
    return tuple(fake.ndim - 1 - outermost_first.index(axis) for axis in range(fake.ndim))


def sizes(fake: Any) -> Sequence[int]:
    """Sizes as they are declared: -1 for those that a call determines."""
    return [-1 if isinstance(size, torch.SymInt) else int(size) for size in fake.shape]
