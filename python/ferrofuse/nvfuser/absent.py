"""Names of nvFuser that do not exist here, each with the reason. Using one raises it; importing one does not."""

from typing import Any, Callable, Dict, NoReturn

from .._native import TensorView, Val
from ..tracebacks import public

_SCHEDULES = (
    "loops are chosen by the compiler: fd.explain() tells how it chose; fd.segments[0].schedule and `ferrofuse run --schedule "
    "SEGMENT=FILE` take a schedule by hand, as text"
)
_LAUNCHES = (
    "CUDA kernels are not launched one by one: fd.execute(inputs) compiles and launches them, and fd.cuda_code(inputs) "
    "returns their CUDA C++"
)
_ONE_DEVICE = "a call runs on one device"
_CUTLASS = "ferrofuse writes no kernels in CUTLASS"
_VALIDATE = "fd.validate(inputs, reference_outputs) compares, within error bounds of each element"
_TEXT = "print(fd) tells which call made a value, and which calls use it"

_OF_MODULE: Dict[str, str] = {
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
    "nvf_cutlass": _CUTLASS,
}
_OF_VALUES: Dict[str, str] = dict.fromkeys("definition uses".split(), _TEXT)
_OF_TENSORS: Dict[str, str] = {
    **dict.fromkeys(
        """domain axis has_root get_logical_domain get_loop_domain get_root_domain split inner_split outer_split merge reorder
        swizzle swizzle1d rfactor cache_after cache_before set_memory_type""".split(),
        _SCHEDULES + "; sizes are tv.shape() and tv.size(dim)",
    ),
    "set_allocation_domain": "fd.ops.stride_order(tv, stride_order) sets the order of an output in memory",
    "set_device_mesh": _ONE_DEVICE,
}


class Absent:
    """A name of nvFuser that does not exist here. Any use of it raises the reason."""

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
        return f"<{self._name}, which is not supported: {self._why}>"


def _rejection(name: str, why: str) -> NotImplementedError:
    return NotImplementedError(f"`{name}` is not supported: {why}")


def of_module(name: str) -> Absent:
    """The placeholder for a name of nvFuser's module.

    Raises:
        AttributeError: when nvFuser has no such name either.
    """
    if name not in _OF_MODULE:
        raise AttributeError(f"module 'ferrofuse' has no attribute {name!r}")
    return Absent(name, _OF_MODULE[name])


# `fd.sched`.
sched = Absent("fd.sched", _SCHEDULES)


def reject_schedule(what: str) -> NoReturn:
    """Raises why a function for schedules does not exist."""
    raise _rejection(what, _SCHEDULES)


def reject_devices(what: str) -> NoReturn:
    """Raises why a function for several devices does not exist."""
    raise _rejection(what, _ONE_DEVICE)


def attach() -> None:
    """Gives `Val` and `TensorView` nvFuser's methods that do not exist here, which raise the reason."""
    for owner, methods in ((Val, _OF_VALUES), (TensorView, _OF_TENSORS)):
        for name, why in methods.items():
            setattr(owner, name, public(_method(f"{owner.__name__}.{name}", why)))


def _method(name: str, why: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise _rejection(name, why)

    method.__name__ = name.split(".")[-1]
    method.__qualname__ = name
    method.__doc__ = f"Not supported: {why}."
    return method
