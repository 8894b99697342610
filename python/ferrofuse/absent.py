"""Names of nvFuser that do not exist here, each with a reason, raised when one is used: scripts that only import it run."""

from typing import Any, Callable, Dict, NoReturn

from ._native import TensorView, Val
from .tracebacks import public

_SCHEDULES = (
    "loops are chosen by the compiler: fd.explain() tells how it chose; fd.segments[0].schedule and `ferrofuse run --schedule "
    "SEGMENT=FILE` take a schedule by hand, as text"
)
_LAUNCHES = (
    "it is of launches of CUDA kernels: fd.execute(inputs) compiles and launches them, and fd.cuda_code(inputs) tells the "
    "CUDA C++"
)
_ONE_DEVICE = "a call runs on one device"
_GPU = "its kernels are not written in CUTLASS"
_VALIDATE = "fd.validate(inputs, reference_outputs) compares, within error bounds of each element"
_TEXT = "print(fd) tells which call made a value, and which calls use it"

_OF_THE_MODULE: Dict[str, str] = {
    **dict.fromkeys(
        """schedule idm SchedulerType ParallelType MemoryType LoadStoreOpType CacheOp IdMappingMode HeuristicParams
        PointwiseParams ReductionParams MatmulParams GemmTile MatMulTileOptions ClusterDims CircularBufferOptions
        SupportedVectorization MmaMacro MmaMacroArch MmaMacroEncode MatmulTileRasterizationOrder MatmulTilingStrategy
        MatmulBufferingLoopLevel MatmulCircularBufferingStrategy IterDomain TensorDomain""".split(),
        _SCHEDULES,
    ),
    **dict.fromkeys("KernelExecutor LaunchParams CompileParams".split(), _LAUNCHES),
    **dict.fromkeys("Statement Expr Split Merge BroadcastOp ReshapeOp SqueezeOp".split(), "print(fd) tells the calls"),
    **dict.fromkeys("multidevice CommunicatorBackend execute_with_dtensors".split(), _ONE_DEVICE),
    **dict.fromkeys("validate_with_auto_inferred_outputs get_val_tolerances".split(), _VALIDATE),
    "nvf_cutlass": _GPU,
}
_OF_VALUES: Dict[str, str] = dict.fromkeys("definition uses".split(), _TEXT)
_OF_TENSORS: Dict[str, str] = {
    **dict.fromkeys(
        """domain axis has_root get_logical_domain get_loop_domain get_root_domain split inner_split outer_split merge reorder
        swizzle swizzle1d rfactor cache_after cache_before set_memory_type""".split(),
        _SCHEDULES + "; sizes are tv.shape() and tv.size(dim)",
    ),
    "set_allocation_domain": "the order of an output in memory is fd.ops.stride_order(tv, stride_order)",
    "set_device_mesh": _ONE_DEVICE,
}


class Elsewhere:
    """Something of nvFuser's that does not exist here. Any use of it raises the reason."""

    def __init__(self, name: str, why: str) -> None:
        self._name = name
        self._why = why

    @public
    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise _rejection(f"{self._name}.{attribute}", self._why)

    @public
    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _rejection(self._name, self._why)

    def __repr__(self) -> str:
        return f"<{self._name}, which is not there: {self._why}>"


def _rejection(name: str, why: str) -> NotImplementedError:
    return NotImplementedError(f"`{name}` is not there: {why}")


def of_the_module(name: str) -> Elsewhere:
    """The object for a name of nvFuser's module.

    Raises:
        AttributeError: when nvFuser has no such name either.
    """
    if name not in _OF_THE_MODULE:
        raise AttributeError(f"module 'ferrofuse' has no attribute {name!r}")
    return Elsewhere(name, _OF_THE_MODULE[name])


# `fd.sched`.
sched = Elsewhere("fd.sched", _SCHEDULES)


def reject_schedule(what: str) -> NoReturn:
    """Raises why a function of scheduling does not exist."""
    raise _rejection(what, _SCHEDULES)


def reject_devices(what: str) -> NoReturn:
    """Raises why a function of devices does not exist."""
    raise _rejection(what, _ONE_DEVICE)


def attach() -> None:
    """Adds the methods to `Val` and `TensorView` that raise why they do not exist."""
    for owner, methods in ((Val, _OF_VALUES), (TensorView, _OF_TENSORS)):
        for name, why in methods.items():
            setattr(owner, name, public(_method(f"{owner.__name__}.{name}", why)))


def _method(name: str, why: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise _rejection(name, why)

    method.__name__ = name.split(".")[-1]
    method.__qualname__ = name
    method.__doc__ = f"Not there: {why}."
    return method
