"""Reductions and scans."""

from typing import Any, Callable, Dict, List

from .row import Call, Result, Row, Unsupported, axes_of, axis_of, same


def _reduced_axes(dims: Any, rank: int) -> List[int]:
    """The reduced axes: an empty list means all."""
    return axes_of(None if dims is None or dims == [] else dims, rank)


def _fold(name: str) -> Callable[..., Result]:
    def lower(call: Call, x: Any, dims: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Result:
        x = x if dtype is None else call.ops.cast(x, call.computed)
        return getattr(call.ops, name)(x, _reduced_axes(dims, x.ndim), keepdim) if x.ndim else x

    return lower


def _of_all(name: str) -> Callable[..., Result]:
    """The maximum or minimum of all elements; there must be at least one."""

    def lower(call: Call, x: Any) -> Result:
        if 0 in call.operands[0].shape:
            raise Unsupported("the largest or smallest of no elements")
        return getattr(call.ops, name)(x)

    return lower


def _any_or_all(name: str) -> Callable[..., Result]:
    """With an empty list of axes each element by itself, where other folds are over all axes."""
    fold = _fold(name)

    def lower(call: Call, x: Any, dims: Any = None, keepdim: bool = False) -> Result:
        return call.ops.ne(x, 0) if x.ndim == 0 or dims == [] else fold(call, x, dims, keepdim)

    return lower


def _variance(name: str) -> Callable[..., Result]:
    def lower(call: Call, x: Any, dims: Any = None, *, correction: Any = 1, keepdim: bool = False) -> Result:
        correction = 1 if correction is None else correction
        if correction != int(correction):
            raise Unsupported("a correction that is no whole number")
        x = x if x.ndim else call.ops.broadcast(x, [True])
        return getattr(call.ops, name)(x, _reduced_axes(dims, x.ndim), int(correction), keepdim and bool(call.shape))

    return lower


def _with_index(name: str) -> Callable[..., Result]:
    """A fold along an axis, with the index of its element."""

    def lower(call: Call, x: Any, dim: int, keepdim: bool = False) -> Result:
        axis = axis_of(dim, x.ndim)
        return getattr(call.ops, name)(x, [axis], keepdim), getattr(call.ops, f"arg{name}")(x, axis, keepdim)

    return lower


def _index(name: str) -> Callable[..., Result]:
    def lower(call: Call, x: Any, dim: Any = None, keepdim: bool = False) -> Result:
        return getattr(call.ops, name)(x, dim, keepdim)

    return lower


def _scan(name: str) -> Callable[..., Result]:
    def lower(call: Call, x: Any, dim: int, *, dtype: Any = None) -> Result:
        x = call.ops.cast(x, call.computed)
        return getattr(call.ops, name)(x, dim) if x.ndim else x

    return lower


_OVERLOADS = ("default", "dim", "dims", "dim_IntList", "dim_int")
_FOLDS = {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min"}

ROWS: Dict[str, Row] = {
    **{f"aten.{name}.{overload}": Row(_fold(op)) for name, op in _FOLDS.items() for overload in _OVERLOADS},
    **{f"aten.{name}.{overload}": Row(_any_or_all(name)) for name in ("any", "all") for overload in _OVERLOADS},
    "aten.max.default": Row(_of_all("max")),
    "aten.min.default": Row(_of_all("min")),
    "aten.max.dim": Row(_with_index("max")),
    "aten.min.dim": Row(_with_index("min")),
    "aten.argmax.default": Row(_index("argmax"), weight=2),
    "aten.argmin.default": Row(_index("argmin"), weight=2),
    "aten.var.correction": Row(_variance("var")),
    "aten.std.correction": Row(_variance("standard_deviation")),
    "aten.var_mean.correction": Row(_variance("var_mean")),
    "aten.cumsum.default": Row(_scan("cumsum")),
    "aten.cumprod.default": Row(_scan("cumprod")),
}
