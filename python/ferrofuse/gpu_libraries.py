"""What a call on a GPU asks of a library with streams. Each class imports its library when it is created.

`stream` returns the library's current stream, a `CUstream` as a number. `empty` returns an array in the library's own memory,
and its address. torch's `draw` returns the seed and offset of random numbers.
"""

import math
from typing import Any, Dict, Sequence, Tuple, Type, Union


def _no_stream(ordinal: int) -> int:
    raise RuntimeError(f"torch was built without CUDA: it has no stream on cuda:{ordinal}")


class Torch:
    """torch, whose streams, memory and generators are those of `torch.cuda`."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        self._dtypes: Dict[str, Any] = {}
        self._devices: Dict[int, Any] = {}
        # As Inductor allocates memory: on torch's current device, without the dispatcher.
        guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
        self._on_current = getattr(guards, "_empty_strided_cuda", None)
        self.stream = getattr(torch._C, "_cuda_getCurrentRawStream", _no_stream)

    def empty(self, sizes: Sequence[int], strides: Sequence[int], dtype: str, ordinal: int) -> Tuple[Any, int]:
        torch_dtype = self._dtypes.get(dtype) or self._dtypes.setdefault(dtype, getattr(self._torch, dtype))
        if self._on_current is not None and self._torch._C._cuda_getDevice() == ordinal:
            made = self._on_current(sizes, strides, torch_dtype)
        else:
            device = self._devices.get(ordinal) or self._devices.setdefault(ordinal, self._torch.device("cuda", ordinal))
            made = self._torch.empty_strided(sizes, strides, dtype=torch_dtype, device=device)
        return made, made.data_ptr()

    def draw(self, draws: int, ordinal: int) -> Tuple[int, int]:
        generator = self._torch.cuda.default_generators[ordinal]
        offset = generator.get_offset()
        generator.set_offset(offset + 4 * math.ceil(draws / 4))  # torch counts in fours
        return generator.initial_seed() % 2**64, offset


class CuPy:
    """CuPy, which allocates from its own pool."""

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found]

        self._cupy = cupy

    def stream(self, ordinal: int) -> int:
        with self._cupy.cuda.Device(ordinal):
            return int(self._cupy.cuda.get_current_stream().ptr)

    def empty(self, sizes: Sequence[int], strides: Sequence[int], dtype: str, ordinal: int) -> Tuple[Any, int]:
        import numpy

        itemsize = numpy.dtype(dtype).itemsize
        elements = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
        with self._cupy.cuda.Device(ordinal):
            memory = self._cupy.cuda.alloc(0 if 0 in sizes else elements * itemsize)
            made = self._cupy.ndarray(sizes, dtype, memory, strides=[stride * itemsize for stride in strides])
        return made, made.data.ptr


OF: Dict[str, Union[Type[Torch], Type[CuPy]]] = {"torch": Torch, "cupy": CuPy}
