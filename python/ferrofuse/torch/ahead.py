"""Compiles the kernels of regions on threads of their own, for the sizes that are traced with, while tracing goes on.

A call that comes before its kernels are there waits for them. What fails here fails again, and is reported, in the call.
"""

import logging
import os
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, List, Optional, Sequence

import torch

from .sizes import hint

log = logging.getLogger(__name__)

_threads: Optional[ThreadPoolExecutor] = None


def compile_ahead(executable: Any, inputs: Sequence[Any]) -> None:
    """Has a region's kernels compiled for the fake tensors that come in; does nothing for those of another device."""
    fakes = [node.meta["val"] for node in inputs]
    if all(fake.device.type == "cpu" for fake in fakes):
        forms = [([*map(hint, fake.shape)], [*map(hint, fake.stride())], fake.dtype) for fake in fakes]
        threads().submit(_compile, executable, forms)


def threads() -> Executor:
    """The threads that compile, one for each processor."""
    global _threads
    _threads = _threads or ThreadPoolExecutor(os.cpu_count(), "ferrofuse-ahead")
    return _threads


def _compile(executable: Any, forms: Sequence[Any]) -> List[Any]:
    """Compiles for tensors of these sizes, strides and dtypes, whose memory nobody touches."""
    try:
        tensors = [torch.empty_strided(sizes, strides, dtype=dtype) for sizes, strides, dtype in forms]
        return list(executable.output_types(tensors))
    except Exception as error:
        log.debug("a region was not compiled ahead: %s", error)
        return []
