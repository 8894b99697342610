"""From a graph of AOTAutograd to one in which regions are single calls; and the cache of definitions that equal regions
share."""

import functools
import logging
import warnings
from collections import OrderedDict
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch
from torch.fx.graph import _BoxedCodeGen

from .ahead import compile_ahead
from .define import Defined, LoweringError, define
from .nodes import is_number, line_of, op_of
from .options import Options
from .regions import Kinds, Region, regions
from .report import GraphReport, eager_ops, of_region
from .rewrite import Fused, Kernel, rewrite
from .rows import Unsupported
from .scatters import scatter_in_place
from .sizes import expression
from .structure import Structure
from .support import Reason, reason

log = logging.getLogger(__name__)
MOST_KEPT = 4096  # definitions

_kept: "OrderedDict[Any, Tuple[Kernel, List[str]]]" = OrderedDict()
_warned: set[str] = set()


class UnsupportedError(RuntimeError):
    """Raised with `on_unsupported="error"` for what would otherwise be left to eager."""


def compile_graph(module: Any, options: Options, report: GraphReport) -> Any:
    """A callable that takes a list of inputs, which it empties, and returns the results of `module`.

    Raises:
        UnsupportedError: when something is unsupported, and the options make that an error.
    """
    compiled = _Compilation(module, options, report).module()
    scatter_in_place(compiled.graph)
    compiled.graph.set_codegen(_BoxedCodeGen())
    compiled.recompile()
    call = functools.partial(compiled.forward)
    call._boxed_call = True  # type: ignore[attr-defined]
    return call


class _Compilation:
    def __init__(self, module: Any, options: Options, report: GraphReport) -> None:
        self._module, self._options, self._report = module, options, report
        self._nodes = [node for node in module.graph.nodes if node.op == "call_function" and not is_number(node)]
        self._reasons: Dict[Any, Reason] = {}
        for node in self._nodes:
            found = reason(node, options.fallback_random)
            if found is not None:
                self._leave(node, found)

    def module(self) -> Any:
        fused = None
        while fused is None:
            fused = self._attempt()
        self._note(fused)
        return rewrite(self._module, fused, Kinds(self._supported))

    def _supported(self, node: Any) -> bool:
        """May a region take it? A `getitem` goes with the node that it takes a result of."""
        made = node.args[0] if op_of(node) == "getitem" else node
        return node.op == "call_function" and not is_number(node) and not {node, made} & self._reasons.keys()

    def _attempt(self) -> Optional[List[Fused]]:
        """All regions with their kernels; `None` if ops failed to lower, which are left to eager from then on."""
        self._report.regions.clear()
        failed: Dict[Any, Exception] = {}
        fused = []
        for region in regions(self._module.graph, self._supported, self._options.min_ops):
            try:
                fused.append(self._fused(region))
            except LoweringError as error:
                failed.update(error.causes)
        for node, cause in failed.items():
            self._leave(node, Reason(str(cause), expected=isinstance(cause, Unsupported)))
        return None if failed else fused

    def _fused(self, region: Region) -> Fused:
        structure = Structure(region, self._options)
        scalars = self._scalars(region)
        named = {structure.name(expr): node for expr, node in scalars.items()}
        found = _kept.get(structure.key)
        compiled = found is None or not all(name in named for name in found[1])
        if compiled:
            defined = define(region, self._options, scalars)
            found = _keep(structure, defined)
            if not defined.scalars:
                compile_ahead(defined.fd._compilable(), region.inputs)
        assert found is not None
        _kept.move_to_end(structure.key)
        self._report.regions.append(of_region(region, compiled))
        return region, found[0], [named[name] for name in found[1]]

    def _scalars(self, region: Region) -> Dict[Any, Any]:
        """Nodes that are numbers and that a region can take as inputs, by their expressions."""
        arguments = [operand for node in region.body for operand in node.all_input_nodes]
        inputs = [node for node in self._module.graph.nodes if node.op == "placeholder"]
        return {expression(node.meta["val"]): node for node in (*arguments, *inputs) if _is_symbolic(node)}

    def _leave(self, node: Any, why: Reason) -> None:
        self._reasons[node] = why
        if why.expected:
            return
        said = f"ferrofuse: {op_of(node)} is left to eager: {why.text}. It comes from {line_of(node)}"
        if self._options.on_unsupported == "error":
            raise UnsupportedError(said)
        if op_of(node) not in _warned:
            _warned.add(op_of(node))
            warnings.warn(said, stacklevel=2)

    def _note(self, fused: Sequence[Fused]) -> None:
        inside = {node for region, *_ in fused for node in region.body}
        texts = {node: why.text for node, why in self._reasons.items()}
        alone = f"in a region of fewer than {self._options.min_ops} ops"
        texts.update((node, alone) for node in self._nodes if node not in inside and node not in texts)
        self._report.eager.update(eager_ops(self._nodes, texts))
        log.debug("%s", self._report)


def _is_symbolic(node: Any) -> bool:
    return isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat))


def _keep(structure: Structure, defined: Defined) -> Tuple[Kernel, List[str]]:
    """Caches a kernel for regions of equal structure; of too many the one that waited longest for a use is dropped."""
    _kept[structure.key] = _kernel(defined), [structure.name(expr) for expr in defined.scalars]
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    return _kept[structure.key]


def _kernel(defined: Defined) -> Kernel:
    run, device, orders = defined.fd._compilable().run_on_tensors, defined.device, defined.orders

    def copied(number: int, view: Any) -> Any:
        """A definition returns a view for a copy of an input."""
        return _copied(view, orders[number])

    def ferrofuse_region(*inputs: Any) -> Sequence[Any]:
        return run(inputs, copied, device)

    def ferrofuse_region_that_writes(*inputs: Any) -> Sequence[Any]:
        outputs = run(inputs, copied, device)
        for number in defined.with_input_strides:
            if not _has_order(outputs[number], orders[number]):
                outputs[number] = _copied(outputs[number], orders[number])
        return outputs

    return ferrofuse_region_that_writes if defined.with_input_strides else ferrofuse_region


def _has_order(output: Any, places: Sequence[int]) -> bool:
    """Whether axes have these ranks in memory. An output that is also written to an input has the strides of that input."""
    innermost_first = sorted((place, step) for place, step, size in zip(places, output.stride(), output.shape) if size > 1)
    return all(step <= other for (_, step), (_, other) in zip(innermost_first, innermost_first[1:]))


def _copied(output: Any, places: Sequence[int]) -> Any:
    """A copy without gaps, whose axes have these ranks in memory."""
    outermost_first = sorted(range(output.ndim), key=lambda axis: -places[axis])
    copy = output.permute(outermost_first).clone(memory_format=torch.contiguous_format)
    return copy.permute([outermost_first.index(axis) for axis in range(output.ndim)])
