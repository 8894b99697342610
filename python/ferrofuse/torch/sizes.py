"""Sizes of torch as sizes of a definition: numbers, sizes of its inputs, expressions over those, scalar inputs."""

from functools import reduce
from typing import Any, Callable, Container, Dict, List, Sequence, Tuple

import sympy
import torch

from .._native import DataType, TensorView
from .rows.row import Size, Unsupported


def expression(size: Any) -> Any:
    """The expression of a size, or another number, over the symbols of the graph."""
    symbolic = isinstance(size, (torch.SymInt, torch.SymFloat, torch.SymBool))
    return size.node.expr if symbolic else sympy.sympify(size)


def hint(size: Any) -> int:
    """The value of a size in the call that is compiled for."""
    if isinstance(size, torch.SymInt):
        node: Any = size.node
        return int(node.hint)
    return int(size)


class Sizes:
    """The sizes that a definition knows. Other scalars that it needs become inputs on request.

    `available` are the expressions that a call can pass as scalars.

    Attributes:
        scalars: the expressions of these inputs, in their order.
    """

    def __init__(self, fd: Any, tensors: Sequence[Tuple[Any, TensorView]], available: Container[Any]) -> None:
        self.scalars: List[Any] = []
        self._fd, self._available = fd, available
        self._known: Dict[Any, Callable[[], Any]] = {}
        self._made: Dict[Any, Any] = {}
        for fake, tensor in tensors:
            for dim, size in enumerate(fake.shape):
                self._known.setdefault(expression(size), lambda tensor=tensor, dim=dim: tensor.size(dim))  # type: ignore[misc]

    def __call__(self, size: Any) -> Size:
        """The size in the definition."""
        known: Size = self._of(expression(size))
        return known

    def scalar(self, expr: Any, dtype: DataType) -> Any:
        """A scalar input of the definition."""
        if expr not in self._available:
            raise Unsupported(f"the size {expr}, which neither an input nor an argument tells")
        if expr not in self._made:
            self.scalars.append(expr)
            self._made[expr] = self._fd.define_scalar(None, dtype)
        return self._made[expr]

    def _of(self, expr: Any) -> Any:
        if expr.is_Integer:
            return int(expr)
        if expr not in self._made:
            self._made[expr] = self._make(expr)
        return self._made[expr]

    def _make(self, expr: Any) -> Any:
        if expr in self._known:
            return self._known[expr]()
        parts = _parts(expr)
        if parts and all(map(self._follows, parts)):
            op = self._fd.ops.add if isinstance(expr, sympy.Add) else self._fd.ops.mul
            return reduce(op, map(self._of, parts))
        return self.scalar(expr, DataType.Int)

    def _follows(self, expr: Any) -> bool:
        """Is it known without a further input?"""
        parts = _parts(expr)
        known = expr.is_Integer or expr in self._known or expr in self._made
        return known or (bool(parts) and all(map(self._follows, parts)))


def _parts(expr: Any) -> Sequence[Any]:
    """The terms of a sum or the factors of a product; a power has its base as many times as its exponent says."""
    if isinstance(expr, sympy.Pow) and expr.exp.is_Integer and expr.exp > 1:
        return [expr.base] * int(expr.exp)
    return expr.args if isinstance(expr, (sympy.Add, sympy.Mul)) else ()

