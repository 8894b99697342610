"""The compiled graphs in numbers and words: regions, and the ops left to eager with the reasons."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Sequence, Tuple

from .nodes import is_free, op_of
from .regions import Region


@dataclass(frozen=True)
class RegionReport:
    """A region: its device, its number of ops, bytes of inputs and outputs, and whether its definition was made for it."""

    device: str
    ops: int
    views: int
    inputs: int
    outputs: int
    bytes: int
    compiled: bool


@dataclass
class GraphReport:
    """A graph: "forward", "backward" or "inference"; its regions; the counts of (op, reason) left to eager."""

    kind: str
    regions: List[RegionReport] = field(default_factory=list)
    eager: "Counter[Tuple[str, str]]" = field(default_factory=Counter)


def of_region(region: Region, compiled: bool) -> RegionReport:
    """The numbers about a region."""
    outputs = len(region.outputs) + len(region.writes)
    return RegionReport(
        str(region.device), region.ops(), region.views(), len(region.inputs), outputs, region.bytes(), compiled
    )


def eager_ops(nodes: Sequence[Any], reasons: Dict[Any, str]) -> "Counter[Tuple[str, str]]":
    """How often each op is left to eager, and why; views and constants, which cost nothing, are left out."""
    return Counter((op_of(node), reasons[node]) for node in nodes if node in reasons and not _costs_nothing(node))


def _costs_nothing(node: Any) -> bool:
    return op_of(node) == "getitem" or is_free(node)
