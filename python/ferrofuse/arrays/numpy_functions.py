"""NumPy's functions on tensors of a definition: a row for each. Ufuncs, as `np.exp`, are in `ufuncs`."""

import inspect
from typing import Any, Callable, Dict, Iterable, Tuple

from .._native import TensorView
from ..errors import argument_error
from ..tracebacks import public
from . import elementwise, folds, matrices, rearranging, shapes, sorting
from .calls import checked, require_tensor

# By NumPy's name, without `np.`.
FUNCTIONS: Dict[str, Callable[..., Any]] = {
    **{name: folds.METHODS[name] for name in "all any argmax argmin cumprod cumsum max mean min prod std sum var".split()},
    "allclose": elementwise.allclose,
    "argsort": sorting.argsort,
    "average": folds.average,
    "broadcast_to": shapes.broadcast_to,
    "clip": elementwise.clip,
    "concatenate": rearranging.concatenate,
    "copy": elementwise.copy,
    "count_nonzero": folds.count_nonzero,
    "diag": matrices.diag,
    "diagonal": matrices.diagonal,
    "diff": rearranging.diff,
    "dot": matrices.dot,
    "empty_like": elementwise.empty_like,
    "expand_dims": shapes.expand_dims,
    "flip": rearranging.flip,
    "full_like": elementwise.full_like,
    "hstack": rearranging.hstack,
    "imag": elementwise.imag,
    "isclose": elementwise.isclose,
    "isneginf": elementwise.isneginf,
    "isposinf": elementwise.isposinf,
    "isreal": elementwise.isreal,
    "linalg.norm": matrices.norm,
    "moveaxis": shapes.moveaxis,
    "nan_to_num": elementwise.nan_to_num,
    "nanmax": folds.nanmax,
    "nanmean": folds.nanmean,
    "nanmin": folds.nanmin,
    "nanprod": folds.nanprod,
    "nanstd": folds.nanstd,
    "nansum": folds.nansum,
    "nanvar": folds.nanvar,
    "ones_like": elementwise.ones_like,
    "outer": matrices.outer,
    "pad": rearranging.pad,
    "ptp": folds.ptp,
    "ravel": shapes.flatten,
    "real": elementwise.real,
    "repeat": rearranging.repeat,
    "reshape": shapes.reshaped,
    "roll": rearranging.roll,
    "round": elementwise.round,
    "sort": sorting.sort,
    "squeeze": shapes.squeeze,
    "stack": rearranging.stack,
    "swapaxes": shapes.swapaxes,
    "take": rearranging.take,
    "take_along_axis": sorting.take_along_axis,
    "tile": rearranging.tile,
    "trace": matrices.trace,
    "transpose": shapes.transposed,
    "tril": matrices.tril,
    "triu": matrices.triu,
    "vstack": rearranging.vstack,
    "where": elementwise.where,
    "zeros_like": elementwise.zeros_like,
}
# Other names of the same functions in releases of NumPy.
_ALIASES = {"amax": "max", "amin": "min", "around": "round", "round_": "round"}
# Functions whose first argument may be something else than a tensor.
_OF_ANY = ("allclose", "concatenate", "dot", "hstack", "isclose", "outer", "stack", "vstack", "where")
_UNKNOWN_SIZE = "the size of the result is known only when the definition runs"
# What does the job of functions that are not here, or why none does.
_INSTEAD = {
    "append": "use np.concatenate",
    "argpartition": "use fd.ops.topk",
    "argwhere": _UNKNOWN_SIZE,
    "array_split": "use slices, as x[:, :n] and x[:, n:]",
    "choose": "use np.where",
    "compress": _UNKNOWN_SIZE,
    "column_stack": "use np.stack and np.hstack",
    "cov": "use products of x - x.mean(axis)",
    "dstack": "use np.stack",
    "einsum": "use x @ y, or products and x.sum(axis)",
    "extract": _UNKNOWN_SIZE,
    "flatnonzero": _UNKNOWN_SIZE,
    "fliplr": "use np.flip",
    "flipud": "use np.flip",
    "inner": "use np.dot",
    "linalg.matmul": "use x @ y",
    "linalg.matrix_norm": "use np.linalg.norm",
    "linalg.vector_norm": "use np.linalg.norm",
    "median": "use np.sort and x[…]",
    "nanmedian": "use np.sort and x[…]",
    "ndim": "use x.ndim",
    "nonzero": _UNKNOWN_SIZE,
    "partition": "use fd.ops.topk",
    "percentile": "use np.sort and x[…]",
    "piecewise": "use np.where",
    "put_along_axis": "use fd.ops.scatter",
    "quantile": "use np.sort and x[…]",
    "select": "use np.where",
    "shape": "use x.shape",
    "size": "use x.size(0)",
    "split": "use slices, as x[:, :n] and x[:, n:]",
    "tensordot": "use x @ y",
    "unique": _UNKNOWN_SIZE,
    "vdot": "use np.dot",
}


def attach() -> None:
    """Makes NumPy's functions on tensors of a definition call those here."""
    setattr(TensorView, "__array_function__", public(_call))


def _call(self: Any, function: Any, types: Iterable[type], args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    written = f"{function.__module__}.{function.__name__}".replace("numpy.", "np.", 1)
    name = written.removeprefix("np.")
    name = _ALIASES.get(name, name)
    if name not in FUNCTIONS:
        instead = _INSTEAD.get(name, "dir(fd.ops) lists the ops")
        raise argument_error(f"{written} is not supported on tensors of a definition: {instead}")
    if args and name not in _OF_ANY:
        require_tensor(written, next(iter(inspect.signature(FUNCTIONS[name]).parameters)), args[0])
    return checked(written, FUNCTIONS[name])(*args, **kwargs)
