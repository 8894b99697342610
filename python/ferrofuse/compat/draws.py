"""Draws of Thunder's regions on CPU tensors: seed and offset are those of torch's default generator.

Thunder draws by a seed and an offset that it reads beforehand, so that a region may draw again what another has drawn. It
reads them of a CUDA generator; here is what reads torch's, in the place of the op and of what runs it.
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
    """The next seed and offset, as integers of 64 bits with a sign; those that are given say only what comes before."""
    if not _is_cpu(device):
        seed, offset = importlib.import_module(TORCH_EXECUTOR)._get_and_update_rng_state_impl(seed, offset, device)
        return seed, offset
    seed, offset = torch_generator.take(1)
    return seed - 2**64 if seed >= 2**63 else seed, offset


def _meta(of_cuda: Any) -> Any:
    """What the op gives, while Thunder traces."""
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
    """What torch's executor runs for the op."""
    implementation, symbol = copy.copy(of_cuda), of_cuda.symbol

    def bind(bound: Any) -> None:
        bound._call_ctx = {symbol.name: _next_state}

    implementation.symbol = dataclasses.replace(symbol, meta=_meta(symbol.meta), _bind_postprocess=bind)
    return implementation


STATE: List[Patch] = [
    Attribute("thunder.core.prims", "get_and_update_rng_state", _op),
    Item(TORCH_EXECUTOR, "ex._implmap", _key, _implementation),
]
