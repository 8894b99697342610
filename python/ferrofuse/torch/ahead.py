"""Compiles the kernels of regions on background threads, for the sizes of the trace, while tracing goes on.

A call that comes before its kernels are compiled waits for them. An error here occurs again in the call, which reports it.
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
    """Starts compiling a region's kernels for its fake tensors; does nothing for those of another device."""
    fakes = [node.meta["val"] for node in inputs]
    if all(fake.device.type == "cpu" for fake in fakes):
        forms = [([*map(hint, fake.shape)], [*map(hint, fake.stride())], fake.dtype) for fake in fakes]
        threads().submit(_compile, executable, forms)


def threads() -> Executor:
    """The threads that compile, one for each processor."""
    global _threads
    _threads = _threads or ThreadPoolExecutor(os.cpu_count(), "ferrofuse-ahead")
    return _threads


def _reset_in_child() -> None:
    """The threads of a process are not in its forks."""
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_reset_in_child)


def _compile(executable: Any, forms: Sequence[Any]) -> List[Any]:
    """Compiles for tensors of these sizes, strides and dtypes, without reading memory."""
    try:
        tensors = [torch.empty_strided(sizes, strides, dtype=dtype) for sizes, strides, dtype in forms]
        return list(executable.output_types(tensors))
    except Exception as error:
        log.debug("a region was not compiled ahead: %s", error)
        return []
