"""Replaces the nodes of regions by calls: a new graph, in an order in which each call runs after the nodes that it
needs."""

import heapq
import operator
from typing import Any, Callable, Dict, List, Sequence, Set, Tuple

import torch

from .regions import Kinds, Region, dependencies

# Runs a region: takes its tensors and scalars, returns its outputs.
Kernel = Callable[..., Sequence[Any]]
Fused = Tuple[Region, Kernel, Sequence[Any]]


def rewrite(module: Any, fused: Sequence[Fused], kind: Kinds) -> Any:
    """A module with the meaning of `module`; `fused` has for each region its kernel and the nodes of its scalars."""
    return _Rewriting(module, fused, kind).module()


class _Rewriting:
    def __init__(self, module: Any, fused: Sequence[Fused], kind: Kinds) -> None:
        self._module, self._kind = module, kind
        self._dependencies = dependencies(module.graph, kind)
        self._graph = torch.fx.Graph()
        self._places = {node: place for place, node in enumerate(module.graph.nodes)}
        self._made: Dict[Any, Any] = {}
        self._units: Dict[Any, int] = {
            node: number for number, (region, *_) in enumerate(fused) for node in region.body if not kind.free(node)
        }
        self._fused = fused

    def module(self) -> Any:
        for unit in self._ordered():
            if isinstance(unit, int):
                self._add_kernel(*self._fused[unit])
            else:
                self._made[unit] = self._graph.node_copy(unit, self._made.__getitem__)
        return torch.fx.GraphModule(self._module, self._graph)

    def _add_kernel(self, region: Region, kernel: Kernel, scalars: Sequence[Any]) -> None:
        arguments = tuple(self._made[node] for node in (*region.inputs, *scalars))
        call = self._graph.call_function(kernel, arguments)
        for place, node in enumerate(region.outputs):
            self._made[node] = self._graph.call_function(operator.getitem, (call, place))
            self._made[node].meta = dict(node.meta)
        self._made.update((node, self._made[node.args[0]]) for node in region.writes)  # `copy_` returns its target

    def _ordered(self) -> List[Any]:
        """The units, each after those that it needs; of several candidates the one that came first in the old graph is
        next."""
        before = self._before()
        after: Dict[Any, Set[Any]] = {unit: set() for unit in before}
        for unit, needed in before.items():
            for each in needed:
                after[each].add(unit)
        waiting = [self._entry(unit) for unit, needed in before.items() if not needed]
        heapq.heapify(waiting)
        ordered = []
        while waiting:
            unit = heapq.heappop(waiting)[-1]
            ordered.append(unit)
            for user in after[unit]:
                before[user].discard(unit)
                if not before[user]:
                    heapq.heappush(waiting, self._entry(user))
        assert len(ordered) == len(before), "regions wait for each other"
        return ordered

    def _before(self) -> Dict[Any, Set[Any]]:
        """The dependencies of each unit: an eager node, or the number of a region."""
        needed = self._needed()
        before: Dict[Any, Set[Any]] = {}
        for node in needed:
            unit = self._unit(node)
            waits = {self._unit(each) for each in self._waits_for(node) if each in needed}
            before.setdefault(unit, set()).update(waits - {unit})
        for number, (region, _, scalars) in enumerate(self._fused):
            before[number].update(map(self._unit, (*region.inputs, *scalars)))
        return before

    def _waits_for(self, node: Any) -> Set[Any]:
        """The dependencies of an operand: views and constants among a region's operands are its own copies."""
        own = {each for each in node.all_input_nodes if node in self._units and self._kind.free(each)}
        return self._dependencies[node] - own

    def _needed(self) -> Set[Any]:
        """All nodes except views and constants that only regions use."""
        needed: Set[Any] = set()
        for node in reversed(list(self._module.graph.nodes)):
            if not self._kind.free(node) or any(user in needed and user not in self._units for user in node.users):
                needed.add(node)
        return needed

    def _unit(self, node: Any) -> Any:
        return self._units.get(node, node)

    def _entry(self, unit: Any) -> Tuple[int, Any]:
        nodes = self._fused[unit][0].body if isinstance(unit, int) else [unit]
        return max(self._places[node] for node in nodes), unit
