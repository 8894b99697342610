"""Random numbers of Thunder's regions on CPU tensors, with the seed and offset of torch's default generator.

Thunder draws with a seed and an offset that it reads beforehand, so that one region can repeat the draws of another. It
reads them from a CUDA generator; this module replaces that op and its implementation by ones that read torch's CPU
generator.
"""

import copy
import dataclasses
import importlib
from typing import Any, List, Tuple

from .. import torch_generator
from .patches import Attribute, Item, Patch

TORCH_EXECUTOR = "thunder.executors.torchex"


def _is_cpu(device: Any) -> bool:
    return device.devicetype is importlib.import_module("thunder.core.devices").DeviceType.CPU


def _next_state(seed: Any, offset: Any, device: Any) -> Tuple[int, int]:
    """The next seed and offset, as signed 64-bit integers; the arguments only order it after earlier draws."""
    if not _is_cpu(device):
        seed, offset = importlib.import_module(TORCH_EXECUTOR)._get_and_update_rng_state_impl(seed, offset, device)
        return seed, offset
    seed, offset = torch_generator.take(1)
    return seed - 2**64 if seed >= 2**63 else seed, offset


def _meta(of_cuda: Any) -> Any:
    """The results of the op while Thunder traces."""
    from thunder.core.proxies import numberproxy  # pyright: ignore[reportMissingImports]

    def meta(seed: Any, offset: Any, device: Any) -> Any:
        if not _is_cpu(device):
            return of_cuda(seed, offset, device)
        return numberproxy(int, None), numberproxy(int, None)

    return meta


def _op() -> Any:
    op = importlib.import_module("thunder.core.prims").get_and_update_rng_state
    return dataclasses.replace(op, meta=_meta(op.meta))


def _key() -> Any:
    return importlib.import_module("thunder.core.prims").PrimIDs.GET_AND_UPDATE_RNG_STATE


def _implementation(of_cuda: Any) -> Any:
    """The implementation of the op in torch's executor."""
    implementation, symbol = copy.copy(of_cuda), of_cuda.symbol

    def bind(bound: Any) -> None:
        bound._call_ctx = {symbol.name: _next_state}

    implementation.symbol = dataclasses.replace(symbol, meta=_meta(symbol.meta), _bind_postprocess=bind)
    return implementation


STATE: List[Patch] = [
    Attribute("thunder.core.prims", "get_and_update_rng_state", _op),
    Item(TORCH_EXECUTOR, "ex._implmap", _key, _implementation),
]
