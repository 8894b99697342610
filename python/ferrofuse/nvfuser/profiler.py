"""nvFuser's `PythonProfiler`: kernels, times and bytes of calls. What is not measured here raises the reason."""

import math
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Dict, List, NoReturn, Optional, Sequence, Union

from .._native import Chain, Executable
from ..arrays.array_types import flattened, is_array

_NOT_MEASURED = "ferrofuse does not measure it"
NO_PROFILE = "nothing was measured: call execute in the `with` block of a PythonProfiler"
_PEAK = "the peak bandwidth of the memory is not measured; effective_bandwidth_gbs is that of the call"

# The profiler whose `with` block is active in this thread or asynchronous task.
_active: 'ContextVar[Optional["PythonProfiler"]]' = ContextVar("active", default=None)
active = _active.get

# The measurements of the last call, whichever profiler was active.
_latest: Optional["FusionProfile"] = None


class _Profile:
    """Rejects measurements of nvFuser's that are not taken here, with the reason."""

    _not_taken: Dict[str, str] = {}

    def __getattr__(self, name: str) -> NoReturn:
        if name in self._not_taken:
            raise NotImplementedError(f"`{type(self).__name__}.{name}` is not supported: {self._not_taken[name]}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")


@dataclass
class KernelProfile(_Profile):
    """One step of a call: a kernel, a segment that a library or the evaluator runs, or a copy.

    In a call through `fd.segments` the name begins with that of the segment: `seg1.seg0`.
    """

    name: str
    segment_id: int
    time_ms: float
    compile_time_ms: float
    """Time in libLLVM or NVRTC; 0 if the call did not compile the kernel."""
    input_bytes: int
    """Bytes of the tensors that it reads, each once."""
    output_bytes: int
    """Bytes of the tensors that it writes."""
    device: str = "cpu"
    scheduler: str = "ferrofuse"

    _not_taken = {
        **dict.fromkeys("stream correlation_id grid_str block_str cluster_str shared_mem_str registers".split(), _NOT_MEASURED),
        "percentage_peak_bandwidth": _PEAK,
    }

    @property
    def bytes(self) -> int:
        """Bytes of the tensors that it reads and of those that it writes."""
        return self.input_bytes + self.output_bytes

    @property
    def effective_bandwidth_gbs(self) -> float:
        """Its bytes divided by its time."""
        return self.bytes / max(self.time_ms, 1e-6) / 1e6


@dataclass
class FusionProfile(_Profile):
    """One call."""

    fusion_id: int
    """The `fusion_id` of the `FusionExecutorCache` that was called."""
    host_time_ms: float
    """Time from the first step to the last."""
    compile_time_ms: float
    """Time of compiling before the first step; 0 if nothing was compiled."""
    input_bytes: int
    output_bytes: int
    peak_bytes: int
    """The most bytes that it held at a time, without the inputs."""
    kernel_profiles: List[KernelProfile] = field(default_factory=list)
    verbose: bool = False

    _not_taken = {
        "cuda_evt_time_ms": _NOT_MEASURED,
        **dict.fromkeys(("percentage_peak_bandwith", "percentage_peak_bandwidth"), _PEAK),
    }

    @property
    def segments(self) -> int:
        """The number of steps."""
        return len(self.kernel_profiles)

    @property
    def kernel_time_ms(self) -> float:
        """The time of all steps."""
        return sum(kernel.time_ms for kernel in self.kernel_profiles)

    @property
    def effective_bandwidth_gbs(self) -> float:
        """The bytes of inputs and outputs divided by the time of all steps."""
        return (self.input_bytes + self.output_bytes) / max(self.kernel_time_ms, 1e-6) / 1e6


class PythonProfiler:
    """A context manager: calls in its `with` block are measured, and `profile` returns the latest. Calls of other threads
    are not."""

    def __init__(self, auto_scheduled: bool = True) -> None:
        if not auto_scheduled:
            raise NotImplementedError("auto_scheduled must be True, but is False: schedules are not written in Python")
        self._profile: Optional[FusionProfile] = None

    def __enter__(self) -> "PythonProfiler":
        if active() is not None:
            raise RuntimeError("a PythonProfiler is active already: its `with` block must end before another begins")
        _active.set(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _active.set(None)

    @property
    def profile(self) -> FusionProfile:
        """The measurements of the last call.

        Raises:
            RuntimeError: when there was none.
        """
        if self._profile is None:
            raise RuntimeError(NO_PROFILE)
        return self._profile

    def run(
        self,
        executable: Union[Executable, Chain],
        fusion_id: int,
        inputs: Sequence[Any],
        like: Optional[str],
        device: Any = None,
    ) -> List[Any]:
        """Calls it, and keeps the measurements."""
        global _latest
        outputs, measured = executable.profile(inputs, like, device)
        kernels = [
            KernelProfile(name, place, time, compiled, read, written, measured["device"])
            for place, (name, time, compiled, read, written) in enumerate(measured["steps"])
        ]
        self._profile = _latest = FusionProfile(
            fusion_id,
            measured["total"],
            measured["compile"],
            input_bytes=sum(map(_bytes, flattened(inputs))),
            output_bytes=sum(map(_bytes, outputs)),
            peak_bytes=measured["peak"],
            kernel_profiles=kernels,
        )
        return outputs


def get_fusion_profile() -> FusionProfile:
    """The measurements of the last call in the `with` block of any `PythonProfiler`.

    Raises:
        RuntimeError: when there was none since the last `reset_profiler()`.
    """
    if _latest is None:
        raise RuntimeError(NO_PROFILE)
    return _latest


def reset_profiler() -> None:
    """Forgets the result of `get_fusion_profile`."""
    global _latest
    _latest = None


def _bytes(array: Any) -> int:
    """Bytes of the elements of an array; 0 for a number."""
    return math.prod(map(int, array.shape)) * int(array.dtype.itemsize) if is_array(array) else 0
