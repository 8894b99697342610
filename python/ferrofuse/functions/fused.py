"""`@ferrofuse.fuse`: a function of arrays that is traced when it is first called and runs fused from then on."""

import functools
import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Sequence, Tuple, TypeVar

from .. import tracebacks
from .._native import Dispatcher, TensorView, Val, kinds
from ..definition import FusionDefinition
from ..errors import error_in
from ..explanation import Explanation
from .tracing import Traced, trace

Result = TypeVar("Result")

# The definitions that are kept for different kinds of arguments. With one more, the oldest is dropped.
MAX_TRACED = 64


class Fused(Dispatcher, Generic[Result]):
    """A function of arrays, traced once for each combination of libraries, ranks and dtypes. Sizes stay symbolic.

    It is also traced anew where other axes have size 1, as those are broadcast. Floats are inputs too. Other arguments, such
    as an axis or a flag, are constants: the function is traced for each of their values.
    """

    def __init__(self, function: Callable[..., Result]) -> None:
        if not hasattr(function, "__code__"):
            raise TypeError(f"ferrofuse.fuse takes a function written in Python, got {function!r}")
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)
        self._names = list(self._signature.parameters)
        # The default of each parameter, or `Parameter.empty`, for which nothing is ever traced.
        defaults = tuple(each.default for each in self._signature.parameters.values())
        passed = [parameter.kind for parameter in self._signature.parameters.values()]
        self._positional = len(passed) - passed.count(inspect.Parameter.KEYWORD_ONLY)
        if {*passed} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            raise error_in(function, "a fused function must have named parameters, not *args or **kwargs")
        self._traced: Dict[Tuple[Any, ...], Traced] = {}
        super().__init__(self._traced, defaults, self._positional)

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **kwargs: Any) -> Result: ...

    def _call(self, *args: Any, **kwargs: Any) -> Result:
        """Calls of the function that the dispatcher has nothing for."""
        try:
            arguments = self._arguments(args, kwargs)
            if any(isinstance(argument, (TensorView, Val)) for argument in arguments):  # within another fused function
                return self._function(*args, **kwargs)
            made: Result = self._trace(arguments).call(arguments)
            return made
        except Exception as error:
            tracebacks.trim(error)
            raise

    def definition(self, *args: Any, **kwargs: Any) -> FusionDefinition:
        """The definition that calls with such arguments run; without arguments, the only one that was traced."""
        if not args and not kwargs and self._names:
            if len(self._traced) != 1:
                raise error_in(self._function, f"{len(self._traced)} definitions were traced: give arguments to say which")
            return next(iter(self._traced.values())).definition
        return self._trace(self._arguments(args, kwargs)).definition

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """The compiler's decisions for these arguments. Runs nothing."""
        arguments = self._arguments(args, kwargs)
        traced = self._trace(arguments)
        return traced.definition.explain(traced.inputs_among(arguments))

    def lower(self, *args: Any, stage: str = "kernel", **kwargs: Any) -> str:
        """The text of a stage of the compiler for these arguments, as `ferrofuse emit --stage` prints it."""
        arguments = self._arguments(args, kwargs)
        traced = self._trace(arguments)
        return traced.definition._compilable().emit(stage, traced.inputs_among(arguments))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __reduce__(self) -> str:
        # The name by which `pickle` finds it in its module, as it finds the function itself.
        name: str = self._function.__qualname__
        return name

    def __repr__(self) -> str:
        return f"<fused {self._function.__qualname__}{self._signature}>"

    def _arguments(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _trace(self, arguments: Tuple[Any, ...]) -> Traced:
        key = kinds(arguments)
        try:
            traced = self._traced.get(key)
        except TypeError:
            raise self._unhashable(arguments) from None
        if traced is None:
            traced = trace(self._function, self._names, self._positional, arguments)
            if len(self._traced) >= MAX_TRACED:
                self._traced.pop(next(iter(self._traced)))
            self._traced[key] = traced
        return traced

    def _unhashable(self, arguments: Tuple[Any, ...]) -> Exception:
        """The error about the first argument that is neither an array nor usable as a constant."""
        named = zip(self._names, arguments)
        name, argument = next(each for each in named if not _is_hashable(kinds(each[1:])))
        message = f"argument `{name}`: expected an array, a float or a constant, got {type(argument).__name__}"
        return error_in(self._function, message)


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def fuse(function: Callable[..., Result]) -> Fused[Result]:
    """Makes a function of arrays run fused: `@ferrofuse.fuse`.

    For each combination of ranks and dtypes the function runs once, on tensors of a definition; from then on the definition
    runs. Arrays are of NumPy, torch, JAX or CuPy, and so are the results. A branch on a value, a change of a list outside of
    the function, and arrays of several libraries are errors, which name the line.
    """
    return Fused(function)
