"""The result of the backend for a model: graphs, regions, graph breaks, and the ops left to eager with the reasons."""

import functools
from dataclasses import dataclass
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple

import torch
from torch.utils import _pytree

from ..tracebacks import public
from .backend import compiled
from .options import parse
from .report import GraphReport
from .rows import library

TITLES = ("graph", "region", "device", "ops", "views", "inputs", "outputs", "bytes", "definition")


@dataclass(frozen=True)
class Compiled:
    """The compiled graphs; `print` it.

    Attributes:
        graphs: a report for each graph of AOTAutograd, in the order in which they were compiled.
        breaks: why Dynamo broke the graph, each with the user's line.
    """

    graphs: Sequence[GraphReport]
    breaks: Sequence[str]

    def counts(self) -> Tuple[int, int]:
        """The number of fused ops, and of ops that could be fused: all but views and those of torch's libraries."""
        fused = sum(region.ops for graph in self.graphs for region in graph.regions)
        libraries = set(library.KINDS.values())
        eager = sum(n for graph in self.graphs for (_, why), n in graph.eager.items() if why not in libraries)
        return fused, fused + eager

    def __str__(self) -> str:
        fused, total = self.counts()
        lines = [*_table([TITLES, *self._regions()]), f"fused: {fused} of {total} ops that are neither views nor a library's"]
        lines += ["left to eager:", *_table(self._eager())] if self._eager() else ["left to eager: nothing"]
        lines += ["graph breaks:", *self.breaks] if self.breaks else ["graph breaks: none"]
        return "\n".join(lines)

    def _regions(self) -> Iterable[Tuple[str, ...]]:
        for graph in self.graphs:
            for place, region in enumerate(graph.regions):
                numbers = (region.ops, region.views, region.inputs, region.outputs, region.bytes)
                yield graph.kind, str(place), region.device, *map(str, numbers), "new" if region.compiled else "shared"

    def _eager(self) -> List[Tuple[str, ...]]:
        return [(graph.kind, str(count), *what) for graph in self.graphs for what, count in sorted(graph.eager.items())]


@public
def explain(model: Any, *inputs: Any, options: Optional[Mapping[str, Any]] = None, **keywords: Any) -> Compiled:
    """The result of the backend for a model and these inputs. The model runs once, also backward if gradients are required.

    Gradients are not added to `.grad`.

    Raises:
        ValueError, TypeError: for a wrong option.
        UnsupportedError: as the options say.
    """
    graphs: List[GraphReport] = []
    breaks: List[str] = []
    heard = functools.partial(_heard, parse(options), graphs, breaks)
    outputs = torch.compile(model, backend=heard)(*inputs, **keywords)
    _run_backward(outputs, _leaves(model, inputs, keywords))
    return Compiled(graphs, breaks)


def _heard(options: Any, graphs: List[GraphReport], breaks: List[str], module: Any, inputs: Any) -> Any:
    """The backend, which also records why the graph ended."""
    ended = module.compile_subgraph_reason
    if ended is not None and ended.graph_break:
        frames = ended.user_stack[-1:]
        where = [f'File "{frame.filename}", line {frame.lineno}, in {frame.name}: ' for frame in frames]
        breaks.append("".join([*where, ended.reason.strip().partition("\n")[0]]))
    return compiled(module, inputs, options, graphs)


def _leaves(model: Any, inputs: Any, keywords: Any) -> List[Any]:
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    given = [x for x in _pytree.tree_leaves((inputs, keywords)) if isinstance(x, torch.Tensor)]
    return [leaf for leaf in (*parameters, *given) if leaf.requires_grad]


def _run_backward(outputs: Any, leaves: Sequence[Any]) -> None:
    given = [x for x in _pytree.tree_leaves(outputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    if given and leaves:
        torch.autograd.grad(given, leaves, [torch.ones_like(x) for x in given], allow_unused=True)


def _table(rows: Sequence[Sequence[str]]) -> List[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
