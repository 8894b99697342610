"""Ops on lists of tensors, which optimizers use on GPUs, as ops on single tensors."""

from typing import Any, Callable, Dict, List

import torch

# Names for which torch's op on one tensor has another name.
_ALIKE = """abs acos add asin atan ceil clamp_max clamp_min cos cosh div erf erfc exp expm1 floor frac lerp lgamma log log10 log1p
log2 max mul neg pow reciprocal round rsqrt sigmoid sign sin sinh sqrt sub tan tanh trunc"""


def _addcmul(x: Any, first: Any, second: Any, value: Any = 1) -> Any:
    return torch.addcmul(x, first, second, value=value)


def _addcdiv(x: Any, first: Any, second: Any, value: Any = 1) -> Any:
    return torch.addcdiv(x, first, second, value=value)


def _norm(x: Any, ord: Any = 2, dtype: Any = None) -> Any:
    return torch.linalg.vector_norm(x, ord, dtype=dtype)


_OTHERS: Dict[str, Callable[..., Any]] = {
    "addcmul": _addcmul,
    "addcdiv": _addcdiv,
    "copy": torch.ops.aten.copy.default,
    "maximum": torch.clamp_min,  # which takes numbers too
    "minimum": torch.clamp_max,
    "norm": _norm,
    "zero": torch.zeros_like,
}
_ONE: Dict[str, Callable[..., Any]] = {**{name: getattr(torch, name) for name in _ALIKE.split()}, **_OTHERS}


def table() -> Dict[Any, Callable[..., Any]]:
    """Decompositions by op. An op whose scalars are in a tensor stays whole."""
    packets = ((one, getattr(torch.ops.aten, f"_foreach_{name}", None)) for name, one in _ONE.items())
    overloads = ((one, getattr(packet, each)) for one, packet in packets if packet for each in packet.overloads())
    return {op: _one_by_one(one) for one, op in overloads if _is_decomposed(op)}


def _is_decomposed(op: Any) -> bool:
    scalars = [argument.name == "scalars" and str(argument.type) == "Tensor" for argument in op._schema.arguments]
    return len(op._schema.returns) == 1 and not any(scalars) and not op._schema.is_mutable


def _one_by_one(one: Callable[..., Any]) -> Callable[..., List[Any]]:
    def decomposed(*arguments: Any, **keywords: Any) -> List[Any]:
        [length] = {len(each) for each in arguments if isinstance(each, (list, tuple))}
        pick = [[each[at] if isinstance(each, (list, tuple)) else each for each in arguments] for at in range(length)]
        return [one(*picked, **keywords) for picked in pick]

    return decomposed
