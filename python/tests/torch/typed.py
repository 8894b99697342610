"""What the types say of programs: checked by mypy and pyright, not run."""

from typing import Any, List, Tuple

import numpy as np

from ferrofuse import DataType, DefinitionError, Fusion, FusionDefinition, FusionGuard, LruFusionCache, TensorView, Val, ops


def definition(width: int) -> FusionDefinition:
    with FusionDefinition() as fd:
        x: TensorView = fd.define_tensor(shape=[-1, width], contiguity=True, dtype=DataType.Float)
        y: TensorView = fd.define_tensor(sizes=[2, width], strides=[width, 1], dtype=DataType.Float)
        factor: Val = fd.define_scalar(2.0)
        sizes: List[Val] = fd.define_vector(2)
        total: TensorView = fd.ops.sum(x * 2.0 + y, dims=[1], keepdim=True)
        same: TensorView = fd.ops.sum(x, dim=1)
        moments: Tuple[TensorView, TensorView] = fd.ops.var_mean(x, dims=[1])
        scaled: TensorView = fd.ops.mul(factor, x)
        number: Val = fd.ops.mul(factor, 3.0)
        grown: TensorView = fd.ops.broadcast_in_dim(same, [sizes[0], sizes[1]], [0])
        folded = fd.ops.fold(x, lambda a, b: fd.ops.maximum(a, b), init=0.0, dims=[0])
        above: TensorView = (x > 1.0) & ~(y == x) | (number < x)
        for output in (total, same, *moments, scaled, grown, folded, above, -x, abs(x), x @ y, 1 - x):
            fd.add_output(output)
        fd.add_output(x, alias_input=y)
    return fd


@LruFusionCache(max_fusions=4)
def cached(width: int) -> FusionDefinition:
    return definition(width)


def use() -> str:
    outputs: List[Any] = definition(4).execute([np.zeros((2, 4), np.float32)])
    try:
        cached(3)
    except DefinitionError as error:
        return f"{error.op} {error.argument} {error.line}"
    with FusionGuard(Fusion()):
        ops.neg(1.0)
    text: str = repr(definition(4).explain().to_dict()["segments"])
    return text + str(len(outputs))
