"""Functions of NumPy on matrices and vectors: products, norms, diagonals and triangles."""

from typing import Any, List

from ..errors import argument_error
from .array_types import FLOATING
from .axes import Axis, axes_in, integer
from .calls import apply, require_tensor
from .folds import METHODS, count_nonzero
from .indexing import iota
from .promotion import as_floats, cast, in_common_dtype, of_dtype
from .shapes import flatten, moveaxis, sizes

_INFINITY = float("inf")


def dot(a: Any, b: Any) -> Any:
    """The sum of products over the last axis of `a` and the last but one of `b`, or its only one."""
    if getattr(a, "ndim", 0) == 0 or getattr(b, "ndim", 0) == 0:
        return a * b
    a, b = in_common_dtype([require_tensor("`dot`", "a", a), require_tensor("`dot`", "b", b)])
    if a.ndim > 1 and b.ndim > 2:
        raise argument_error(f"`dot` of tensors of {a.ndim} and {b.ndim} axes is not supported: a @ b multiplies batches of matrices")
    if a.ndim == b.ndim == 1 and a.dtype() not in FLOATING:
        return cast((a * b).sum(), a.dtype())
    return apply("matmul", a, b)


def outer(a: Any, b: Any) -> Any:
    """The products of each element of one tensor with each of another."""
    a, b = in_common_dtype([flatten(require_tensor("np.outer", "a", a)), flatten(require_tensor("np.outer", "b", b))])
    return cast(a[:, None] * b[None], a.dtype())


def norm(x: Any, ord: Any = None, axis: Axis = None, *, keepdims: bool = False) -> Any:
    """The norm of vectors along an axis, or of matrices over two: the root of the sum of squares unless `ord` says another."""
    x = as_floats(x)
    over = axes_in("np.linalg.norm", axis, x.ndim)
    magnitude = apply("abs", x)
    if ord is None or (len(over) == 1 and ord == 2) or (len(over) == 2 and ord == "fro"):
        found = apply("sqrt", METHODS["sum"](magnitude * magnitude, tuple(over), keepdims=keepdims))
    elif len(over) == 1:
        found = _vector_norm(magnitude, ord, over[0], keepdims)
    else:
        found = _matrix_norm(magnitude, ord, over, keepdims)
    return cast(found, magnitude.dtype())


def _vector_norm(magnitude: Any, ord: Any, axis: int, keepdims: bool) -> Any:
    if isinstance(ord, bool) or not isinstance(ord, (int, float)):
        raise argument_error(f"np.linalg.norm: argument `ord` must be a number for a vector, but is {ord!r}")
    if abs(ord) == _INFINITY:
        return METHODS["max" if ord > 0 else "min"](magnitude, axis, keepdims=keepdims)
    if ord == 0:
        return count_nonzero(magnitude, axis, keepdims=keepdims)
    return METHODS["sum"](magnitude if ord == 1 else magnitude**ord, axis, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(magnitude: Any, ord: Any, over: List[int], keepdims: bool) -> Any:
    if len(over) != 2 or ord not in (1, -1, _INFINITY, -_INFINITY):
        raise argument_error(
            f"np.linalg.norm: argument `ord` must be None, 'fro', 1, -1, inf or -inf for a matrix, but is {ord!r} for {len(over)} axes: "
            "singular values are no op"
        )
    summed, chosen = over if abs(ord) == 1 else over[::-1]
    found = METHODS["max" if ord > 0 else "min"](METHODS["sum"](magnitude, summed, keepdims=True), chosen, keepdims=True)
    return found if keepdims else apply("squeeze", found, over)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements on a diagonal of two axes, along a last axis instead of them."""
    a = moveaxis(a, axes_in("`diagonal`", (axis1, axis2), a.ndim), (-2, -1))
    offset, before = integer("`diagonal`", "offset", offset), sizes(a)[:-2]
    rows, columns = a.size(a.ndim - 2), a.size(a.ndim - 1)
    count = apply("minimum", rows, columns - offset) if offset >= 0 else apply("minimum", rows + offset, columns)
    start = offset if offset >= 0 else columns * -offset
    places = iota(a, apply("maximum", count, 0), start, columns + 1)
    return apply("index_select", apply("reshape", a, [*before, rows * columns]), places, len(before))


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sum of a diagonal."""
    return METHODS["sum"](diagonal(a, offset, axis1, axis2), -1, dtype)


def diag(v: Any, k: int = 0) -> Any:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal and zeros elsewhere."""
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise argument_error(f"np.diag takes a tensor of one axis or two, but it has {v.ndim}")
    k = integer("np.diag", "k", k)
    size = v.size(0) + abs(k)
    zero, rows, columns = of_dtype(0, v.dtype()), iota(v, size, 0, 1)[:, None], iota(v, size, 0, 1)[None]
    padded = apply("pad", v, [0, abs(k)], zero)
    return apply("where", columns - rows == k, padded[:, None] if k >= 0 else padded[None], zero)


def triu(m: Any, k: int = 0) -> Any:
    """`fd.ops.triu`: the elements on and above a diagonal of the last two axes, zeros elsewhere."""
    return apply("triu", _matrix("np.triu", m), integer("np.triu", "k", k))


def tril(m: Any, k: int = 0) -> Any:
    """The elements on and below a diagonal of the last two axes, zeros elsewhere."""
    k, rank = integer("np.tril", "k", k), _matrix("np.tril", m).ndim
    rows, columns = iota(m, m.size(rank - 2), 0, 1)[:, None], iota(m, m.size(rank - 1), 0, 1)[None]
    return apply("where", columns - rows <= k, m, of_dtype(0, m.dtype()))


def _matrix(written: str, m: Any) -> Any:
    if m.ndim < 2:
        raise argument_error(f"{written} takes a tensor of two axes or more, but it has {m.ndim}")
    return m
