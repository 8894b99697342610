"""Facts about arrays of any library: sizes, strides, dtype."""

from typing import Any, List, Sequence, Tuple

from ._native import DataType

_MEMBERS = [member for member in vars(DataType).values() if isinstance(member, DataType)]
_NAMED = {member.numpy_name: member for member in _MEMBERS if member.numpy_name}


def describe(array: Any) -> Tuple[List[int], List[int], DataType]:
    """Sizes, strides in elements, and dtype of an array of NumPy, torch, JAX or CuPy, or of ours.

    Raises:
        TypeError: for an object that is no array, and for a dtype that the language does not have.
    """
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise TypeError(f"expected an array, got {type(array).__name__}")
    sizes = [int(size) for size in array.shape]
    dtype = array.dtype if isinstance(array.dtype, DataType) else dtype_named(dtype_name(array.dtype))
    return sizes, _strides(array), dtype


def flattened(inputs: Sequence[Any]) -> List[Any]:
    """The inputs of a call with lists and tuples among them flattened one level, as `execute` does. torch's sizes (`x.shape`)
    are a subclass of tuple.
    """
    return [item for given in inputs for item in (given if isinstance(given, (list, tuple)) else (given,))]


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of any library, without torch's prefix."""
    return str(dtype).replace("torch.", "")


def dtype_named(name: str) -> DataType:
    """The dtype with this name in NumPy and torch.

    Raises:
        TypeError: for a dtype that the language does not have.
    """
    if name not in _NAMED:
        known = (name for name, member in _NAMED.items() if member.itemsize)
        raise TypeError(f"the dtype {name} is not supported; known are {', '.join(known)}")
    return _NAMED[name]


def _strides(array: Any) -> List[int]:
    if callable(getattr(array, "stride", None)):  # torch has strides in elements
        return [int(stride) for stride in array.stride()]
    if not hasattr(array, "strides"):  # JAX has no strides
        import numpy

        array = numpy.asarray(array)
    return [stride // array.dtype.itemsize for stride in array.strides]
