"""Fusions as objects that are compared by what they compute, and the cache that compiles one."""

from contextvars import ContextVar
from typing import Any, List, Optional, Sequence, Tuple

from .. import _native, caller
from .._native import Executable, TensorView, Val
from ..operations import Operations
from . import absent, profiler
from .options import check_options


# The current fusions of each thread and each asynchronous task, innermost last.
_current_fusions: "ContextVar[Tuple[Fusion, ...]]" = ContextVar("fusions", default=())


class Fusion:
    """A definition as written. Two are equal if they differ only in the names of values."""

    def __init__(self) -> None:
        self._builder = _native.Builder()
        self._expected = 0  # the number of the input that `add_input` takes next
        self._blocks = 0  # the number of `with` blocks that it is the current one of

    @classmethod
    def _of(cls, builder: _native.Builder) -> "Fusion":
        fusion = cls()
        fusion._builder = builder
        return fusion

    def _text(self) -> str:
        return "" if self._builder.is_empty() else self._builder.text(False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fusion) and self._text() == other._text()

    def __hash__(self) -> int:
        return hash(self._text())

    def __repr__(self) -> str:
        return self._text() or "Fusion()"

    def inputs(self) -> List[Any]:
        """The inputs, in order."""
        return [] if self._builder.is_empty() else self._builder.boundary()[0]

    def outputs(self) -> List[Any]:
        """The outputs, in order, without those that are written to inputs."""
        return [] if self._builder.is_empty() else self._builder.boundary()[1]

    def vals(self) -> List[Any]:
        """The values of all calls, in order, including inputs."""
        return self._builder.vals()

    def add_input(self, input: Any) -> None:
        """Confirms that this is the next input: `define_tensor` and `define_scalar` already add inputs in order.

        Raises:
            ValueError: for a value that is not an input, and for another input than the next.
        """
        self._builder.expect_input(input, self._expected)
        self._expected += 1

    def add_output(self, output: Any, alias_input: Optional[Any] = None) -> None:
        """Like `FusionDefinition.add_output`."""
        self._builder.at(*caller.place())
        self._builder.add_output(output, alias_input)

    def print_math(self, from_outputs_only: bool = True) -> str:
        """The definition as the text of a function of `fd`, with a line for each call.

        Calls that no output depends on are left out unless `from_outputs_only` is False.
        """
        return self._builder.text(from_outputs_only)

    def print_kernel(self, compile_params: Any = None) -> str:
        """The kernels in CUDA C++, for inputs of any sizes."""
        return self._builder.executable().emit("cuda")


class FusionGuard:
    """Makes a fusion the current one for as long as the `with` block lasts."""

    def __init__(self, fusion: Fusion) -> None:
        self._fusion = fusion

    def __enter__(self) -> "FusionGuard":
        _current_fusions.set((*_current_fusions.get(), self._fusion))
        self._fusion._blocks += 1
        self._fusion._builder.open()
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._fusion._blocks -= 1
        fusions = list(_current_fusions.get())
        places = [place for place, fusion in enumerate(fusions) if fusion is self._fusion]
        if places:  # none where another thread or task began the block
            del fusions[places[-1]]
            _current_fusions.set(tuple(fusions))
        self._fusion._builder.close()


def current() -> Fusion:
    """The fusion of the innermost `FusionGuard` or `with FusionDefinition()` of this thread or asynchronous task."""
    for fusion in reversed(_current_fusions.get()):
        if fusion._blocks:  # another thread or task may have ended the block
            return fusion
    raise RuntimeError("there is no current fusion: call it within `with FusionGuard(fusion):`")


def define_tensor(*args: Any, **kwargs: Any) -> TensorView:
    """Like `FusionDefinition.define_tensor`, in the current fusion."""
    builder = current()._builder
    builder.at(*caller.place())
    return builder.define_tensor(*args, **kwargs)


def define_scalar(*args: Any, **kwargs: Any) -> Val:
    """Like `FusionDefinition.define_scalar`, in the current fusion."""
    builder = current()._builder
    builder.at(*caller.place())
    return builder.define_scalar(*args, **kwargs)


# Like `fd.ops`, in the current fusion.
ops = Operations(lambda: current()._builder)


def translate_fusion(fusion: Fusion) -> str:
    """The fusion as the text of a function of `fd` that makes an equal one."""
    return fusion._text()


class FusionExecutorCache:
    """Compiles a fusion when it is first executed with inputs of their kind, and keeps what was compiled.

    A kind is a combination of layouts, of the orders of magnitude of sizes (on a GPU, of sizes in steps of at most an eighth),
    and of whether rows are whole vectors. `fusion_id` is the name of the cache in profiles.
    """

    def __init__(self, fusion: Fusion, fusion_id: int = 0, auto_schedule: bool = True) -> None:
        if not auto_schedule:
            absent.reject_schedule("FusionExecutorCache(auto_schedule=False)")
        self._fusion = fusion
        self._fusion_id = fusion_id
        self._executable: Optional[Executable] = None

    @classmethod
    def _of(cls, fusion: Fusion, executable: Executable, fusion_id: int = 0) -> "FusionExecutorCache":
        cache = cls(fusion, fusion_id)
        cache._executable = executable
        return cache

    def is_compiled(self, inputs: Sequence[Any], device: Any = None) -> bool:
        """Whether a call on arrays of the host with the layouts of these, with sizes of the same orders of magnitude,
        compiles nothing. `device` is nvFuser's, and has no effect."""
        return self._executable is not None and self._executable.is_compiled(inputs)

    def fusion(self) -> Fusion:
        """The fusion."""
        return self._fusion

    def get_cuda_kernel(self, inputs: Sequence[Any], intrinsic_code: bool = False, device: Any = None) -> str:
        """The kernels for inputs of these sizes, in CUDA C++."""
        return self._compilable().emit("cuda", inputs)

    def get_scheduled_ir(self, inputs: Sequence[Any], tensor_transforms: bool = False, device: Any = None) -> str:
        """The loop programs of the kernels for inputs of these sizes, with the loops that the compiler chose."""
        return self._compilable().emit("kernel", inputs)

    def get_most_recent_scheduled_ir(self, tensor_transforms: bool = False) -> str:
        """Not supported: inputs are not kept."""
        raise NotImplementedError("inputs are not kept: use get_scheduled_ir(inputs)")

    def get_output_shardings(self) -> List[Any]:
        """Not supported: a call runs on one device."""
        absent.reject_devices("get_output_shardings")

    def execute(
        self,
        inputs: Sequence[Any],
        *,
        device: Any = None,
        like: Optional[str] = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> List[Any]:
        """Like `FusionDefinition.execute`."""
        check_options(_enable_options, _disable_options)
        executable = self._compilable()
        active = profiler.active()
        if active is not None:
            return active.run(executable, self._fusion_id, inputs, like, device)
        return executable.run(inputs, like, None, None, device)

    def _compilable(self) -> Executable:
        if self._executable is None:
            self._executable = self._fusion._builder.executable()
        return self._executable
