"""Traces a function of arrays: runs it once on tensors of a definition, and rejects side effects."""

import copy
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .. import tracebacks
from .._native import DataType, TensorView, Val
from ..arrays.array_types import dtype_of, is_array
from ..arrays.operands import rounding
from ..definition import FusionDefinition
from ..errors import error_in
from .side_effects import OuterNames


_RESULTS = "it must return a tensor, or a tuple, list or dict of tensors"


class Traced(NamedTuple):
    """A function traced for arguments of some kinds."""

    definition: FusionDefinition
    """What the function computes."""
    inputs: Optional[List[int]]
    """The indices of the arguments that are inputs; None if all are."""
    rebuild: Callable[[List[Any]], Any]
    """Makes the function's result from the outputs."""

    def inputs_among(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """The inputs among the arguments."""
        return arguments if self.inputs is None else [arguments[place] for place in self.inputs]

    def call(self, arguments: Sequence[Any]) -> Any:
        """The function's result."""
        try:
            inputs = arguments if self.inputs is None else self.inputs_among(arguments)
            return self.rebuild(self.definition.execute(inputs))
        except Exception as error:
            tracebacks.trim(error)
            raise


def trace(function: Callable[..., Any], names: Sequence[str], positional: int, arguments: Sequence[Any]) -> Traced:
    """Runs a function on tensors in place of arrays, and on scalars in place of floats. The first `positional` of its
    parameters are positional, the others take keywords.

    Raises:
        ArgumentError: for arguments and results of other kinds, and for side effects.
    """
    _require_one_library(function, names, arguments)
    outer = OuterNames(function)
    with FusionDefinition() as fd:
        values = [_value(fd, function, name, argument) for name, argument in zip(names, arguments)]
        with rounding():
            result = function(*values[:positional], **dict(zip(names[positional:], values[positional:])))
        _require_no_effect(function, outer)
        outputs, rebuild = _outputs(function, result)
        for output in outputs:
            fd.add_output(output)
    inputs = [place for place, argument in enumerate(arguments) if is_array(argument) or type(argument) is float]
    return Traced(fd, None if len(inputs) == len(arguments) else inputs, rebuild)


def _value(fd: FusionDefinition, function: Callable[..., Any], name: str, argument: Any) -> Any:
    if type(argument) is float:
        value: Any = fd.define_scalar(DataType.Double)
    elif is_array(argument):
        try:
            dtype = dtype_of(argument.dtype)
        except TypeError as error:
            raise error_in(function, f"argument `{name}`: {error}") from None
        sizes = [1 if size == 1 else -1 for size in argument.shape]
        value = fd.define_tensor(shape=sizes, contiguity=True, dtype=dtype)
    else:
        return argument
    fd._builder.name(value, name)
    return value


def _require_one_library(function: Callable[..., Any], names: Sequence[str], arguments: Sequence[Any]) -> None:
    libraries: Dict[str, str] = {}
    for name, argument in zip(names, arguments):
        if is_array(argument):
            libraries.setdefault(type(argument).__module__.split(".")[0].replace("jaxlib", "jax"), name)
    if len(libraries) > 1:
        given = ", ".join(f"`{name}` of {library}" for library, name in libraries.items())
        raise error_in(function, f"all arrays must be of one library, but are {given}: convert the others")


def _require_no_effect(function: Callable[..., Any], outer: OuterNames) -> None:
    name = outer.changed()
    if name is not None:
        message = (
            f"it changes `{name}`, which is defined outside of it: the function runs once for many calls, on tensors "
            "without elements; return the value instead"
        )
        raise error_in(function, message, outer.line_of(name))


def _outputs(function: Callable[..., Any], result: Any) -> Tuple[List[TensorView], Callable[[List[Any]], Any]]:
    """The tensors in a result, and a function that makes such a result of arrays."""
    items: List[Any]
    rebuild: Callable[[List[Any]], Any]
    if isinstance(result, TensorView):
        return [result], lambda arrays: arrays[0]
    if isinstance(result, dict):
        items, rebuild = list(result.values()), _dict_like(result)
    elif isinstance(result, (tuple, list)):
        items, rebuild = list(result), getattr(type(result), "_make", type(result))  # `_make` of named tuples
    else:
        kind = "a scalar" if isinstance(result, Val) else type(result).__name__
        raise error_in(function, f"{_RESULTS}, but returns {kind}")
    for place, item in enumerate(items):
        if not isinstance(item, TensorView):
            raise error_in(function, f"{_RESULTS}, but result {place} is {type(item).__name__}")
    if not items:
        raise error_in(function, f"{_RESULTS}, but returns none")
    return items, rebuild


def _dict_like(result: Dict[Any, Any]) -> Callable[[List[Any]], Any]:
    """A function that makes such a dict, of the same class, of arrays."""
    keys = list(result)

    def rebuild(arrays: List[Any]) -> Any:
        made = {} if type(result) is dict else copy.copy(result)
        made.update(zip(keys, arrays))
        return made

    return rebuild
