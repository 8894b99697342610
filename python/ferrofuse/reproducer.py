"""Scripts that reproduce a call: the definition, and tensors of torch of the same dtypes, sizes and strides."""

from typing import Any, Optional, Sequence

from .array_types import describe


def script(definition: str, inputs: Optional[Sequence[Any]]) -> str:
    """A script that runs by itself, and that `ferrofuse run` reads too."""
    lines = ["import torch", "from ferrofuse import DataType, FusionDefinition", "", definition.rstrip(), ""]
    lines += ["with FusionDefinition() as fd:", "    nvfuser_fusion(fd)"]
    if inputs is not None:
        lines += ["", "inputs = ["] + [f"    {_input(item)}," for item in _flattened(inputs)] + ["]"]
        lines += ["fd.execute(inputs)"]
    return "\n".join(lines) + "\n"


def _flattened(inputs: Sequence[Any]) -> Sequence[Any]:
    return [item for given in inputs for item in (given if type(given) in (list, tuple) else (given,))]


def _input(item: Any) -> str:
    if not hasattr(item, "shape"):
        return repr(item)
    sizes, strides, dtype = describe(item)
    strides = [abs(stride) for stride in strides]  # torch has no others
    storage = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides)) if 0 not in sizes else 0
    name = f"torch.{dtype.numpy_name}"
    if dtype.numpy_name == "bool":
        made = f"torch.randint(0, 2, ({storage},)).to({name})"
    elif dtype.numpy_name.startswith(("int", "uint")):
        made = f"torch.randint(0, 10, ({storage},), dtype={name})"
    else:
        made = f"torch.randn({storage}, dtype={name})"
    return f"{made}.as_strided({tuple(sizes)}, {tuple(strides)})"
