"""`@ferrofuse.fuse`: a function of arrays that is traced when it is first called, and runs fused."""

import functools
import inspect
from typing import Any, Callable, Dict, Generic, Sequence, Tuple, TypeVar

from . import tracebacks
from ._native import TensorView, Val
from .definition import FusionDefinition
from .errors import error_in
from .explanation import Explanation
from .tracing import Traced, trace

Result = TypeVar("Result")

# The number of kinds of arguments that are cached; beyond these the one traced first is dropped.
MOST_TRACED = 64


class Fused(Generic[Result]):
    """A function of arrays, traced once for each combination of libraries, ranks and dtypes; sizes stay symbolic.

    Axes of size 1 are told apart, as they are broadcast. Floats are inputs too; other arguments, such as an axis or a flag,
    are constants, and the function is traced for each of their values.
    """

    def __init__(self, function: Callable[..., Result]) -> None:
        if not hasattr(function, "__code__"):
            raise TypeError(f"ferrofuse.fuse takes a function written in Python, got {function!r}")
        functools.update_wrapper(self, function)
        self._function = function
        self._signature = inspect.signature(function)
        self._names = list(self._signature.parameters)
        # For each parameter its default; the value is unused for parameters before the first default, as calls give those.
        self._defaults = tuple(each.default for each in self._signature.parameters.values())
        kinds = [parameter.kind for parameter in self._signature.parameters.values()]
        self._positional = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
        if {*kinds} & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
            raise error_in(function, "a fused function has named parameters, not *args or **kwargs")
        self._traced: Dict[Tuple[Any, ...], Traced] = {}

    @tracebacks.trims
    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        try:
            if not kwargs and len(args) <= self._positional:
                whole = args + self._defaults[len(args) :]
                try:
                    traced = self._traced[tuple([_kind(argument) for argument in whole])]
                except (KeyError, TypeError):  # not traced yet, or not a key
                    pass
                else:
                    inputs = whole if traced.inputs is None else traced.given(whole)
                    result: Result = traced.rebuild(traced.definition.execute(inputs))
                    return result
            arguments = self._arguments(args, kwargs)
            if any(isinstance(argument, (TensorView, Val)) for argument in arguments):  # within another fused function
                return self._function(*args, **kwargs)
            made: Result = self._of(arguments).call(arguments)
            return made
        except Exception as error:
            tracebacks.trim(error)
            raise

    def definition(self, *args: Any, **kwargs: Any) -> FusionDefinition:
        """The definition for arguments of these kinds; without arguments, the only one that was traced."""
        if not args and not kwargs and self._names:
            if len(self._traced) != 1:
                raise error_in(self._function, f"{len(self._traced)} definitions were traced: give arguments to say which")
            return next(iter(self._traced.values())).definition
        return self._of(self._arguments(args, kwargs)).definition

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """The compiler's decisions for these arguments; runs nothing."""
        arguments = self._arguments(args, kwargs)
        traced = self._of(arguments)
        return traced.definition.explain(traced.given(arguments))

    def lower(self, *args: Any, stage: str = "kernel", **kwargs: Any) -> str:
        """The text of a stage of the compiler for these arguments, as `ferrofuse emit --stage` prints it."""
        arguments = self._arguments(args, kwargs)
        traced = self._of(arguments)
        return traced.definition._compilable().emit(stage, traced.given(arguments))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<fused {self._function.__qualname__}{self._signature}>"

    def _arguments(self, args: Sequence[Any], kwargs: Dict[str, Any]) -> Tuple[Any, ...]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _of(self, arguments: Tuple[Any, ...]) -> Traced:
        key = tuple([_kind(argument) for argument in arguments])
        for name, kind in zip(self._names, key):
            self._require_hashable(name, kind)
        traced = self._traced.get(key)
        if traced is None:
            traced = trace(self._function, self._names, self._positional, arguments)
            if len(self._traced) >= MOST_TRACED:
                self._traced.pop(next(iter(self._traced)))
            self._traced[key] = traced
        return traced

    def _require_hashable(self, name: str, kind: Tuple[Any, ...]) -> None:
        try:
            hash(kind)
        except TypeError:
            message = f"argument `{name}`: expected an array, a float or a constant, got {kind[0].__name__}"
            raise error_in(self._function, message) from None


def _kind(argument: Any) -> Tuple[Any, ...]:
    """The key of an argument for tracing: for an array everything but its elements and sizes, for a constant its value."""
    try:
        shape, dtype = argument.shape, argument.dtype
    except AttributeError:
        return (float,) if type(argument) is float else _constant(argument)
    ones = tuple([size == 1 for size in shape]) if 1 in shape else None
    return argument.__class__, dtype, len(shape), ones


def _constant(value: Any) -> Tuple[Any, ...]:
    """A constant with its type, as 1, 1.0 and True are equal; for floats also the sign of zero."""
    if isinstance(value, (tuple, frozenset)):
        parts = map(_constant, value)
        return type(value), tuple(parts) if isinstance(value, tuple) else frozenset(parts)
    return type(value), repr(value) if isinstance(value, (float, complex)) else value


def fuse(function: Callable[..., Result]) -> Fused[Result]:
    """Has a function of arrays run fused: `@ferrofuse.fuse`.

    It runs once on tensors of a definition, for each combination of ranks and dtypes; after that the definition runs.
    Arrays are of NumPy, torch, JAX or CuPy, and so are the results. A branch on a value, a change of a list from outside
    the function, and arrays of several libraries are rejected, with the line.
    """
    return Fused(function)
