"""Makes the definition of a region: declares its inputs, lowers its ops row by row, adds its outputs."""

from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Any, Container, Dict, Iterator, List, Mapping, Optional, Sequence

import torch

from .. import caller
from .._native import DataType, TensorView
from ..definition import FusionDefinition
from . import devices, dtypes, rows
from .nodes import is_free, is_number, line_of, op_of, place_of, results, row_of
from .options import Options
from .regions import Region, writes
from .rows import Call, Kind, Row, Unsupported
from .sizes import Sizes
from .structure import layout, order, sizes


_REJECTIONS = (Unsupported, ValueError, TypeError, NotImplementedError, AttributeError, LookupError, ArithmeticError)


class LoweringError(Exception):
    """Ops of a region that could not be lowered; `causes` has the exception of each node."""

    def __init__(self, causes: Mapping[Any, Exception]) -> None:
        super().__init__("; ".join(f"{op_of(node)}: {cause} ({line_of(node)})" for node, cause in causes.items()))
        self.causes = causes


@dataclass(frozen=True)
class Defined:
    """The definition of a region.

    Attributes:
        scalars: the expressions of the scalar inputs, which follow its tensors.
        device: the device to name in a call, if no input determines it.
        orders: for each output, the rank of each axis in memory, 0 innermost.
        with_input_strides: the numbers of outputs that may have the strides of an input that is written too.
    """

    fd: FusionDefinition
    scalars: Sequence[Any]
    device: Optional[str]
    orders: Sequence[Sequence[int]]
    with_input_strides: Sequence[int]


def define(region: Region, options: Options, available: Container[Any]) -> Defined:
    """The definition of a region; `available` are the sizes that a call can pass as scalars.

    Raises:
        LoweringError: naming all nodes that failed.
    """
    fakes = [node.meta["val"] for node in region.inputs]
    device = devices.named(region.device, fakes)
    if device is not None and fakes:
        why = Unsupported(f"numbers of the host alone, for work on {device}")
        raise LoweringError({node: why for node in region.body if not is_free(node)})
    with FusionDefinition() as fd:
        with caller.standing_at(caller.NOWHERE):
            lowering = _Lowering(fd, region, options, available)
        for node in region.body:
            lowering.lower(node)
        for node in region.outputs:
            lowering.add_output(node)
        if lowering.failed:
            raise LoweringError(lowering.failed)
    orders = [order(node.meta["val"]) for node in region.outputs]
    is_ordered = any(write.args[0].meta["val"].ndim > 1 for write in region.writes)
    strided = [number for number, node in enumerate(region.outputs) if is_ordered and node.meta["val"].ndim > 1]
    return Defined(fd, lowering.size.scalars, device, orders, strided)


class _Lowering:
    """Lowers the nodes of a region in order, and keeps the value of each. The results of one that fails become inputs, so
    that all that fail are known at once.

    Attributes:
        failed: the exceptions of the nodes that failed.
    """

    def __init__(self, fd: FusionDefinition, region: Region, options: Options, available: Container[Any]) -> None:
        self.failed: Dict[Any, Exception] = {}
        self._fd = fd
        self._rounds = options.emulate_precision_casts
        self._inputs = {node: self._declare(node.meta["val"]) for node in region.inputs}
        self._values: Dict[Any, Any] = {
            node: self._wide(value, node.meta["val"]) for node, value in self._inputs.items()
        }
        self.size = Sizes(fd, [(node.meta["val"], value) for node, value in self._inputs.items()], available)

    def _declare(self, fake: Any) -> Any:
        contiguity, places = layout(fake)
        return self._fd.define_tensor(
            shape=sizes(fake), contiguity=contiguity, dtype=dtypes.stored(fake.dtype), stride_order=places
        )

    def _wide(self, value: Any, fake: Any) -> Any:
        expected = dtypes.computed(fake.dtype)
        return value if value.dtype() == expected else self._fd.ops.cast(value, expected)

    def lower(self, node: Any) -> None:
        """Lowers a node after all nodes before it."""
        with self._failing(node):
            self._values[node] = self._lowered(node)
            if writes(node):
                self._write(node)
        if node not in self._values:
            given = [self._wide(self._declare(fake), fake) for fake in results(node)]
            self._values[node] = given if isinstance(node.meta["val"], (list, tuple)) else given[0]

    @contextmanager
    def _failing(self, node: Any) -> Iterator[None]:
        """Notes errors as those of this node. Their messages name the user's line that it comes from."""
        try:
            with caller.standing_at(place_of(node)):
                yield
        except _REJECTIONS as error:
            self.failed[node] = error

    def _lowered(self, node: Any) -> Any:
        if op_of(node) == "getitem":
            return self._values[node.args[0]][node.args[1]]
        row = row_of(node)
        assert row is not None
        result = row.lower(self._call(node), *self._arguments(node), **self._keywords(node))
        fakes = results(node)
        if isinstance(result, (list, tuple)):
            return [self._finished(one, fake, row) for one, fake in zip(result, fakes)]
        return self._finished(result, fakes[0], row)

    def _call(self, node: Any) -> Call:
        fakes = results(node)
        shapes = [[self.size(size) for size in fake.shape] for fake in fakes]
        operands = torch.fx.map_arg(node.args, lambda one: one.meta.get("val"))
        stored = [dtypes.stored(fake.dtype) for fake in fakes]
        return Call(self._fd.ops, shapes, stored, dtypes.computed(fakes[0].dtype), operands, self.size)

    def _arguments(self, node: Any) -> List[Any]:
        """The arguments; integers as f64 if the result is f64, where the language would compute in f32, and tensors without
        axes in the dtype to which they do not promote others.
        """
        arguments = [self._argument(_rounded(node, place, _converted(node, one))) for place, one in enumerate(node.args)]
        if _promotes_integers_to_f64(node):
            return [self._fd.ops.cast(one, DataType.Double) if isinstance(one, TensorView) else one for one in arguments]
        common = _dtype_of_tensors_with_axes(node)
        if common is None:
            return arguments
        is_small = [isinstance(one, torch.fx.Node) and not is_number(one) and results(one)[0].ndim == 0 for one in node.args]
        return [
            self._promoted(node, place, one, common) if small and one.dtype() != DataType.Bool else one
            for place, (one, small) in enumerate(zip(arguments, is_small))
        ]

    def _promoted(self, node: Any, place: int, value: Any, dtype: Any) -> Any:
        """The tensor without axes at a place in the dtype of the others."""
        if rows.rounds_numbers(op_of(node), place):
            value = self._fd.ops.cast(value, dtypes.stored(dtype))
        return self._fd.ops.cast(value, dtypes.computed(dtype))

    def _keywords(self, node: Any) -> Dict[str, Any]:
        return {name: self._argument(_converted(node, value)) for name, value in node.kwargs.items()}

    def _argument(self, value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            return self._values[value] if value in self._values else self._number(value.meta["val"])
        if isinstance(value, (list, tuple)):
            return [self._argument(one) for one in value]
        return dtypes.computed(value) if isinstance(value, torch.dtype) and value in dtypes.KNOWN else value

    def _number(self, value: Any) -> Any:
        if isinstance(value, torch.SymFloat):
            return self.size.scalar(value.node.expr, DataType.Double)
        if isinstance(value, torch.SymBool):
            raise Unsupported("a condition on sizes as an argument")
        return self.size(value)

    def _finished(self, value: Any, fake: Any, row: Row) -> Any:
        """The value in the dtype that it has in the region."""
        value = self._wide(value, fake)
        if not self._rounds or row.kind == Kind.VIEW or dtypes.stored(fake.dtype) not in dtypes.HALF:
            return value
        return self._wide(self._fd.ops.cast(value, dtypes.stored(fake.dtype)), fake)

    def _write(self, node: Any) -> None:
        target = self._inputs[node.args[0]]
        self._fd.add_output(self._stored(node), target)

    def add_output(self, node: Any) -> None:
        """Adds an output, laid out as the rest of the graph expects."""
        with self._failing(node):
            self._fd.add_output(self._stored(node), stride_order=order(node.meta["val"]))

    def _stored(self, node: Any) -> Any:
        """The value in the dtype that it has in memory, in separate memory."""
        value, dtype = self._values[node], dtypes.stored(node.meta["val"].dtype)
        value = value if value.dtype() == dtype else self._fd.ops.cast(value, dtype)
        return self._fd.ops.set(value)


def _converted(node: Any, value: Any) -> Any:
    """An argument; a number as its dtype in eager holds it, to which the language does not convert it: in comparisons, where
    that is the operand's, and below zero in bytes.
    """
    if rows.compares(op_of(node)):
        return rows.wrapped(value, results(node.args[0])[0].dtype)
    is_byte = rows.converts_numbers(op_of(node)) and results(node)[0].dtype == torch.uint8
    return rows.in_bytes(value) if is_byte else value


def _rounded(node: Any, place: int, value: Any) -> Any:
    """The operand at a place; a number as a half type holds it, if eager computes in one."""
    dtype = results(node)[0].dtype
    is_half = rows.rounds_numbers(op_of(node), place) and dtype in (torch.bfloat16, torch.float16)
    return rows.wrapped(value, dtype) if is_half else value


def _dtype_of_tensors_with_axes(node: Any) -> Any:
    """The dtype of the tensors with axes, to which those without axes are converted; `None` if there is none."""
    if not rows.promotes(op_of(node)):
        return None
    fakes = [results(one)[0] for one in node.all_input_nodes if not is_number(one)]
    if len({fake.dtype for fake in fakes}) < 2 or all(fake.ndim for fake in fakes) or not any(fake.ndim for fake in fakes):
        return None
    # Those with axes first: they promote each other.
    ordered = sorted(fakes, key=lambda fake: fake.ndim == 0)
    alike = [torch.empty([1] * (fake.ndim > 0), dtype=fake.dtype, device="meta") for fake in ordered]
    common = reduce(lambda one, other: torch.empty([1], dtype=torch.result_type(one, other), device="meta"), alike).dtype
    # Quotients of integers are computed in floats, to which all operands are converted first.
    is_quotient = results(node)[0].is_floating_point() and not common.is_floating_point
    return None if is_quotient else common


def _promotes_integers_to_f64(node: Any) -> bool:
    """Does an op return f64 for tensors of integers alone, which it does if f64 is torch's default dtype?"""
    operands = [fake for one in node.all_input_nodes if not is_number(one) for fake in results(one)]
    is_of_integers = bool(operands) and not any(fake.is_floating_point() or fake.is_complex() for fake in operands)
    is_float = any(fake.dtype == torch.float64 for fake in results(node))
    return is_float and is_of_integers and not op_of(node).startswith("aten.where.")
