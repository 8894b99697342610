"""Dtypes of results as NumPy has them, and numbers in a dtype.

What NumPy has no dtype for, as bf16, counts as f32; beside its own kind and numbers it keeps its dtype.
"""

from typing import Any, Callable, List, Sequence

from .. import caller
from .._native import DataType, TensorView, Val
from ..errors import argument_error
from .array_types import COMPLEX, FLOATING, SIGNED, SMALL_FLOATS, UNSIGNED, dtype_meant, dtype_of, is_array, known_names
from .calls import apply

INTEGERS = (*SIGNED, *UNSIGNED)
_WITHOUT_NUMPY = {*SMALL_FLOATS} - {DataType.Half}


def dtype_given(written: str, dtype: Any) -> DataType:
    """The dtype that an argument `dtype` stands for."""
    meant = dtype_meant(dtype)
    if meant is None:
        given = dtype.__name__ if isinstance(dtype, type) else repr(dtype)
        raise argument_error(
            f"{written}: argument `dtype` must be a DataType, or NumPy's or torch's dtype or the name of one of {known_names()}, "
            f"but is {given}"
        )
    return meant


def cast(x: Any, dtype: DataType) -> Any:
    """The value in a dtype; itself if it has it."""
    return x if x.dtype() == dtype else apply("cast", x, dtype)


def as_floats(x: Any) -> Any:
    """The tensor; integers and bools as f64, as NumPy averages them."""
    return cast(x, DataType.Double) if x.dtype() in (DataType.Bool, *INTEGERS) else x


def as_counted(x: Any) -> Any:
    """The tensor as NumPy adds it up: integers and bools with 64 bits."""
    dtype = x.dtype()
    if dtype in UNSIGNED:
        return cast(x, DataType.UInt64)
    return cast(x, DataType.Int) if dtype in (DataType.Bool, *SIGNED) else x


def of_dtype(number: Any, dtype: DataType) -> Any:
    """A number or a scalar of the definition as NumPy stores it among elements of a dtype: integers drop the fraction."""
    if isinstance(number, Val):
        return cast(number, dtype)
    number = number.item() if is_array(number) and number.size == 1 else number
    if dtype in INTEGERS and not abs(number) < float("inf"):
        return number  # the op rejects it
    if dtype == DataType.Bool:
        return bool(number)
    if dtype in COMPLEX:
        return complex(number)
    return int(number) if dtype in INTEGERS else number


def in_common_dtype(tensors: Sequence[Any]) -> List[Any]:
    """Tensors cast to the dtype that NumPy joins them in."""
    dtypes = {tensor.dtype() for tensor in tensors}
    if len(dtypes) < 2:
        return list(tensors)
    import numpy

    joint = dtype_of(numpy.result_type(*map(_numpy_name, dtypes)))
    return [cast(tensor, joint) for tensor in tensors]


def computed_in(written: str, ufunc: Callable[..., Any], operands: Sequence[Any]) -> DataType:
    """The dtype of what a ufunc of NumPy gives of such operands: numbers and scalars of the definition do not widen tensors."""
    try:
        made = ufunc(*map(_sample, operands))
    except TypeError:
        kinds = " and ".join(str(each.dtype) if isinstance(each, Val) else type(each).__name__ for each in operands)
        raise argument_error(f"{written} is not defined for {kinds}") from None
    computed = dtype_of((made[0] if isinstance(made, tuple) else made).dtype)
    if computed != DataType.Float:
        return computed
    dtypes = {each.dtype() for each in operands if isinstance(each, TensorView)}
    return dtypes.pop() if len(dtypes) == 1 and dtypes <= _WITHOUT_NUMPY else computed


def operand(of: Any, given: Any, dtype: DataType) -> Any:
    """An operand in the dtype of a computation. Numbers beside integers stay as they are: the op rejects those out of range."""
    if isinstance(given, TensorView) or (isinstance(given, Val) and dtype in FLOATING):
        return cast(given, dtype)
    return of._apply("cast", caller.place(), given, dtype) if dtype in FLOATING else given


def _sample(given: Any) -> Any:
    """What stands for an operand where NumPy is asked for a dtype."""
    import numpy

    if isinstance(given, TensorView):
        return numpy.empty(0, _numpy_name(given.dtype()))
    if isinstance(given, Val):
        dtype = given.dtype()
        return 1j if dtype in COMPLEX else 1.0 if dtype in FLOATING else dtype == DataType.Bool or 1
    return numpy.asarray(given).dtype.type(1).item()


def _numpy_name(dtype: DataType) -> Any:
    return "float32" if dtype in _WITHOUT_NUMPY else dtype.numpy_name
