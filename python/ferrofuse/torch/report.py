"""The compiled graphs in numbers and words: regions, and the ops left to eager with the reasons."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, List, Sequence, Tuple

from .nodes import op_of, row_of
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
    counts = region.count("compute", "copy", "draw"), region.count("view", "create")
    outputs = len(region.outputs) + len(region.writes)
    return RegionReport(str(region.device), *counts, len(region.inputs), outputs, region.bytes(), compiled)


def eager_ops(nodes: Sequence[Any], reasons: Dict[Any, str]) -> "Counter[Tuple[str, str]]":
    """How often each op is left to eager, and why; views and constants, which cost nothing, are left out."""
    return Counter((op_of(node), reasons[node]) for node in nodes if node in reasons and not _is_free(node))


def _is_free(node: Any) -> bool:
    row = row_of(node)
    return op_of(node) == "getitem" or (row is not None and row.kind in ("view", "create"))
