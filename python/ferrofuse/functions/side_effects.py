"""Side effects of a function on its closure, its globals and its defaults.

A fused function runs once for many calls: appending to a list would happen once, with a tensor of a definition.
"""

import ast
import inspect
import textwrap
from collections import deque
from typing import Any, Callable, Dict, List, Optional, Tuple

_CONTAINERS = (list, dict, set, deque)
_CHANGING = "append appendleft add clear discard extend insert pop popitem popleft remove setdefault update".split()
_Items = List[Tuple[int, int]]


class OuterNames:
    """Names that a function uses besides its arguments, with their values before it is traced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._before = {name: (value, _items(value)) for name, value in _outer_values(function).items()}

    def changed(self) -> Optional[str]:
        """A name that now has another value, or a container with other items; None if there is none."""
        now = _outer_values(self._function)
        for name, (value, items) in self._before.items():
            if now.get(name) is not value or _items(value) != items:
                return name
        return None

    def line_of(self, name: str) -> int:
        """The line of the function that changes this name, or its first line if none is found."""
        code = self._function.__code__
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(self._function)))
        except (OSError, SyntaxError):
            return code.co_firstlineno
        lines = [node.lineno for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.expr)) and _changes(node, name)]
        return code.co_firstlineno + min(lines, default=1) - 1


def _outer_values(function: Callable[..., Any]) -> Dict[str, Any]:
    """The current values of the names that a function uses besides its arguments, and of its defaults."""
    code = function.__code__
    values = {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # nothing is bound to it yet
            continue
    parameters = inspect.signature(function).parameters
    defaults = {name: each.default for name, each in parameters.items() if each.default is not each.empty}
    return {**defaults, **values}


def _items(value: Any) -> Optional[_Items]:
    """The identities of a container's items; None for other values."""
    if isinstance(value, dict):
        return [(id(key), id(item)) for key, item in value.items()]
    return [(id(item), 0) for item in value] if isinstance(value, _CONTAINERS) else None


def _changes(node: ast.AST, name: str) -> bool:
    def is_named(tree: Optional[ast.AST]) -> bool:
        return isinstance(tree, ast.Name) and tree.id == name

    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGING and is_named(node.func.value)
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return isinstance(node, (ast.Assign, ast.AugAssign)) and any(
        is_named(target) or (isinstance(target, ast.Subscript) and is_named(target.value)) for target in targets
    )
