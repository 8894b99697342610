"""Dtypes of torch in a definition: the supported ones, and the dtype in which a region computes each."""

from typing import Any, Dict

import torch

from .._native import DataType

KNOWN: Dict[Any, DataType] = {
    torch.bool: DataType.Bool,
    torch.uint8: DataType.Byte,
    torch.int8: DataType.Char,
    torch.int16: DataType.Short,
    torch.int32: DataType.Int32,
    torch.int64: DataType.Int,
    torch.float16: DataType.Half,
    torch.bfloat16: DataType.BFloat16,
    torch.float32: DataType.Float,
    torch.float64: DataType.Double,
}
HALF = (DataType.Half, DataType.BFloat16)
FLOATS = (*HALF, DataType.Float, DataType.Double)


def stored(dtype: Any) -> DataType:
    """The dtype of a tensor in memory."""
    return KNOWN[dtype]


def computed(dtype: Any) -> DataType:
    """The dtype of its values inside a region: f32 for half types."""
    return DataType.Float if KNOWN[dtype] in HALF else KNOWN[dtype]
