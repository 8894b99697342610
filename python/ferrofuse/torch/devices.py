"""On which devices regions run: each on one, the host or a GPU, to which numbers of the host may come."""

from typing import Any, Optional, Set

import numpy
import torch

from .._native import to_gpu
from .nodes import is_number, results, row_of

_WORKED: Set[int] = set()  # ordinals of GPUs; what fails may work later


def device_of(node: Any) -> Any:
    """The device of what a node gives; none for what gives no tensor."""
    return next((fake.device for fake in results(node)), None)


def is_apart(node: Any, other: Any) -> bool:
    """Do both give tensors, and on different devices?"""
    devices = device_of(node), device_of(other)
    return None not in devices and devices[0] != devices[1]


def mixture(node: Any) -> Optional[str]:
    """Why a node is work of several devices; none where it is one's, and what else comes in are numbers of the host."""
    own = device_of(node)
    operands = [fake for one in node.all_input_nodes if not is_number(one) for fake in results(one)]
    foreign = [fake for fake in operands if fake.device != own]
    is_led = not operands or len(foreign) < len(operands)  # one of its own device says where it runs
    if own is None or (is_led and all(fake.device.type == "cpu" and fake.ndim == 0 for fake in foreign)):
        return _shown_elsewhere(node)
    return f"tensors on {own} and {foreign[0].device}"


def _shown_elsewhere(node: Any) -> Optional[str]:
    """A view that work of another device takes is made where its memory is."""
    row = row_of(node)
    if row is None or row.kind != "view":
        return None
    user = next((user for user in node.users if is_apart(node, user)), None)
    return None if user is None else f"a view of what is on {device_of(node)}, for work on {device_of(user)}"


def missing(device: Any) -> Optional[str]:
    """What keeps kernels from running on a device; none where they can."""
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
    """What a call on these fake tensors is to be told of its device: nothing, if one of them says it."""
    return None if device.type == "cpu" or any(fake.device == device for fake in inputs) else str(device)
