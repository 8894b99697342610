"""Cuts a graph into regions: the largest sets of supported ops that can run as one.

Each node has a level: how often the work goes from regions to eager ops on the way to it. Nodes of regions on one level and
device are one region: a node between two of them has the same level, so no region waits for itself. Views and constants
belong to no region: each region that uses one has a copy, and eager has one where it uses it.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, Callable, Dict, Iterable, Iterator, List, Sequence, Set

from .devices import device_of, is_apart
from .dtypes import computed
from .nodes import is_draw, is_free, is_number, op_of, results, row_of
from .rows import Kind
from .sizes import hint

# Bytes of a region above which its ops count twice: eager writes large results into new memory.
LARGE = 2 << 20


@dataclass(frozen=True)
class Region:
    """The nodes that one definition computes.

    Attributes:
        body: all of them in order, with the views and constants that they use.
        inputs: its input tensors.
        outputs: the nodes of `body` whose results are used elsewhere.
        writes: the nodes of `body` that write to an input.
        device: where it runs.
    """

    body: Sequence[Any]
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    writes: Sequence[Any]
    device: Any

    def ops(self) -> int:
        """The number of its ops."""
        return sum(not is_free(node) for node in self._calls())

    def views(self) -> int:
        """The number of its views and constants."""
        return sum(is_free(node) for node in self._calls())

    def weight(self) -> int:
        """The number of ops that it counts as for `min_ops`, one at least."""
        ops = sum(_weight(node) for node in self._calls() if not is_free(node)) + len(self.writes)
        return max(1, ops if self.bytes() < LARGE else 2 * ops)

    def bytes(self) -> int:
        """The bytes of inputs and outputs; symbolic sizes have the values of the example."""
        return sum(_bytes(fake) for node in (*self.inputs, *self.outputs, *self.writes) for fake in results(node))

    def _calls(self) -> List[Any]:
        return [node for node in self.body if op_of(node) != "getitem"]


def _weight(node: Any) -> int:
    row, [fake, *_] = row_of(node), results(node)
    assert row is not None
    return row.weight_in(computed(fake.dtype)) if fake.device.type == "cpu" else row.weight


def _bytes(fake: Any) -> int:
    """The bytes of its elements; an expanded axis counts once."""
    distinct = (hint(size) for size, stride in zip(fake.shape, fake.stride()) if hint(stride) != 0)
    return int(prod(distinct) * fake.element_size())


def dependencies(graph: Any, kind: "Kinds") -> Dict[Any, Set[Any]]:
    """The nodes that must run before each node: its operands; for a node that writes to an input all readers of that input;
    for a draw in eager the draw before it, as each draw advances the generator."""
    before = {node: set(node.all_input_nodes) for node in graph.nodes}
    last_draw: Set[Any] = set()
    for node in graph.nodes:
        if writes(node):
            before[node] |= readers(node.args[0]) - {node}
        if is_draw(node) and not kind.fused(node):
            before[node] |= last_draw
            last_draw = {node}
    return before


def readers(tensor: Any) -> Set[Any]:
    """All users of a tensor's memory, through views too."""
    found: Set[Any] = set()
    waiting = [tensor]
    while waiting:
        for user in waiting.pop().users:
            if user not in found and user.op == "call_function" and not writes(user):
                found.add(user)
                waiting += [user] if may_alias(user) else []
    return found


def may_alias(node: Any) -> bool:
    """May its results share the memory of an operand?"""
    row = row_of(node)
    if row is not None:
        return row.kind == Kind.VIEW
    schema = getattr(node.target, "_schema", None)
    return schema is None or any(result.alias_info is not None for result in schema.returns)


class Levels:
    """The level of each node of a graph; views and constants have none, but pass on those of their operands. For a region,
    work on another device is like eager ops.

    `of` has the level of each node, `_for_region` the first level of a region that may use it, `_for_eager` that of an op.
    """

    def __init__(self, graph: Any, kind: "Kinds") -> None:
        self.of: Dict[Any, int] = {}
        self._kind = kind
        self._for_region: Dict[Any, int] = {}
        self._for_eager: Dict[Any, int] = {}
        before = dependencies(graph, kind)
        for node, operands in before.items():
            self._place(node, operands)
        self._put_off(graph, _reversed(before))

    def _place(self, node: Any, before: Set[Any]) -> None:
        levels = (self._for_eager if is_apart(node, each) else self._for_region for each in before)
        for_region = max((of[each] for of, each in zip(levels, before)), default=0)
        for_eager = max((self._for_eager[each] for each in before), default=0)
        fused, free = self._kind.fused(node), self._kind.free(node)
        self.of[node] = for_region if fused else for_eager
        self._for_region[node] = for_region if free else self.of[node]
        self._for_eager[node] = for_eager if free else self.of[node] + fused

    def _put_off(self, graph: Any, after: Dict[Any, Set[Any]]) -> None:
        """Nodes that depend only on inputs of the graph are computed where they are first used: until then they take no
        memory."""
        for node in reversed(list(graph.nodes)):
            if self._kind.fused(node) and self.of[node] == 0 and op_of(node) != "getitem":
                self.of[node] = min(self._uses(node, after), default=0)

    def _uses(self, node: Any, after: Dict[Any, Set[Any]]) -> Iterator[int]:
        """The last levels that the users of a node leave for it."""
        for user in _users(node, after.__getitem__, self._kind):
            if user.op != "output":
                yield self.of[user] - (not self._kind.fused(user) or is_apart(node, user))


def _reversed(before: Dict[Any, Set[Any]]) -> Dict[Any, Set[Any]]:
    after: Dict[Any, Set[Any]] = {node: set() for node in before}
    for node, operands in before.items():
        for operand in operands:
            after[operand].add(node)
    return after


class Kinds:
    """The kind of a node: `fused` into regions, `free` to be copied wherever it is used, or else eager."""

    def __init__(self, supported: Callable[[Any], bool]) -> None:
        self._supported = supported

    def free(self, node: Any) -> bool:
        """A view or a constant."""
        return is_free(node) and self._supported(node)

    def fused(self, node: Any) -> bool:
        """An op that a region computes."""
        return self._supported(node) and not self.free(node)


def regions(graph: Any, supported: Callable[[Any], bool], min_ops: int) -> List[Region]:
    """The regions of a graph, none with fewer ops than `min_ops`. Ops that take several times as long in eager count twice:
    transcendental functions and selections by their rows, and the ops of a large region. Those that eager is faster at
    count as none.
    """
    kind = Kinds(supported)
    levels = Levels(graph, kind)
    members: Dict[Any, List[Any]] = {}
    for node in graph.nodes:
        if kind.fused(node):
            members.setdefault((levels.of[node], str(device_of(node))), []).append(node)
    made = [_region(graph, nodes, kind) for _, nodes in sorted(members.items())]
    return [region for region in made if region.weight() >= min_ops]


def _region(graph: Any, nodes: Sequence[Any], kind: Kinds) -> Region:
    body = set(nodes)
    waiting = list(nodes)
    while waiting:
        for operand in waiting.pop().all_input_nodes:
            if operand not in body and kind.free(operand):
                body.add(operand)
                waiting.append(operand)
    inside = [node for node in graph.nodes if node in body]
    outputs = [node for node in nodes if _is_output(node, body, kind)]
    return Region(inside, _inputs(inside, body), outputs, [node for node in nodes if writes(node)], device_of(nodes[0]))


def _inputs(inside: Sequence[Any], body: Set[Any]) -> List[Any]:
    operands = [operand for node in inside for operand in node.all_input_nodes]
    return [node for node in dict.fromkeys(operands) if node not in body and not is_number(node)]


def _is_output(node: Any, body: Set[Any], kind: Kinds) -> bool:
    """Do others use it, or views of it? They make copies of these views."""
    gives_several = any(op_of(user) == "getitem" for user in node.users)
    users = _users(node, lambda one: one.users, kind)
    return not writes(node) and not gives_several and any(user not in body for user in users)


def _users(node: Any, after: Callable[[Any], Iterable[Any]], kind: Kinds) -> Iterator[Any]:
    """What uses a node, directly or through views; `after` tells the direct users of each node."""
    found: Set[Any] = set()
    waiting = [node]
    while waiting:
        for user in after(waiting.pop()):
            if user not in found:
                found.add(user)
                if kind.free(user):
                    waiting.append(user)
                else:
                    yield user


def writes(node: Any) -> bool:
    """Does it write to its first operand?"""
    return op_of(node) == "aten.copy_.default"
