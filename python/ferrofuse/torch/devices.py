"""The devices of regions: each runs on one, the host or a GPU, and may take numbers of the host."""

from typing import Any, Optional, Set

import numpy
import torch

from .._native import to_gpu
from .nodes import is_number, results, row_of
from .rows import Kind

_WORKED: Set[int] = set()  # ordinals of GPUs; others are tried again


def device_of(node: Any) -> Any:
    """The device of a node's result; `None` if that is no tensor."""
    return next((fake.device for fake in results(node)), None)


def is_apart(node: Any, other: Any) -> bool:
    """Do both return tensors, and on different devices?"""
    devices = device_of(node), device_of(other)
    return None not in devices and devices[0] != devices[1]


def mixture(node: Any) -> Optional[str]:
    """Why a node uses several devices; `None` if it uses one, and numbers of the host."""
    own = device_of(node)
    operands = [fake for one in node.all_input_nodes if not is_number(one) for fake in results(one)]
    foreign = [fake for fake in operands if fake.device != own]
    is_led = not operands or len(foreign) < len(operands)  # an operand on its own device determines where it runs
    if own is None or (is_led and all(fake.device.type == "cpu" and fake.ndim == 0 for fake in foreign)):
        return _shown_elsewhere(node)
    return f"tensors on {own} and {foreign[0].device}"


def _shown_elsewhere(node: Any) -> Optional[str]:
    """A reason if work on another device takes a view of this node: the view must be on the device of its memory."""
    row = row_of(node)
    if row is None or row.kind != Kind.VIEW:
        return None
    user = next((user for user in node.users if is_apart(node, user)), None)
    return None if user is None else f"a view of what is on {device_of(node)}, for work on {device_of(user)}"


def missing(device: Any) -> Optional[str]:
    """Why kernels cannot run on a device; `None` if they can."""
    if device.type == "cpu":
        return None
    return _of_gpu(device.index or 0) if device.type == "cuda" else "kernels run on CPUs and NVIDIA's GPUs alone"


def _of_gpu(ordinal: int) -> Optional[str]:
    if ordinal in _WORKED:
        return None
    try:
        to_gpu(numpy.zeros(()), f"cuda:{ordinal}")
    except (RuntimeError, ValueError) as error:
        return str(error)
    _WORKED.add(ordinal)
    return None


def named(device: Any, inputs: Any) -> Optional[str]:
    """The device to name in a call on these fake tensors; `None` if one of them determines it."""
    return None if device.type == "cpu" or any(fake.device == device for fake in inputs) else str(device)
