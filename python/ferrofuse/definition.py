"""FusionDefinition: defines a fusion, compiles it on first use, runs it on arrays."""

from typing import Any, List, Optional, Sequence, Tuple

from . import _native
from ._native import DataType, TensorView
from .descriptor import compute_tensor_descriptor
from .explanation import Explanation
from .fusion import Fusion
from .operations import Operations


class FusionDefinition:
    """A fusion in the making, and when it is made, a function of arrays.

    Use it as a context manager; ops are `fd.ops.NAME(...)` or Python's operators on tensors. Attributes of your own may be
    set on it.
    """

    def __init__(self) -> None:
        self._builder = _native.Builder()
        self._executable: Optional[Any] = None
        self._inputs: Optional[Sequence[Any]] = None
        self.ops = Operations(self._builder)

    def __enter__(self) -> "FusionDefinition":
        self._executable = None
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        return None

    # ------------------------------------------------------------------------------------------------- define
    def define_tensor(self, *args: Any, **kwargs: Any) -> TensorView:
        """An input tensor: `(shape, contiguity, dtype, is_cpu, stride_order)` or `(sizes, strides, dtype, static_sizes, is_cpu)`.

        Sizes of -1 are known only when it runs. `contiguity` says for each axis, from the outermost of memory to the
        innermost, whether it follows on the next without a gap (None: of size 1, or expanded), or for all at once.
        """
        self._executable = None
        return self._builder.define_tensor(*args, **kwargs)

    def define_scalar(self, *args: Any, **kwargs: Any) -> Any:
        """A scalar: an input, `(dtype)` or `(None, dtype)`, or a constant, `(value, dtype=None)`."""
        self._executable = None
        return self._builder.define_scalar(*args, **kwargs)

    def define_vector(self, *args: Any, **kwargs: Any) -> List[Any]:
        """So many integer scalars, each an input; a list or tuple given to `execute` fills them. Or a list as it is."""
        self._executable = None
        return self._builder.define_vector(*args, **kwargs)

    def from_array(self, array: Any, static_sizes: bool = False) -> TensorView:
        """An input tensor like this array: its dtype, and sizes and strides as `define_tensor(sizes, strides)` takes them."""
        sizes, strides, dtype, is_cpu = _descriptor(array)
        return self.define_tensor(sizes=sizes, strides=strides, dtype=dtype, static_sizes=static_sizes, is_cpu=is_cpu)

    def from_pytorch(self, tensor: Any, static_sizes: bool = False) -> TensorView:
        """`from_array`, by the name that nvFuser has for it."""
        return self.from_array(tensor, static_sizes)

    def add_output(
        self,
        output: TensorView,
        alias_input: Optional[TensorView] = None,
        *,
        stride_order: Optional[Sequence[int]] = None,
    ) -> None:
        """Gives a tensor back; with `alias_input` writes it into the memory of that input instead.

        `stride_order`, from older definitions, is that of `ops.stride_order`: for each dimension its rank in memory, 0 innermost.
        """
        if alias_input is not None and stride_order is not None:
            raise ValueError("an output that is written to an input lies as that does: give alias_input or stride_order")
        self._executable = None
        self._builder.add_output(output, alias_input, None if stride_order is None else list(stride_order))

    # ---------------------------------------------------------------------------------------------------- run
    def execute(
        self,
        inputs: Sequence[Any],
        *,
        device: Any = None,
        save_repro_inputs: bool = False,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> List[Any]:
        """The outputs for these inputs: arrays of the kind that came in. Lists among the inputs are flattened one level.

        The first call compiles. `device` must be None or the CPU.
        """
        if device is not None and str(device) != "cpu":
            raise NotImplementedError(f"device must be None or 'cpu', but is {device!r}: GPUs are not run yet")
        if save_repro_inputs:
            self._inputs = inputs
        executable = self._executable
        if executable is None:
            executable = self._compile()
        return executable.run(_flat(inputs))

    def _compile(self) -> Any:
        ok, message = self.validate_definition()
        if not ok:
            raise NotImplementedError(message)
        self._executable = self._builder.compile()
        return self._executable

    def validate_definition(self) -> Tuple[bool, str]:
        """Whether there is something to run, and if not, why."""
        if self._builder.is_empty():
            return False, "Fusion is empty!"
        return True, "Fusion is valid!"

    # ---------------------------------------------------------------------------------------------------- ask
    @property
    def fusion(self) -> Fusion:
        """The definition as an object with structural equality."""
        return Fusion._of(self._builder)

    def explain(self, inputs: Optional[Sequence[Any]] = None) -> Explanation:
        """What the compiler decides, for the sizes of these inputs or for none in particular; runs nothing."""
        executable = self._executable or self._compile()
        return Explanation(*executable.explain(None if inputs is None else _flat(inputs)))

    def __repr__(self) -> str:
        """The definition as a function of `fd` that makes an equal one."""
        if self._builder.is_empty():
            return "def nvfuser_fusion(fd : FusionDefinition) -> None :\n    pass\n"
        return self._builder.text()

    def repro_script_for(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """A script that makes this definition and runs it on inputs like these."""
        from .reproducer import script

        return script(repr(self), inputs)

    def last_repro_script(self) -> str:
        """`repro_script_for` the inputs of the last `execute(..., save_repro_inputs=True)`."""
        if self._inputs is None:
            raise RuntimeError("no inputs are kept: call execute(..., save_repro_inputs=True) first")
        return self.repro_script_for(self._inputs)


def _flat(inputs: Sequence[Any]) -> List[Any]:
    if any(type(item) in (list, tuple) for item in inputs):
        nested = (item if type(item) in (list, tuple) else (item,) for item in inputs)
        return [item for items in nested for item in items]
    return inputs if type(inputs) is list else list(inputs)


def _descriptor(array: Any) -> Tuple[List[int], List[int], Any, bool]:
    sizes = [int(size) for size in array.shape]
    if callable(getattr(array, "stride", None)):
        strides = [int(stride) for stride in array.stride()]
    else:
        import numpy

        strides = [stride // array.dtype.itemsize for stride in numpy.asarray(array).strides]
    dtype = str(array.dtype).replace("torch.", "")
    for member in vars(DataType).values():
        if isinstance(member, DataType) and member.numpy_name == dtype:
            return sizes, strides, member, not sizes
    raise TypeError(f"arrays of dtype {dtype} are not supported")
