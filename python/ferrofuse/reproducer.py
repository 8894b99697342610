"""Scripts that reproduce a call: the definition, and arrays of the same library, dtypes, sizes and strides.

Arrays of other libraries than torch become NumPy's, so that a script needs no more than its inputs did.
"""

import math
from typing import Any, List, Optional, Sequence

import numpy

from . import options
from .array_types import describe


def script(definition: str, inputs: Optional[Sequence[Any]]) -> str:
    """A script that runs by itself, laid out as nvFuser's, and that `ferrofuse run` reads too."""
    given = [] if inputs is None else [_input(item) for item in _flattened(inputs)]
    libraries = [name for name in ("ml_dtypes", "numpy", "torch") if any(f"{name}." in item for item in given)]
    lines = [f"import {name}" for name in libraries]
    lines += [f"from {options.module} import FusionDefinition, DataType", definition.rstrip()]
    lines += ["with FusionDefinition() as fd:", "    nvfuser_fusion(fd)"]
    if inputs is not None:
        lines += ["", "inputs = ["] + [f"    {item}," for item in given] + ["]", "fd.execute(inputs)"]
    return "\n".join(lines) + "\n"


def _flattened(inputs: Sequence[Any]) -> Sequence[Any]:
    return [item for given in inputs for item in (given if type(given) in (list, tuple) else (given,))]


def _input(item: Any) -> str:
    if isinstance(item, numpy.generic):
        item = item.item()
    if not hasattr(item, "shape"):
        return _number(item)
    sizes, strides, dtype = describe(item)
    strides = [abs(stride) for stride in strides]  # which way an axis runs is no matter of the definition
    storage = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)) if 0 not in sizes else 0
    name = str(dtype.numpy_name)
    if callable(getattr(item, "stride", None)):
        return f"{_torch(storage, name)}.as_strided({tuple(sizes)}, {tuple(strides)})"
    if strides == _row_major(sizes):
        return f"{_numpy(storage, name)}.reshape({tuple(sizes)})"
    in_bytes = tuple(stride * dtype.itemsize for stride in strides)
    return f"numpy.lib.stride_tricks.as_strided({_numpy(storage, name)}, {tuple(sizes)}, {in_bytes})"


def _number(item: Any) -> str:
    """A number as an expression of Python, whose infinities and NaN have no names."""
    if isinstance(item, complex):
        plain = math.isfinite(item.real) and math.isfinite(item.imag)
        return repr(item) if plain else f"complex({_number(item.real)}, {_number(item.imag)})"
    return f'float("{item}")' if isinstance(item, float) and not math.isfinite(item) else repr(item)


def _torch(storage: int, name: str) -> str:
    if name == "bool":
        return f"torch.randint(0, 2, ({storage},)).to(torch.bool)"
    if name.startswith(("int", "uint")):
        return f"torch.randint(0, 10, ({storage},), dtype=torch.{name})"
    if name.startswith("float8"):  # which torch draws none of
        return f"torch.randn({storage}).to(torch.{name})"
    return f"torch.randn({storage}, dtype=torch.{name})"


def _numpy(storage: int, name: str) -> str:
    if name == "bool":
        return f"numpy.random.randint(0, 2, ({storage},)).astype(numpy.bool_)"
    if name.startswith(("int", "uint")):
        return f"numpy.random.randint(0, 10, ({storage},)).astype(numpy.{name})"
    library = "numpy" if hasattr(numpy, name) else "ml_dtypes"
    return f"numpy.random.randn({storage}).astype({library}.{name})"


def _row_major(sizes: Sequence[int]) -> List[int]:
    strides = [1] * len(sizes)
    for axis in reversed(range(len(sizes) - 1)):
        strides[axis] = strides[axis + 1] * max(1, sizes[axis + 1])
    return strides
