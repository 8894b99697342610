"""A backend of `torch.compile`.

    model = torch.compile(model, backend="ferrofuse", options={"min_ops": 2})

It is found without an import. Elementwise ops, folds and data movement run in kernels of ours; products of matrices,
attention, convolutions and sorts stay torch's. `docs/torch.md` describes it.
"""

from .backend import backend
from .compiler import UnsupportedError
from .explain import Compiled, explain
from .options import Options

__all__ = ["Compiled", "Options", "UnsupportedError", "backend", "explain"]
