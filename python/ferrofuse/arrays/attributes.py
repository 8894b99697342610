"""`shape`, `size` and `dtype` of a tensor of a definition: methods in nvFuser, attributes in NumPy and torch.

Each can be called, as in nvFuser, and used as an attribute as far as it is known before the definition runs.
"""

from collections.abc import Sequence
from typing import Any, Callable, List, NoReturn, Optional

from .._native import DataType, Val, data_type
from ..errors import argument_error


def _unknown(name: str, instead: str) -> Callable[..., NoReturn]:
    def method(self: Any, *_: Any) -> NoReturn:
        raise argument_error(f"`{name}` of a tensor of a definition is known only when the definition runs: {instead}")

    return method


class Shape(Sequence[Any]):
    """The sizes of a tensor as scalars of the definition: `x.shape[0]`, or all of them, `x.shape()`, as in nvFuser.

    Ops take it as a list of sizes.
    """

    def __init__(self, tensor: Any, sizes: Callable[[Any], List[Val]]) -> None:
        self._tensor, self._sizes = tensor, sizes

    def __call__(self) -> List[Val]:
        return self._sizes(self._tensor)

    def __len__(self) -> int:
        return int(self._tensor.ndim)

    def __getitem__(self, axis: Any) -> Any:
        chosen = range(len(self))[axis]
        return [self._tensor.size(each) for each in chosen] if isinstance(axis, slice) else self._tensor.size(chosen)

    def __repr__(self) -> str:
        return f"<the {len(self)} sizes of a tensor, known when the definition runs>"

    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = _unknown("shape", "compare x.ndim, or use x.shape[0] as a scalar of the definition")


class Size:
    """`x.size(0)` is a scalar of the definition, and `x.size()` all sizes, as in torch. Unlike NumPy's `size` it is not a number."""

    def __init__(self, tensor: Any, size: Callable[[Any, int], Val]) -> None:
        self._tensor, self._size = tensor, size

    def __call__(self, dim: Optional[int] = None) -> Any:
        return self._tensor.shape() if dim is None else self._size(self._tensor, dim)

    # Every use as a number is rejected.
    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _unknown("size", "x.size(0) is a scalar of the definition")
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __eq__
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __eq__
    __bool__ = __int__ = __float__ = __index__ = __eq__


class TensorDType:
    """The dtype of a tensor: `x.dtype()`, as in nvFuser; it equals the same dtype of NumPy and torch."""

    def __init__(self, dtype: DataType) -> None:
        self._dtype = dtype

    def __call__(self) -> DataType:
        return self._dtype

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorDType):
            return self._dtype == other._dtype
        return other == self._dtype.numpy_name if isinstance(other, str) else self._dtype == data_type(other)

    def __hash__(self) -> int:
        return hash(self._dtype)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._dtype.itemsize

    def __str__(self) -> str:
        return str(self._dtype.numpy_name)

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __repr__(self) -> str:
        return repr(self._dtype)
