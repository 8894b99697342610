"""Ops that make tensors without operands: constants, ranges, random numbers."""

from typing import Any, Callable, Dict

from ..dtypes import FLOATS
from .row import Call, Kind, Result, Row, held


def _full(call: Call, sizes: Any, value: Any, **_: Any) -> Result:
    return call.ops.full(call.shape, held(call, value), call.dtype)


def _filled_with(value: Any) -> Callable[..., Result]:
    return lambda call, *_, **__: call.ops.full(call.shape, value, call.dtype)


def _scalar(call: Call, value: Any, **_: Any) -> Result:
    return call.ops.full([], held(call, value), call.dtype)


def _range(call: Call, start: Any, end: Any, step: Any = 1, **_: Any) -> Result:
    first, distance = (_counted(call, value) for value in (start, step))
    return call.ops.iota(call.shape[0], first, distance, call.dtype)


def _counted(call: Call, value: Any) -> Any:
    # Ranges of integers truncate their start and step, as in torch.
    is_cut = isinstance(value, float) and call.dtype not in FLOATS
    return int(value) if is_cut else value


def _range_to(call: Call, end: Any, **_: Any) -> Result:
    return call.ops.iota(call.shape[0], 0, 1, call.dtype)


def _iota(call: Call, length: Any, *, start: Any, step: Any, **_: Any) -> Result:
    return call.ops.iota(call.shape[0], start, step, call.dtype)


def _uniform(call: Call, *_: Any, **__: Any) -> Result:
    return call.ops.uniform(0.0, 1.0, call.shape, dtype=call.dtype)


def _normal(call: Call, *_: Any, **__: Any) -> Result:
    return call.ops.normal(0.0, 1.0, call.shape, dtype=call.dtype)


# Tensors with any values, which are later overwritten.
_UNSET = ("empty.memory_format", "empty_like.default", "empty_strided.default", "new_empty_strided.default")

ROWS: Dict[str, Row] = {
    "aten.full.default": Row(_full, Kind.CREATE),
    "aten.full_like.default": Row(_full, Kind.CREATE),
    "aten.zeros_like.default": Row(_filled_with(0), Kind.CREATE),
    "aten.ones_like.default": Row(_filled_with(1), Kind.CREATE),
    **{f"aten.{name}": Row(_filled_with(0), Kind.CREATE) for name in _UNSET},
    "aten.scalar_tensor.default": Row(_scalar, Kind.CREATE),
    "aten.arange.start_step": Row(_range, Kind.CREATE),
    "aten.arange.start": Row(_range, Kind.CREATE),
    "aten.arange.default": Row(_range_to, Kind.CREATE),
    "prims.iota.default": Row(_iota, Kind.CREATE),
    "aten.rand.default": Row(_uniform, Kind.DRAW, slow_in=FLOATS),
    "aten.rand_like.default": Row(_uniform, Kind.DRAW, slow_in=FLOATS),
    "aten.randn.default": Row(_normal, Kind.DRAW, slow_in=FLOATS),
    "aten.randn_like.default": Row(_normal, Kind.DRAW, slow_in=FLOATS),
}
