"""nvFuser's `pytorch_utils`: dtypes of torch and types of Python's numbers as members of `DataType`. Imports no torch."""

import functools
import gc
from typing import Any, Callable, TypeVar, Union

from ._native import DataType
from .arrays.array_types import dtype_of

_NUMBERS = {bool: DataType.Bool, int: DataType.Int, float: DataType.Double, complex: DataType.ComplexDouble}
_F = TypeVar("_F", bound=Callable[..., Any])

# nvFuser's clients read the GPU's properties here; `ferrofuse doctor` tells them.
DEVICE_PROPERTIES = None


def torch_dtype_to_nvfuser_dtype(dtype: Any) -> DataType:
    """The member of `DataType` for a dtype of torch (or NumPy), or for a number type of Python.

    Raises:
        TypeError: for other objects, and for dtypes that are not supported.
    """
    known = _NUMBERS.get(dtype) if isinstance(dtype, type) else None
    return known or dtype_of(getattr(dtype, "__name__", dtype))


def python_scalar_to_nvfuser_dtype(a: Union[bool, int, float, complex]) -> DataType:
    """The member of `DataType` that a Python number has in a definition.

    Raises:
        TypeError: for an object that is not a Python number.
    """
    if type(a) not in _NUMBERS:
        raise TypeError(f"expected a bool, int, float or complex, got {type(a).__name__}")
    return _NUMBERS[type(a)]


def retry_on_oom_or_skip_test(func: _F) -> _F:
    """A decorator for tests: if memory runs out, it collects garbage and repeats the test once, then skips it."""

    @functools.wraps(func)
    def retried(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except MemoryError:
            gc.collect()
        try:
            return func(*args, **kwargs)
        except MemoryError as error:
            import pytest

            pytest.skip(f"memory ran out: {error}")

    return retried  # type: ignore[return-value]


def get_device_properties() -> Any:
    """Not supported: `ferrofuse doctor` describes GPUs."""
    raise NotImplementedError("get_device_properties is not supported: `ferrofuse doctor` describes the GPUs of this machine")
