"""Lightning Thunder's nvFuser executor on CPU tensors.

Thunder makes the executor only if CUDA is available, and requires each tensor to be on such a device. This module has the
names of Thunder that decide that, each with its replacement. An attribute that has moved is an error, which names it.
"""

import importlib
import sys
from typing import Any, List

from ..nvfuser_direct_version import version
from . import draws
from .patches import Attribute, Insertion, Patch, Undo, apply

EXECUTOR = "thunder.executors.nvfuserex_impl"


def install(undo: List[Undo]) -> None:
    """Makes the executor and adds it to the default ones.

    Raises:
        ImportError: when Thunder cannot be imported.
        RuntimeError: when names of Thunder have moved.
    """
    try:
        importlib.import_module("thunder")
    except ImportError as error:
        raise ImportError(
            f'install(device="cpu") is for Lightning Thunder, which cannot be imported ({error}): '
            "install() alone serves programs that import nvfuser_direct"
        ) from error
    apply(DETECTION, undo)
    _make_executor(undo)
    apply(EXECUTION, undo)


def _make_executor(undo: List[Undo]) -> None:
    """Imports the module that makes the executor, together with other modules of Thunder."""
    before = set(sys.modules)
    try:
        importlib.import_module(EXECUTOR)
    except ImportError as error:
        raise RuntimeError(f"ferrofuse.compat does not know this version of Thunder: {EXECUTOR}: {error}") from error
    finally:
        brought = [name for name in sys.modules if name not in before and name.startswith("thunder.")]
        undo.append(lambda: _forget(brought))


def _forget(brought: List[str]) -> None:
    """Drops modules, and unregisters the executor."""
    importlib.import_module("thunder.extend")._executor_map.pop("nvfuser", None)
    for name in brought:
        sys.modules.pop(name, None)
        parent, _, child = name.rpartition(".")
        vars(sys.modules[parent]).pop(child, None)


def _version() -> Any:
    from looseversion import LooseVersion  # pyright: ignore[reportMissingImports]

    return lambda: LooseVersion(version())


def _executor() -> Any:
    return importlib.import_module(EXECUTOR).ex


def _before_torch(executors: List[Any]) -> int:
    """The position at which Thunder puts the executor if there is CUDA."""
    names = [executor.name for executor in executors]
    return names.index("torch") if "torch" in names else len(names)


def _is_supported_device() -> Any:
    return lambda device: _is_supported_devicetype()(device.devicetype)


def _is_supported_devicetype() -> Any:
    from thunder.core.devices import DeviceType  # pyright: ignore[reportMissingImports]

    return lambda devicetype: devicetype is DeviceType.CPU


def _is_supported_tensor() -> Any:
    implementation = importlib.import_module(EXECUTOR)

    def is_supported_tensor(a: Any, *, allow_low_precision_floats: bool = True) -> bool:
        dtype = implementation.is_supported_dtype(a.dtype, allow_low_precision_floats=allow_low_precision_floats)
        return bool(dtype) and a.ndim <= 8 and _is_supported_device()(a.device)

    return is_supported_tensor


def _has_tensor() -> Any:
    from thunder.core.proxies import TensorProxy  # pyright: ignore[reportMissingImports]

    def has_tensor(self: Any, bsym: Any) -> bool:
        return any(isinstance(proxy, TensorProxy) for proxy in (*bsym.flat_proxy_args, *bsym.flat_proxy_outs))

    return has_tensor


def _attention_choice() -> Any:
    from thunder.executors.utils import SpdaBackend  # pyright: ignore[reportMissingImports]

    return lambda *args, **kwargs: SpdaBackend.FLASH_ATTENTION


def _supports_bytes() -> Any:
    """Whether torch exports its floats of one byte to other libraries: 2.9 does not, so Thunder leaves them to torch."""
    import torch

    try:
        torch.zeros(1, dtype=torch.float8_e5m2).__dlpack__()
    except (BufferError, RuntimeError):
        return lambda: False
    return lambda: True


def _always(answer: Any) -> Any:
    return lambda: lambda *args, **kwargs: answer


# Names that Thunder reads when the module of the executor is imported.
DETECTION: List[Patch] = [Attribute("thunder.executors.nvfuserex", "nvfuser_version", _version)]

# The executors, the arguments that they accept, and their behaviour without CUDA.
EXECUTION: List[Patch] = [
    Attribute("thunder.executors.nvfuserex", "nvfuserex", _executor),
    Attribute("thunder", "nvfuser_executor", _executor),
    Insertion("thunder.extend", "_default_executors", _executor, _before_torch),
    Attribute(EXECUTOR, "is_supported_device", _is_supported_device),
    Attribute(EXECUTOR, "is_supported_devicetype", _is_supported_devicetype),
    Attribute(EXECUTOR, "is_supported_tensor", _is_supported_tensor),
    Attribute(EXECUTOR, "device_supports_fp8", _supports_bytes),
    Attribute(EXECUTOR, "nvFuserExecutor.has_cuda_input_or_output", _has_tensor),
    Attribute(EXECUTOR, "_select_device", _always(None)),
    Attribute(EXECUTOR, "_fused_sdp_choice", _attention_choice),
    Attribute("thunder.examine", "warn_fusions", _always(False)),
    *draws.STATE,
]
