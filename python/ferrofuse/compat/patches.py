"""Attributes of modules and classes that are replaced, and how all of it is undone."""

import importlib
from dataclasses import dataclass
from typing import Any, Callable, List, Sequence, Tuple

# Restores one thing.
Undo = Callable[[], None]


@dataclass(frozen=True)
class Attribute:
    """An attribute, `NAME` of a module or `CLASS.NAME`, and what makes its replacement."""

    module: str
    name: str
    replacement: Callable[[], Any]

    def owner(self) -> Tuple[Any, str]:
        """What has the attribute, and by which name.

        Raises:
            AttributeError: where it is not there.
        """
        *path, name = self.name.split(".")
        owner: Any = importlib.import_module(self.module)
        for part in path:
            owner = getattr(owner, part)
        getattr(owner, name)
        return owner, name


def apply(attributes: Sequence[Attribute], undo: List[Undo]) -> None:
    """Replaces attributes, in their order, and adds what restores them.

    Raises:
        RuntimeError: naming all that are not there, before any is replaced.
    """
    missing = [f"{attribute.module}.{attribute.name}" for attribute in attributes if not _is_there(attribute)]
    if missing:
        raise RuntimeError(f"ferrofuse.compat does not know this version: there is no {', no '.join(missing)}")
    for attribute in attributes:
        owner, name = attribute.owner()
        undo.append(_restore(owner, name, vars(owner)[name]))
        setattr(owner, name, attribute.replacement())


def undo(steps: List[Undo]) -> None:
    """Restores what was replaced, the latest first."""
    while steps:
        steps.pop()()


def _is_there(attribute: Attribute) -> bool:
    try:
        attribute.owner()
    except (AttributeError, ImportError):
        return False
    return True


def _restore(owner: Any, name: str, old: Any) -> Undo:
    return lambda: setattr(owner, name, old)
