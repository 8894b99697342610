"""A fusion compiler for tensor programs, with nvFuser's FusionDefinition as its language.

    import numpy as np
    from ferrofuse import DataType, FusionDefinition

    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.Float)
        fd.add_output(fd.ops.sum(x * 2.0, dims=[1]))

    [sums] = fd.execute([np.ones((3, 4), np.float32)])

Arrays may be of NumPy, torch, JAX or any other library with `__dlpack__`. Outputs are arrays of the inputs' library.
"""

import atexit as _atexit
from typing import TYPE_CHECKING, Any

from . import tracebacks as _tracebacks
from ._native import (
    ArgumentError,
    DataType,
    DefinitionError,
    GpuArray,
    GpuGraph,
    InputError,
    OutOfRangeError,
    Task,
    TensorView,
    Val,
    __version__,
    await_background as _await_background,
    get_num_threads,
    get_rng_state,
    manual_seed,
    set_num_threads,
    set_rng_state,
    to_gpu,
)
from .arrays import (
    numpy_functions as _numpy_functions,
    operators as _operators,
    tensor_methods as _tensor_methods,
    ufuncs as _ufuncs,
)
from .definition import FusionDefinition
from .explanation import Explanation
from .functions.differentiable import autograd
from .functions.fused import Fused, fuse
from .nvfuser import absent as _absent
from .nvfuser.cache import LRUCache, LruFusionCache
from .nvfuser.descriptor import compute_tensor_descriptor
from .nvfuser.fusion import (
    Fusion,
    FusionExecutorCache,
    FusionGuard,
    current,
    define_scalar,
    define_tensor,
    ops,
    translate_fusion,
)
from .nvfuser.profiler import FusionProfile, KernelProfile, PythonProfiler, get_fusion_profile, reset_profiler
from .output_type import OutputType
from .segments import FoldLambda, Segment, SegmentBytes

_operators.attach()
_tensor_methods.attach()
_ufuncs.attach()
_numpy_functions.attach()
_absent.attach()
_atexit.register(_await_background)

if not TYPE_CHECKING:  # a type checker must still report missing names

    @_tracebacks.public
    def __getattr__(name: str) -> Any:
        return _absent.of_module(name)


def version() -> str:
    """The version of the package."""
    return __version__


__all__ = [
    "ArgumentError",
    "DataType",
    "DefinitionError",
    "Explanation",
    "Fusion",
    "FusionDefinition",
    "FusionExecutorCache",
    "FusionGuard",
    "FusionProfile",
    "GpuArray",
    "GpuGraph",
    "InputError",
    "KernelProfile",
    "LRUCache",
    "LruFusionCache",
    "OutOfRangeError",
    "OutputType",
    "PythonProfiler",
    "FoldLambda",
    "Fused",
    "Segment",
    "SegmentBytes",
    "Task",
    "TensorView",
    "Val",
    "__version__",
    "autograd",
    "compute_tensor_descriptor",
    "current",
    "define_scalar",
    "define_tensor",
    "fuse",
    "get_fusion_profile",
    "get_num_threads",
    "get_rng_state",
    "manual_seed",
    "ops",
    "reset_profiler",
    "set_num_threads",
    "set_rng_state",
    "to_gpu",
    "translate_fusion",
    "version",
]

_tracebacks.attach(globals())
