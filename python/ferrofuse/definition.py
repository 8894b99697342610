"""FusionDefinition: defines a fusion, compiles it on first use, runs it on arrays."""

from numbers import Integral
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _native, absent, caller, profiler, saving, tracebacks
from ._native import Builder, Chain, DefinitionError, Executable, GpuGraph, TensorView
from .array_types import describe
from .explanation import Explanation
from .fusion import Fusion, FusionExecutorCache, FusionGuard
from .group import Group
from .operations import Operations
from .options import check_options, library_without_arrays
from .output_type import OutputType
from .segments import NOT_SET_UP, ByHand, Cut, FoldLambda, Segment, segmentation_text


NO_DEFINITION = "Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion."


class FusionDefinition:
    """A fusion under construction; once it is defined, a function of arrays.

    Use it as a context manager; ops are `fd.ops.NAME(...)` or Python's operators on tensors. Attributes of your own may be
    set on it. What cannot be is rejected at once, by an exception that has the attributes `op`, `argument`, `expected`,
    `given` and `line` besides its message.
    """

    def __init__(self) -> None:
        self._fusion = Fusion()
        self._builder = self._fusion._builder
        self._exists = False  # from the first `with` on
        self._edits = 0
        self._cut: Optional[Cut] = None  # what `execute` runs through
        self._set_up: Optional[Cut] = None  # what `build_segment` is of
        self._segmentation: Optional[str] = None
        self._peak_memory: Optional[int] = None
        self._executable: Optional[Executable] = None
        self._fec: Optional[FusionExecutorCache] = None
        self.fake_inputs: Optional[List[Any]] = None
        self.ops = Operations(self._existing)
        self.sched = absent.sched

    @classmethod
    def _of(cls, builder: Builder) -> "FusionDefinition":
        definition = FusionDefinition()
        definition._fusion, definition._builder = Fusion._of(builder), builder
        definition._exists = True
        return definition

    def __enter__(self) -> "FusionDefinition":
        FusionGuard(self._fusion).__enter__()
        self._exists = True
        self._mark_edited()
        return self

    def _mark_edited(self) -> None:
        self._edits += 1
        self._executable = self._fec = None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        FusionGuard(self._fusion).__exit__(kind, error, trace)

    # --------------------------------------------------------------------------------------------------- keep
    def __copy__(self) -> "FusionDefinition":
        """A definition that goes on by itself from here. Values of this one do not belong to it."""
        if self.segments:
            return saving.of_text(saving.as_text(self))
        made = FusionDefinition._of(self._builder.copy())
        made._exists, made._peak_memory = self._exists, self._peak_memory
        return made

    def __deepcopy__(self, memo: Any) -> "FusionDefinition":
        return self.__copy__()

    def __reduce__(self) -> Tuple[Any, ...]:
        return (saving.of_text, (saving.as_text(self),)) if self._exists else (FusionDefinition, ())

    def save(self, path: saving.Path) -> None:
        """Writes it to a file, as text that the command line runs too, with its segments and their schedules.

        Raises:
            DefinitionError: for a definition without outputs, and for one whose segments were edited.
            OSError: where the file cannot be written; it is then as it was.
        """
        saving.save(self, path)

    @classmethod
    def load(cls, path: saving.Path) -> "FusionDefinition":
        """What `save` wrote.

        Raises:
            DefinitionError: for a file that is broken, or of a newer version of ferrofuse.
        """
        return saving.load(path)

    # ------------------------------------------------------------------------------------------------- define
    def define_tensor(self, *args: Any, **kwargs: Any) -> TensorView:
        """An input tensor: `(shape, contiguity, dtype, is_cpu, stride_order)` or `(sizes, strides, dtype, static_sizes, is_cpu)`.

        Args:
            shape: a list of sizes; -1 is one that is known only when it runs.
            contiguity: for each axis, from the outermost in memory to the innermost, whether it follows on the next without a
                gap (None: of size 1, or expanded), or one bool for all. Without it none does.
            dtype: a `DataType`, or a dtype of NumPy or torch; f32 without it.
            is_cpu: whether it is a number in memory of the host: a tensor without axes.
            stride_order: for each axis its rank in memory, 0 innermost.
            sizes, strides: those of an array; sizes are symbolic unless `static_sizes` is set or they are 1.

        Raises:
            DefinitionError: for an unknown argument or a value that does not fit, naming it; ArgumentError for a wrong type.
        """
        return self._builder_for_edit().define_tensor(*args, **kwargs)

    def define_scalar(self, *args: Any, **kwargs: Any) -> Any:
        """A scalar: an input, `(dtype)` or `(None, dtype)`, or a constant, `(value, dtype=None)`.

        Raises:
            DefinitionError: for a value that the dtype cannot hold.
        """
        return self._builder_for_edit().define_scalar(*args, **kwargs)

    def define_vector(self, *args: Any, **kwargs: Any) -> List[Any]:
        """`(size)`: a list of that many integer scalar inputs, which one list or tuple given to `execute` fills. A list of values
        is given back as it is.
        """
        return self._builder_for_edit().define_vector(*args, **kwargs)

    def from_array(self, array: Any, static_sizes: bool = False) -> TensorView:
        """An input tensor like this array of NumPy, torch, JAX or CuPy: its dtype, and sizes and strides as
        `define_tensor(sizes, strides)` takes them.

        Raises:
            TypeError: for what is no array, and a dtype that is not supported.
        """
        builder = self._builder_for_edit()
        sizes, strides, dtype = describe(array)
        # An axis that runs backward lies in memory as one that runs forward; which way it runs, a call's array tells.
        strides = [abs(stride) for stride in strides]
        return builder.define_tensor(
            sizes=sizes, strides=strides, dtype=dtype, static_sizes=static_sizes, is_cpu=not sizes
        )

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

        Raises:
            DefinitionError: for what is no tensor of this definition, and an alias of another dtype or shape.
            ValueError: for both `alias_input` and `stride_order`.
        """
        if alias_input is not None and stride_order is not None:
            raise ValueError("an output that is written to an input has its layout: give alias_input or stride_order")
        order = None if stride_order is None else list(stride_order)
        self._builder_for_edit().add_output(output, alias_input, order)

    def group(
        self, name: str, *, stay: bool = False, device: Optional[str] = None, stream: Optional[int] = None
    ) -> Group:
        """A group of what is defined in its block: `with fd.group("norm", stay=True):`. Groups nest.

        With `stay` one segment computes all of it, and nothing of it is computed again elsewhere, or the definition is rejected
        when it is first compiled. `device` is "cpu", "cuda" or "cuda:N", `stream` a number; a segment has one of each, which it
        keeps for a runtime to use: a call runs where its inputs are. A group is opened again by its name and the same arguments.

        Raises:
            DefinitionError: for a group that was opened otherwise, or a device inside of a group that stays on another.
        """
        builder = self._builder_for_edit()
        return Group(builder, caller.place(), name, stay=stay, device=device, stream=stream)

    def _builder_for_edit(self) -> Builder:
        """The builder, told the user's line. What was compiled is dropped."""
        self._mark_edited()
        builder = self._existing()
        builder.at(*caller.place())
        return builder

    def _existing(self) -> Builder:
        if not self._exists:
            raise NotImplementedError(NO_DEFINITION)
        return self._builder

    # ---------------------------------------------------------------------------------------------------- run
    @tracebacks.trims
    def execute(
        self,
        inputs: Sequence[Any],
        *,
        device: Any = None,
        save_repro_inputs: bool = False,
        like: Optional[str] = None,
        out: Optional[Sequence[Any]] = None,
        threads: Optional[int] = None,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> List[Any]:
        """The outputs for these inputs: arrays of the kind that came in. Lists among the inputs are flattened one level.

        `like` names the library that outputs are of, whatever comes in: "numpy", "torch", "jax" or "cupy". Where no array
        comes in and none is named they are NumPy's, or torch's where `device` is given or `ferrofuse.compat` is installed.

        `out` is a list of arrays, one for each output that is given back, which outputs are written to. Their dtypes, sizes and
        memory, which is no input's and no other output's, are checked before anything runs; it is they that are given back.
        Kernels write there at once where strides are those that `output_types` tells, else the output is copied there. `threads`
        is how many the call runs on; `ferrofuse.set_num_threads` says so for all.

        While a call runs, other threads must not resize an input or give it other memory (in torch `resize_`, `set_`,
        `x.data = ...`): the interpreter is free for them then, and the call reads the memory that the input came with.

        Arrays of a GPU (of torch, CuPy or JAX, `ferrofuse.GpuArray`, whatever has `__dlpack__` or `__cuda_array_interface__`) are
        computed with there, and outputs are there too. The call gives its work to the stream that the library is on and waits for
        nothing. With `device` "cuda" or "cuda:N" a call on numbers alone runs there, and one on arrays of the host too, with
        copies there and back.

        The first call compiles. Options are nvFuser's; they are checked, and change nothing here.

        Raises:
            InputError: for inputs that do not fit the definition, naming the input, what was expected and what is given.
            OutOfRangeError: for an index beyond its axis, with the op, its line, the index and the size.
            MemoryError: where the machine has too little.
            NotImplementedError: for a definition without outputs.
            ValueError, TypeError: for `out`, `like`, `threads` or `device` that do not fit.
        """
        try:
            if _enable_options or _disable_options:
                check_options(_enable_options, _disable_options)
            if save_repro_inputs:
                from .reproducer import without_memory

                self.fake_inputs = without_memory(inputs)
            if out is not None and like is not None:
                raise ValueError("outputs are the arrays of `out`: give out or like")
            executable = self._runnable()
            if profiler.active is not None:
                if out is not None or threads is not None:
                    raise NotImplementedError("a profiled call takes neither out nor threads")
                if self._cut is None:
                    return self.fec.execute(inputs, device=device, like=like)
                return profiler.active.run(executable, 0, inputs, like, library_without_arrays(device), device)
            return executable.run(inputs, like, library_without_arrays(device), out, threads, device)
        except Exception as error:
            tracebacks.trim(error)
            raise

    def output_types(self, inputs: Sequence[Any]) -> List[OutputType]:
        """What `execute` gives back for these inputs: sizes, dtype and strides of each output. Runs nothing.

        It compiles what the call needs, as layouts of outputs are among what the compiler decides. Strides are those of the
        whole definition; segments by hand may lay out what they make otherwise.

        Raises:
            InputError: as `execute`.
        """
        return [OutputType(*told) for told in self._compilable().output_types(inputs)]

    def manual_execute(self, inputs: Sequence[Any], heuristic_params: Any = None) -> List[Any]:
        """Not supported: schedules are not written in Python."""
        absent.reject_schedule("fd.manual_execute")

    def manual_validate(self, inputs: Sequence[Any], reference_outputs: Optional[Sequence[Any]] = None) -> List[Any]:
        """Not supported: schedules are not written in Python."""
        absent.reject_schedule("fd.manual_validate")

    def _runnable(self) -> Union[Executable, Chain]:
        return self._compilable() if self._cut is None else self._cut.chain()

    def _compilable(self) -> Executable:
        return self._executable or self._make_executable()

    def _make_executable(self) -> Executable:
        ok, message = self.validate_definition()
        if not ok:
            raise NotImplementedError(message)
        self._executable = self._builder.executable(self._peak_memory)
        return self._executable

    # ----------------------------------------------------------------------------------------------- segments
    def segment(self, inputs: Optional[Sequence[Any]] = None) -> List[Segment]:
        """Cuts it into segments, for the sizes of these inputs or for none in particular; from now on `execute` runs them.

        Gives them in the order they run. They are those of `segmentation`, where that is set.

        Raises:
            InputError: for inputs that do not fit.
        """
        self._cut = Cut(self, inputs, self._segmentation)
        return self.segments

    @property
    def lambdas(self) -> List[FoldLambda]:
        """The lambdas of its folds and scans, each with its body as a definition of its own.

        Raises:
            DefinitionError: for a definition that is not finished.
        """
        return [
            FoldLambda(op, outputs, init, self._of(builder)) for op, outputs, init, builder in _native.lambdas(self._builder)
        ]

    @property
    def segments(self) -> List[Segment]:
        """The segments that `execute` runs, in order; empty where it runs the whole."""
        return [] if self._cut is None else list(self._cut.segments)

    @property
    def segmentation(self) -> Optional[str]:
        """Which tensors each segment makes, by hand: a line `segment NAME -> TENSOR, TENSOR…` for each, as `ferrofuse emit
        --stage segments` prints it, or set as a list of lists of tensors or of their names. In any order; what else a segment
        computes follows. Set to None, `execute` runs the whole again.

        Raises:
            DefinitionError: for a name that is not there, an output that no segment makes, and segments that wait for each
                other. The segments are as they were then.
            TypeError: for what is no text and no list of lists.
            ValueError: while `peak_memory` is set, which limits the segments that the compiler finds.
        """
        return self._segmentation

    @segmentation.setter
    def segmentation(self, by_hand: Optional[ByHand]) -> None:
        if by_hand is not None and self._peak_memory is not None:
            raise ValueError("segmentation: fd.peak_memory limits the segments that the compiler finds: set it to None first")
        text = None if by_hand is None else segmentation_text(self._existing(), by_hand)
        self._cut = None if text is None else Cut(self, None, text)
        self._segmentation = text

    @property
    def peak_memory(self) -> Optional[int]:
        """The most bytes that may be in memory at a time of what segments make, at the sizes of the inputs; partial results of
        folds do not count. A plan or a call that finds no segments which need so little raises, with the fewest bytes that it
        found; calls of other sizes are planned anew. None, as it is at first: segments are as fast as they can be.

        Raises:
            TypeError: for anything but a number of bytes or None.
            ValueError: for one below zero, and while `execute` runs segments that were cut before.
        """
        return self._peak_memory

    @peak_memory.setter
    def peak_memory(self, limit: Optional[int]) -> None:
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Integral)):
            raise TypeError(f"peak_memory: expected a number of bytes or None, not {limit!r}")
        if limit is not None and not 0 <= limit < 2**64:
            raise ValueError(f"peak_memory: expected a number of bytes, not {limit}")
        if limit is not None and self._cut is not None:
            raise ValueError("peak_memory: execute runs segments that were cut before: set fd.segmentation = None first")
        self._peak_memory = None if limit is None else int(limit)
        self._executable = self._fec = None

    def setup_segmentation(self, inputs: Optional[Sequence[Any]] = None) -> int:
        """The first of three steps below `segment`: cuts it, and gives the number of segments."""
        self._set_up = Cut(self, inputs, self._segmentation)
        return len(self._set_up.segments)

    def build_segment(self, number: int) -> Tuple["FusionDefinition", Dict[int, int]]:
        """The second step: the definition of a segment, and the map of its values' numbers to those here.

        Raises:
            DefinitionError: before the first step, for a number past the last segment, and where the definition has
                changed since.
        """
        if self._set_up is None:
            raise DefinitionError(NOT_SET_UP)
        return self._set_up.build(number)

    def finalize_segmentation(self) -> None:
        """The last step: forgets what `setup_segmentation` made."""
        self._set_up = None

    setupSegmentation = setup_segmentation
    buildSegment = build_segment
    finalizeSegmentation = finalize_segmentation

    # -------------------------------------------------------------------------------------------------- check
    def validate_definition(self) -> Tuple[bool, str]:
        """Whether there is something to run, and if not, why."""
        if not self._exists:
            return False, NO_DEFINITION
        if self._builder.is_empty():
            return False, "Fusion is empty!"
        return True, "Fusion is valid!"

    def validate(
        self,
        inputs: Sequence[Any],
        reference_outputs: Optional[Sequence[Any]] = None,
        device: Any = None,
        like: Optional[str] = None,
        *,
        _enable_options: Sequence[str] = (),
        _disable_options: Sequence[str] = (),
    ) -> List[Any]:
        """Runs it and gives the outputs, having compared each with the evaluator's within the error bounds of the ops.

        With `reference_outputs` (arrays, one for each output) it compares with these too, within what their dtype can tell
        apart. Inputs are not written to. What is on a GPU is computed there, and compared on the host.

        Raises:
            AssertionError: naming the output, the first index that is wrong, what was expected and what is there.
        """
        from .validation import compare_with_references, require_matches

        check_options(_enable_options, _disable_options)
        outputs, compared = self._runnable().check(inputs, like, library_without_arrays(device), device)
        require_matches(compared)
        if reference_outputs is not None:
            compare_with_references(outputs, reference_outputs)
        return outputs

    # ---------------------------------------------------------------------------------------------------- ask
    @property
    def fusion(self) -> Fusion:
        """The definition as an object with structural equality."""
        return self._fusion if self._fec is None else self._fec.fusion()

    @property
    def fec(self) -> FusionExecutorCache:
        """What was compiled, once it was. May be set to what was compiled for an equal fusion.

        Raises:
            AttributeError: where nothing is compiled yet.
            TypeError: for what is no `FusionExecutorCache`.
        """
        if self._executable is None:
            raise AttributeError("nothing is compiled yet: call execute first")
        if self._fec is None:
            self._fec = FusionExecutorCache._of(self._fusion, self._executable)
        return self._fec

    @fec.setter
    def fec(self, fec: FusionExecutorCache) -> None:
        if not isinstance(fec, FusionExecutorCache):
            raise TypeError(f"fec must be a FusionExecutorCache, but is a {type(fec).__name__}")
        self._fec, self._executable = fec, fec._compilable()

    def explain(
        self,
        inputs: Optional[Sequence[Any]] = None,
        against: Union[None, str, Explanation, "FusionDefinition"] = None,
    ) -> Explanation:
        """What the compiler decides, for the sizes of these inputs or for none in particular; runs nothing.

        Where `segmentation` is set it is about that. Its text and its page compare it with `against`: the segmentation
        "greedy" or "unfused", another definition, or what `explain` gave before.

        Raises:
            TypeError: for an `against` of another kind.
            ValueError: for a word that is none of these.
        """
        executable = self._compilable()
        explained = executable.explain(inputs, self._segmentation)
        if against is None:
            return Explanation(*explained)
        if isinstance(against, str):
            other = (against, Explanation(*executable.explain(inputs, None, against)))
        elif isinstance(against, FusionDefinition):
            other = ("the other definition", against.explain(inputs))
        elif isinstance(against, Explanation):
            other = ("before", against)
        else:
            raise TypeError(f'against: expected "greedy", "unfused", a definition or an explanation, not {against!r}')
        return Explanation(*explained, other)

    def cuda_code(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """The kernels as CUDA C++, for the sizes of these inputs or for none in particular; of arrays of a GPU for that GPU.

        Raises:
            NotImplementedError: for a definition with kernels that have no CUDA text.
        """
        return self._compilable().emit("cuda", inputs)

    def capture(
        self, inputs: Sequence[Any], *, like: Any = None, out: Optional[Sequence[Any]] = None, device: Any = None
    ) -> GpuGraph:
        """Captures a call on arrays of a GPU as a CUDA graph: `replay()` computes `outputs` again, of what the inputs hold by
        then, in one launch for all kernels. Nothing runs yet; numbers are those of now.

        Args:
            inputs: as for `execute`: arrays of one GPU, numbers, and arrays of the host without axes.
            like: as for `execute`.
            out: arrays that the outputs are written to.
            device: the GPU of a call without arrays.

        Raises:
            ValueError: for inputs that do not fit, and for what cannot be replayed: calls that check indices, draw random
                numbers or leave work to the host, and arrays whose address is no multiple of 16 bytes.
        """
        executable = self._runnable()
        if isinstance(executable, Chain):
            raise NotImplementedError("a call through segments is not captured: capture the definition as a whole")
        if out is not None and like is not None:
            raise ValueError("outputs are the arrays of `out`: give out or like")
        return executable.capture(inputs, like, library_without_arrays(device), out, device)

    def to_svg(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """As `explain(inputs).to_svg()`."""
        return self.explain(inputs).to_svg()

    def to_html(self, inputs: Optional[Sequence[Any]] = None, title: str = "Segments") -> str:
        """As `explain(inputs).to_html(title)`."""
        return self.explain(inputs).to_html(title)

    def _repr_svg_(self) -> Optional[str]:
        return self.to_svg() if self.validate_definition()[0] else None

    def _repr_html_(self) -> Optional[str]:
        return self.explain()._repr_html_() if self.validate_definition()[0] else None

    def __repr__(self) -> str:
        """The definition as a function of `fd` that makes an equal one."""
        return self.fusion._text() or "def nvfuser_fusion(fd : FusionDefinition) -> None :\n    pass\n"

    def repro_script_for(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """A script that makes this definition and runs it on inputs like these."""
        from .reproducer import script

        return script(repr(self), inputs)

    def last_repro_script(self) -> str:
        """`repro_script_for` the inputs of the last `execute(..., save_repro_inputs=True)`."""
        if self.fake_inputs is None:
            raise AssertionError("no inputs are kept: call execute(..., save_repro_inputs=True) first")
        return self.repro_script_for(self.fake_inputs)
