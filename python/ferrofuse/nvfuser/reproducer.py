"""Scripts that reproduce a call, laid out as nvFuser's: versions, the definition, and arrays of the same library, dtypes,
sizes and strides.

Arrays of other libraries than torch become NumPy's, so that a script needs no other library.
"""

import importlib
import math
import sys
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

import numpy

from .. import _native
from ..arrays.array_types import describe, flattened, is_array
from . import options


def script(definition: str, inputs: Optional[Sequence[Any]]) -> str:
    """A self-contained script, which `ferrofuse run` reads too."""
    given = [] if inputs is None else [_expression(item) for item in flattened(inputs)]
    libraries = [name for name in ("ml_dtypes", "numpy", "torch") if _is_used(name, given)]
    lines = [f"# ferrofuse version: {_native.__version__}"]
    lines += [line for name in libraries for line in _versions(name)]
    lines += [f"import {name}" for name in libraries]
    lines += [f"from {options.module} import FusionDefinition, DataType", definition.rstrip()]
    lines += ["with FusionDefinition() as fd:", "    nvfuser_fusion(fd)"]
    if inputs is not None:
        lines += ["", "inputs = ["] + [f"    {item}," for item in given] + ["]", "fd.execute(inputs)"]
    return "\n".join(lines) + "\n"


@dataclass
class ArrayType:
    """What a script needs of an array: everything but its elements."""

    shape: Sequence[int]
    strides: Sequence[int]
    dtype: Any


def without_memory(inputs: Sequence[Any]) -> List[Any]:
    """The inputs for a later script: fake tensors for torch's, as in nvFuser, and types for other arrays."""
    return [_without_memory(item) for item in flattened(inputs)]


def _without_memory(item: Any) -> Any:
    if isinstance(item, numpy.generic) or not is_array(item):
        return item
    if _is_tensor(item):
        from torch._subclasses.fake_tensor import FakeTensorMode

        return FakeTensorMode().from_tensor(item)
    sizes, strides, dtype = describe(item)
    return ArrayType(sizes, [stride * dtype.itemsize for stride in strides], numpy.dtype(dtype.numpy_name))


def _is_used(library: str, given: Sequence[str]) -> bool:
    """Whether an input uses a library, or the outputs of calls without arrays do."""
    makes_outputs = library == options.without_arrays != "numpy" and library in sys.modules
    return makes_outputs or any(f"{library}." in item for item in given)


def _versions(library: str) -> List[str]:
    """The version of a library; for torch also what nvFuser reports of its devices."""
    module = importlib.import_module(library)
    version = f"# {library} version: {module.__version__}"
    if library != "torch":
        return [version]
    names = [module.cuda.get_device_name(number) for number in range(module.cuda.device_count())]
    devices = [f"#  {number}: {name}" for number, name in enumerate(names)]
    return ["# CUDA devices:", *devices, version, f"# cuda version: {module.version.cuda}"]


def _expression(item: Any) -> str:
    """An input as a Python expression."""
    if isinstance(item, numpy.generic):
        item = item.item()
    if not is_array(item):
        return _number(item)
    sizes, strides, dtype = describe(item)
    strides = [abs(stride) for stride in strides]  # a definition has no backward axes
    storage = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)) if 0 not in sizes else 0
    name = str(dtype.numpy_name)
    if _is_tensor(item):
        return _torch(item, name, storage)
    if strides == _row_major(sizes):
        return f"{_numpy(storage, name)}.reshape({tuple(sizes)})"
    in_bytes = tuple(stride * dtype.itemsize for stride in strides)
    return f"numpy.lib.stride_tricks.as_strided({_numpy(storage, name)}, {tuple(sizes)}, {in_bytes})"


def _number(item: Any) -> str:
    """A number as a Python expression, in which infinities and NaN have no literals."""
    if isinstance(item, complex):
        plain = math.isfinite(item.real) and math.isfinite(item.imag)
        return repr(item) if plain else f"complex({_number(item.real)}, {_number(item.imag)})"
    return f'float("{item}")' if isinstance(item, float) and not math.isfinite(item) else repr(item)


def _is_tensor(item: Any) -> bool:
    """Whether an array is torch's. (`GpuArray` has the method `stride` too.)"""
    return hasattr(item, "is_contiguous")


def _torch(item: Any, name: str, storage: int) -> str:
    """A tensor as nvFuser writes it; of a dtype that torch cannot draw, a converted one."""
    of = f"dtype={item.dtype}, device='{item.device}'"
    sizes, strides = tuple(item.shape), tuple(item.stride())
    is_dense = item.is_contiguous()
    if name == "float8_e8m0fnu" or name.startswith("float8") and not is_dense:
        return f"torch.randn({storage}, device='{item.device}').to({item.dtype}).as_strided({sizes}, {strides})"
    if is_dense:
        return f"torch.testing.make_tensor({sizes}, {of})"
    if name.startswith(("bool", "int", "uint")):
        return f"torch.randint(0, {2 if name == 'bool' else 10}, ({storage},), {of}).as_strided({sizes}, {strides})"
    return f"torch.randn({storage}, {of}).as_strided({sizes}, {strides})"


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
