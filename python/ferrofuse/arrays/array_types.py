"""Facts about arrays of any library: sizes, strides, dtype."""

from typing import Any, List, Optional, Sequence, Tuple

from .._native import DataType, data_type

_MEMBERS = [member for member in vars(DataType).values() if isinstance(member, DataType)]
_BY_NAME = {member.numpy_name: member for member in _MEMBERS if member.numpy_name}

# Floats that ops compute with as f32.
SMALL_FLOATS = (DataType.Half, DataType.BFloat16, DataType.Float8_e4m3fn, DataType.Float8_e5m2)
COMPLEX = (DataType.ComplexFloat, DataType.ComplexDouble)
FLOATING = (*SMALL_FLOATS, DataType.Float, DataType.Double, *COMPLEX)
SIGNED = (DataType.Char, DataType.Short, DataType.Int32, DataType.Int)
UNSIGNED = (DataType.Byte, DataType.UInt16, DataType.UInt32, DataType.UInt64)


def is_array(value: Any) -> bool:
    """Whether a value is an array of some library. A type, such as `numpy.float32`, is none."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, type)


def describe(array: Any) -> Tuple[List[int], List[int], DataType]:
    """Sizes, strides in elements, and dtype of an array of NumPy, torch, JAX or CuPy, or a `GpuArray`.

    Raises:
        TypeError: for an object that is not an array, and for a dtype that the language does not have.
    """
    if not is_array(array):
        raise TypeError(f"expected an array, got {type(array).__name__}")
    sizes = [int(size) for size in array.shape]
    dtype = array.dtype if isinstance(array.dtype, DataType) else dtype_of(array.dtype)
    return sizes, _strides(array), dtype


def flattened(inputs: Sequence[Any]) -> List[Any]:
    """The inputs of a call with lists and tuples among them flattened one level, as `execute` does. torch's sizes (`x.shape`)
    are a subclass of tuple.
    """
    return [item for given in inputs for item in (given if isinstance(given, (list, tuple)) else (given,))]


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of any library, without torch's prefix."""
    return str(dtype).replace("torch.", "")


def dtype_named(name: str) -> Optional[DataType]:
    """The dtype with this name in NumPy and torch, as in `"float32"`; `None` if there is none."""
    return _BY_NAME.get(name)


def dtype_of(dtype: Any) -> DataType:
    """The dtype of the language for one of any library.

    Raises:
        TypeError: for a dtype that the language does not have.
    """
    name = dtype_name(dtype)
    named = dtype_named(name)
    if named is None:
        raise TypeError(f"the dtype {name} is not supported; known are {known_names()}")
    return named


def known_names() -> str:
    """The names of all dtypes of the language in NumPy and torch."""
    return ", ".join(name for name, member in _BY_NAME.items() if member.itemsize)


def dtype_meant(given: Any) -> Optional[DataType]:
    """The dtype that an object stands for: a `DataType`, a dtype of any library, a type of Python's, or one of NumPy's names
    for it, as `"f4"`; `None` if there is none.
    """
    found = dtype_named(given) if isinstance(given, str) else data_type(given)
    if found is not None or not isinstance(given, (str, type)):
        return found
    import numpy

    try:
        return dtype_named(str(numpy.dtype(given)))
    except (TypeError, ValueError):
        return None


def _strides(array: Any) -> List[int]:
    if callable(getattr(array, "stride", None)):  # torch and `GpuArray`, in elements
        return [int(stride) for stride in array.stride()]
    if not hasattr(array, "strides"):  # JAX has no strides
        import numpy

        array = numpy.asarray(array)
    return [stride // array.dtype.itemsize for stride in array.strides]
