"""The type of an output, known before the call."""

from typing import List, NamedTuple

from ._native import DataType


class OutputType(NamedTuple):
    """Sizes, dtype and strides of an output."""

    shape: List[int]
    """The size of each axis."""
    dtype: DataType
    """The dtype of the elements."""
    strides: List[int]
    """For each axis, the distance between neighbours in memory, in elements."""
