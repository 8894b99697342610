"""`FusionDefinition`: defines a fusion, compiles it on first use, and runs it on arrays."""

from numbers import Integral
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _native, caller, saving, tracebacks
from ._native import Builder, Chain, DefinitionError, Executable, GpuGraph, TensorView
from .arrays.array_types import describe
from .errors import argument_error
from .explanation import Explanation
from .group import Group
from .nvfuser import absent, profiler
from .nvfuser.fusion import Fusion, FusionExecutorCache, FusionGuard
from .nvfuser.options import check_options
from .operations import Operations
from .output_type import OutputType
from .segments import NOT_SET_UP, ByHand, Cut, FoldLambda, Segment, named, segmentation_text


NO_DEFINITION = "Fusion does not exist! Use `with FusionDefinition() as fd: ...` to define a fusion."


class FusionDefinition:
    """A fusion that is defined in a `with` block, and then runs on arrays.

    Ops are `fd.ops.NAME(...)` or Python's operators on tensors. An invalid call raises at once, an exception with the
    attributes `op`, `argument`, `expected`, `given` and `line`. Attributes of your own may be set on a definition.
    """

    def __init__(self) -> None:
        self._fusion = Fusion()
        self._builder = self._fusion._builder
        self._exists = False  # from the first `with` on
        self._versions = 0
        self._seen: Optional[str] = None  # the text of the latest version, known from the first edit on
        self._is_touched = False  # whether the text may differ from it
        self._cut: Optional[Cut] = None  # the segments that `execute` runs, if any
        self._set_up: Optional[Cut] = None  # the segments that `build_segment` returns
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
        if self._seen is None:
            self._seen = self._fusion._text()
        self._is_touched = True
        self._executable = self._fec = None

    def _version(self) -> int:
        """A number that differs once its text differs. Rejected calls and empty `with` blocks change nothing."""
        if self._is_touched:
            text = self._fusion._text()
            self._versions += text != self._seen
            self._seen, self._is_touched = text, False
        return self._versions

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        FusionGuard(self._fusion).__exit__(kind, error, trace)

    # --------------------------------------------------------------------------------------------------- keep
    def __copy__(self) -> "FusionDefinition":
        """An independent copy. Tensors of this definition do not belong to it."""
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
            DefinitionError: for a definition without outputs, for one that has changed since it was cut into segments, and
                for one whose segments were edited.
            OSError: if the file cannot be written. It is then unchanged.
        """
        saving.save(self, path)

    @classmethod
    def load(cls, path: saving.Path) -> "FusionDefinition":
        """The definition in a file: one that `save` wrote, or any definition file that the command line runs.

        Of the latter it takes the definition alone, without the inputs and calls behind it.

        Raises:
            DefinitionError: for a file that is broken, or of a newer version of ferrofuse.
        """
        return saving.load(path)

    # ------------------------------------------------------------------------------------------------- define
    def define_tensor(self, *args: Any, **kwargs: Any) -> TensorView:
        """An input tensor: `(shape, contiguity, dtype, is_cpu, stride_order)` or `(sizes, strides, dtype, static_sizes, is_cpu)`.

        Args:
            shape: a list of sizes; -1 stands for any size.
            contiguity: for each axis, from the outermost in memory to the innermost, whether there is no gap between it and the
                next one (None: it has size 1, or is expanded), or one bool for all. The default is False.
            dtype: a `DataType`, or a dtype of NumPy or torch. The default is f32.
            is_cpu: whether it is a tensor without axes in memory of the host.
            stride_order: for each axis its rank in memory, 0 innermost.
            sizes, strides: those of an array. Sizes are symbolic unless `static_sizes` is set or they are 1.

        Raises:
            DefinitionError: for an unknown argument or an invalid value.
            ArgumentError: for an argument of a wrong type.
        """
        return self._builder_for_edit().define_tensor(*args, **kwargs)

    def define_scalar(self, *args: Any, **kwargs: Any) -> Any:
        """A scalar: an input, `(dtype)` or `(None, dtype)`, or a constant, `(value, dtype=None)`.

        Raises:
            DefinitionError: for a value that the dtype cannot hold.
        """
        return self._builder_for_edit().define_scalar(*args, **kwargs)

    def define_vector(self, *args: Any, **kwargs: Any) -> List[Any]:
        """A list of `size` integer scalar inputs, for which `execute` takes one list or tuple. A list of values is returned as is.
        """
        return self._builder_for_edit().define_vector(*args, **kwargs)

    def from_array(self, array: Any, static_sizes: bool = False) -> TensorView:
        """An input tensor like this array of NumPy, torch, JAX or CuPy: its dtype, and sizes and strides as
        `define_tensor(sizes, strides)` takes them.

        Raises:
            TypeError: for an object that is not an array, and for a dtype that is not supported.
        """
        builder = self._builder_for_edit()
        sizes, strides, dtype = describe(array)
        # Calls take axes in either direction.
        strides = [abs(stride) for stride in strides]
        return builder.define_tensor(
            sizes=sizes, strides=strides, dtype=dtype, static_sizes=static_sizes, is_cpu=not sizes
        )

    def from_pytorch(self, tensor: Any, static_sizes: bool = False) -> TensorView:
        """`from_array`, by nvFuser's name."""
        return self.from_array(tensor, static_sizes)

    def add_output(
        self,
        output: TensorView,
        alias_input: Optional[TensorView] = None,
        *,
        stride_order: Optional[Sequence[int]] = None,
    ) -> None:
        """Makes a tensor an output that `execute` returns. With `alias_input` it is written to the memory of that input instead.

        `stride_order`, of older definitions, is as in `ops.stride_order`: for each axis its rank in memory, 0 innermost.

        Raises:
            DefinitionError: for an object that is not a tensor of this definition, and for an alias of another dtype or shape.
            ValueError: for both `alias_input` and `stride_order`.
        """
        if alias_input is not None and stride_order is not None:
            raise ValueError("an output that is written to an input has its layout: give alias_input or stride_order, not both")
        order = None if stride_order is None else list(stride_order)
        self._builder_for_edit().add_output(output, alias_input, order)

    def group(
        self, name: str, *, stay: bool = False, device: Optional[str] = None, stream: Optional[int] = None
    ) -> Group:
        """A group of the ops that a block defines: `with fd.group("norm", stay=True):`. Groups nest.

        With `stay` one segment computes all of the group, and no other segment any of it. If that is impossible, the first
        compilation raises. `device` ("cpu", "cuda" or "cuda:N") and `stream` (a number) are kept in the segments, for other
        runtimes: a call runs where its inputs are. The same name and arguments open a group again.

        Raises:
            DefinitionError: for other arguments than the group was opened with before, and for a device other than that of a
                group around it that stays in one segment.
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
        """The outputs for these inputs, as arrays of the inputs' library. The first call compiles.

        The call releases the interpreter while it runs. Until it returns, other threads must not resize an input or give it
        other memory (in torch `resize_`, `set_`, `x.data = ...`).

        Arrays of a GPU (of torch, CuPy or JAX, `ferrofuse.GpuArray`, and others with `__dlpack__` or
        `__cuda_array_interface__`) are computed with there, and outputs are there too. The call launches its kernels on the
        current stream of the library and does not wait for them.

        Args:
            inputs: arrays and numbers. Lists and tuples among them are flattened one level.
            device: "cuda" or "cuda:N": where a call without arrays runs, and one on arrays of the host, with copies there and
                back.
            save_repro_inputs: keeps the types of the inputs for `last_repro_script`.
            like: the library of the outputs: "numpy", "torch", "jax" or "cupy". The default is that of the inputs. Outputs of
                calls without arrays are NumPy's, or torch's if `device` is given or `ferrofuse.compat` is installed.
            out: arrays to write the outputs to, one for each output; they are returned. Their dtypes and sizes are checked
                before anything runs, and that they share no memory with inputs or each other. If their strides are not those of
                `output_types`, outputs are copied to them.
            threads: how many threads the call runs on; `ferrofuse.set_num_threads` sets it for all calls.
            _enable_options, _disable_options: options of nvFuser. Their names are checked; they have no effect.

        Raises:
            InputError: for inputs that do not fit the definition. It says which input, what was expected and what is given.
            OutOfRangeError: for an index beyond its axis, with the op, its line, the index and the size.
            MemoryError: if there is not enough memory.
            NotImplementedError: for a definition without outputs.
            ValueError, TypeError: for invalid `out`, `like`, `threads` or `device`.
        """
        try:
            if _enable_options or _disable_options:
                check_options(_enable_options, _disable_options)
            if save_repro_inputs:
                from .nvfuser.reproducer import without_memory

                self.fake_inputs = without_memory(inputs)
            if out is not None:
                _reject_both(out, like)
            executable: Union[None, Executable, Chain] = self._executable
            if executable is None or self._cut is not None:
                executable = self._runnable(inputs)
            active = profiler.active()
            if active is not None:
                if out is not None or threads is not None:
                    raise NotImplementedError("out and threads are not supported in the `with` block of a PythonProfiler")
                if self._cut is None:
                    return self.fec.execute(inputs, device=device, like=like)
                return active.run(executable, 0, inputs, like, device)
            return executable.run(inputs, like, out, threads, device)
        except Exception as error:
            tracebacks.trim(error)
            raise

    def output_types(self, inputs: Sequence[Any]) -> List[OutputType]:
        """The sizes, dtype and strides of what `execute` returns for these inputs. Runs nothing.

        It compiles the definition, because the compiler decides the layouts of outputs. Strides are those of the whole
        definition; segments by hand may have outputs of other strides.

        Raises:
            InputError: as `execute` does.
        """
        return [OutputType(*each) for each in self._compilable().output_types(inputs)]

    def manual_execute(self, inputs: Sequence[Any], heuristic_params: Any = None) -> List[Any]:
        """Not supported: schedules are not written in Python."""
        absent.reject_schedule("fd.manual_execute")

    def manual_validate(self, inputs: Sequence[Any], reference_outputs: Optional[Sequence[Any]] = None) -> List[Any]:
        """Not supported: schedules are not written in Python."""
        absent.reject_schedule("fd.manual_validate")

    def _runnable(self, inputs: Sequence[Any]) -> Union[Executable, Chain]:
        if self._cut is None:
            return self._compilable()
        chain = self._cut.chain()
        if self._peak_memory is not None:
            chain.require_within_limit(self._compilable(), self._cut.text(), inputs)
        return chain

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
        """Cuts it into segments, for the sizes of these inputs or for any sizes. From now on `execute` runs them.

        Returns them in the order they run. They are those of `segmentation` if that is set.

        Raises:
            InputError: for inputs that do not fit.
        """
        self._cut = Cut(self, inputs, self._segmentation)
        return self.segments

    @property
    def lambdas(self) -> List[FoldLambda]:
        """The lambdas of its folds and scans, each with its body as a definition.

        Raises:
            DefinitionError: for a definition that is not finished.
        """
        return [
            FoldLambda(op, outputs, init, self._of(builder)) for op, outputs, init, builder in _native.lambdas(self._builder)
        ]

    @property
    def segments(self) -> List[Segment]:
        """The segments that `execute` runs, in order. Empty if it runs the whole definition."""
        return [] if self._cut is None else list(self._cut.segments)

    @property
    def segmentation(self) -> Optional[str]:
        """The segments by hand: the tensors that each of them makes. What else a segment computes follows from these.

        It is text with a line `segment NAME -> TENSOR, TENSOR…` for each segment, as `ferrofuse emit --stage segments` prints
        it. It can also be set to a list of lists of tensors or their names, in any order, and to None: then `execute` runs the
        whole definition again.

        Raises:
            DefinitionError: for an unknown name, an output that no segment makes, and segments that depend on each other in a
                cycle. The segments are then unchanged.
            TypeError: for a value that is neither text nor a list of lists.
            ValueError: while `peak_memory` is set, which limits the segments that the compiler finds.
        """
        return self._segmentation

    @segmentation.setter
    def segmentation(self, by_hand: Optional[ByHand]) -> None:
        if by_hand is not None and self._peak_memory is not None:
            raise ValueError("segmentation: fd.peak_memory limits the segments that the compiler finds: set it to None first")
        self._cut_by_hand(by_hand)

    def _cut_by_hand(self, by_hand: Optional[ByHand]) -> None:
        given = None if by_hand is None else named(self._existing(), by_hand)
        self._cut = None if given is None else Cut(self, None, given)
        self._segmentation = None if given is None else segmentation_text(given)

    @property
    def peak_memory(self) -> Optional[int]:
        """The most bytes that the results of segments may take at a time, at the sizes of the inputs. None, the default, is no
        limit.

        Partial results of folds do not count. If the compiler finds no segments that need so few bytes, a plan or a call
        raises, with the fewest bytes that it found. Calls of other sizes are planned anew. Once `segment` has cut the
        definition, its segments stay the same, and a call at whose sizes they need more raises, with the bytes that they need.

        Raises:
            TypeError: for anything but an integer or None.
            ValueError: for a negative number, and while `execute` runs segments that were cut before.
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
        """The first of nvFuser's three steps: cuts it into segments, and returns their number. `execute` does not run these."""
        self._set_up = Cut(self, inputs, self._segmentation)
        return len(self._set_up.segments)

    def build_segment(self, number: int) -> Tuple["FusionDefinition", Dict[int, int]]:
        """The second step: the definition of a segment, and the map of its values' numbers to those of this definition.

        Raises:
            DefinitionError: before the first step, for the number of no segment, and if the definition has changed since.
            TypeError: for anything but an integer.
        """
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise TypeError(f"build_segment: expected the number of a segment, not {number!r}")
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
        """Whether the definition can run, and a message that says why."""
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
        """Runs it, compares each output with the evaluator's within the error bounds of the ops, and returns the outputs.

        It compares with `reference_outputs` (arrays, one for each output) too, within a tolerance of their dtype. Inputs are
        not written to. Arrays of a GPU are computed with there, and compared on the host.

        Raises:
            AssertionError: for a wrong output. It names the first wrong index, what was expected and what was computed.
        """
        from .validation import compare_with_references, require_matches

        check_options(_enable_options, _disable_options)
        outputs, compared = self._runnable(inputs).check(inputs, like, device)
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
        """The cache with what was compiled. May be set to that of an equal fusion.

        Raises:
            ArgumentError: for that of another fusion.
            AttributeError: if nothing is compiled yet.
            TypeError: for a value that is not a `FusionExecutorCache`.
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
        if fec.fusion() != self.fusion:
            raise argument_error("fec must be the cache of an equal fusion, but is that of another definition")
        self._fec, self._executable = fec, fec._compilable()

    def explain(
        self,
        inputs: Optional[Sequence[Any]] = None,
        against: Union[None, str, Explanation, "FusionDefinition"] = None,
    ) -> Explanation:
        """What the compiler decides for a call on these inputs, or for any sizes. Runs nothing.

        Calls of one order of magnitude share a plan: `decided_for` of `to_dict()` has its sizes if they differ.

        Once it is cut into segments it explains these, with their schedules and definitions by hand: values that only such
        a definition has are named after the segment, as `seg0.tv2`. Without libLLVM each segment has the reason why the
        evaluator runs it. Text and page compare with `against`: the segmentation "greedy" or
        "unfused", another definition, or an earlier explanation.

        Raises:
            TypeError: for an `against` of another type.
            ValueError: for another word.
            DefinitionError: for one that has changed since it was cut.
        """
        executable = self._compilable()
        explained = executable.explain(inputs) if self._cut is None else self._cut.explain(inputs)
        if against is None:
            return Explanation(explained)
        if isinstance(against, str):
            other = (against, Explanation(executable.explain(inputs, against)))
        elif isinstance(against, FusionDefinition):
            other = ("the other definition", against.explain(inputs))
        elif isinstance(against, Explanation):
            other = ("before", against)
        else:
            raise TypeError(f'against: expected "greedy", "unfused", a definition or an explanation, not {against!r}')
        return Explanation(explained, other)

    def cuda_code(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """The kernels as CUDA C++, for a call on these inputs or for any sizes; for arrays of a GPU, for that GPU.

        Raises:
            NotImplementedError: for a definition with an op that no CUDA kernel computes.
        """
        return self._compilable().emit("cuda", inputs)

    def capture(
        self, inputs: Sequence[Any], *, like: Any = None, out: Optional[Sequence[Any]] = None, device: Any = None
    ) -> GpuGraph:
        """Captures a call on arrays of a GPU as a CUDA graph. Nothing runs yet.

        `replay()` of the graph launches all kernels at once. It reads what the input arrays hold by then, and writes to the
        same `outputs` each time. Numbers among the inputs are fixed.

        Args:
            inputs: as for `execute`: arrays of one GPU, numbers, and arrays of the host without axes.
            like: as for `execute`.
            out: arrays that the outputs are written to.
            device: the GPU of a call without arrays.

        Raises:
            ValueError: for inputs that do not fit, for calls that draw random numbers or need the host, and for
                arrays whose address is not a multiple of 16 bytes.
        """
        executable = self._runnable(inputs)
        if isinstance(executable, Chain):
            raise NotImplementedError("a call that runs fd.segments cannot be captured: set fd.segmentation = None first")
        _reject_both(out, like)
        return executable.capture(inputs, like, out, device)

    def to_svg(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """The same as `explain(inputs).to_svg()`."""
        return self.explain(inputs).to_svg()

    def to_html(self, inputs: Optional[Sequence[Any]] = None, title: str = "Segments") -> str:
        """The same as `explain(inputs).to_html(title)`."""
        return self.explain(inputs).to_html(title)

    def _repr_svg_(self) -> Optional[str]:
        return self.to_svg() if self.validate_definition()[0] else None

    def _repr_html_(self) -> Optional[str]:
        return self.explain()._repr_html_() if self.validate_definition()[0] else None

    def __repr__(self) -> str:
        """The definition as the text of a function of `fd` that makes an equal one."""
        text = self.fusion._text() or self._builder.text(False)
        return text if text.count("\n") > 1 else f"{text}    pass\n"

    def repro_script_for(self, inputs: Optional[Sequence[Any]] = None) -> str:
        """A script that makes this definition and runs it on inputs like these."""
        from .nvfuser.reproducer import script

        return script(repr(self), inputs)

    def last_repro_script(self) -> str:
        """`repro_script_for` with the inputs of the last `execute(..., save_repro_inputs=True)`."""
        if self.fake_inputs is None:
            raise AssertionError("no inputs are kept: call execute(..., save_repro_inputs=True) first")
        return self.repro_script_for(self.fake_inputs)


def _reject_both(out: Optional[Sequence[Any]], like: Any) -> None:
    if out is not None and like is not None:
        raise ValueError("outputs are the arrays of `out`: give out or like, not both")
