"""The backend: Dynamo's graphs through AOTAutograd to the compiler."""

from functools import partial
from typing import Any, Callable, List, Mapping, Optional, Sequence

from torch._dynamo.backends.common import aot_autograd

from . import decompositions
from .channels_last import channels_last
from .compiler import compile_graph
from .masks import without_masks
from .options import Options, parse
from .partition import partition
from .report import GraphReport


def backend(
    module: Any, inputs: Sequence[Any], *, options: Optional[Mapping[str, Any]] = None, mode: Optional[str] = None
) -> Callable[..., Any]:
    """The function that `torch.compile(model, backend="ferrofuse", options={…})` calls with each of Dynamo's graphs.

    Raises:
        ValueError, TypeError: for a wrong option, and for a mode: modes are Inductor's.
    """
    if mode not in (None, "default"):
        graphs = "; torch.cuda.graph captures a compiled model" if mode == "reduce-overhead" else ""
        raise ValueError(f"backend \"ferrofuse\" has no modes, but mode is {mode!r}: give options{graphs}")
    return compiled(module, inputs, parse(options), [])


def compiled(module: Any, inputs: Sequence[Any], options: Options, reports: List[GraphReport]) -> Callable[..., Any]:
    """A compiled graph of Dynamo's; `reports` gets a report for each graph that AOTAutograd makes of it."""

    def stage(kind: str) -> Callable[..., Any]:
        def compiler(module: Any, _: Sequence[Any]) -> Any:
            reports.append(GraphReport(kind))
            if kind == "inference":
                without_masks(module)
                channels_last(module, options.fallback_random)
            return compile_graph(module, options, reports[-1])

        return compiler

    through_aot = aot_autograd(
        fw_compiler=stage("forward"),
        bw_compiler=stage("backward"),
        inference_compiler=stage("inference"),
        partition_fn=partial(partition, fallback_random=options.fallback_random),
        decompositions=decompositions.table(options.fallback_random),
        keep_inference_input_mutations=True,
    )
    result: Callable[..., Any] = through_aot(module, inputs)
    return result
