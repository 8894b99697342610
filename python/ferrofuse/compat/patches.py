"""Replacements in other modules, which can be undone.

Undoing keeps the entries that others have added to a mapping or a list.
"""

import importlib
from dataclasses import dataclass
from typing import Any, Callable, List, Sequence, Tuple, Union

# Restores one replaced thing.
Undo = Callable[[], None]


def _owner(module: str, path: str) -> Tuple[Any, str]:
    """The object that has the attribute `NAME` or `OBJECT.NAME` of a module, and the attribute's own name.

    Raises:
        AttributeError, ImportError: when it does not exist.
    """
    *path_of_owner, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in path_of_owner:
        owner = getattr(owner, part)
    getattr(owner, name)
    return owner, name


@dataclass(frozen=True)
class Attribute:
    """An attribute, `NAME` of a module or `CLASS.NAME`, and a function that makes its replacement."""

    module: str
    name: str
    replacement: Callable[[], Any]

    def current(self) -> Any:
        """The current value."""
        return getattr(*_owner(self.module, self.name))

    def apply(self) -> Undo:
        """Replaces it."""
        owner, name = _owner(self.module, self.name)
        old = vars(owner)[name]
        setattr(owner, name, self.replacement())
        return lambda: setattr(owner, name, old)


@dataclass(frozen=True)
class Item:
    """An item of a mapping, and a function that makes its replacement from the old value."""

    module: str
    name: str
    key: Callable[[], Any]
    replacement: Callable[[Any], Any]

    def current(self) -> Any:
        """The current value."""
        return getattr(*_owner(self.module, self.name))[self.key()]

    def apply(self) -> Undo:
        """Replaces it."""
        mapping, key = getattr(*_owner(self.module, self.name)), self.key()
        old = mapping[key]
        mapping[key] = self.replacement(old)
        return lambda: mapping.__setitem__(key, old)


@dataclass(frozen=True)
class Insertion:
    """An element of a list that is inserted at an index."""

    module: str
    name: str
    element: Callable[[], Any]
    index: Callable[[List[Any]], int]

    def _list(self) -> List[Any]:
        elements: List[Any] = getattr(*_owner(self.module, self.name))
        return elements

    def apply(self) -> Undo:
        """Inserts it."""
        element, list_then = self.element(), self._list()
        list_then.insert(self.index(list_then), element)

        def undo() -> None:
            list_now = self._list()
            if element in list_now:
                list_now.remove(element)

        return undo


Patch = Union[Attribute, Item, Insertion]


def apply(patches: Sequence[Patch], undo: List[Undo]) -> None:
    """Makes these replacements in order, and appends the steps that restore the old values.

    Raises:
        RuntimeError: with all names that do not exist, before anything is replaced.
    """
    missing = [f"{patch.module}.{patch.name}" for patch in patches if not _is_there(patch)]
    if missing:
        raise RuntimeError(f"ferrofuse.compat does not know this version: there is no {', no '.join(missing)}")
    for patch in patches:
        undo.append(patch.apply())


def undo(steps: List[Undo]) -> None:
    """Restores the old values, the latest replacement first."""
    while steps:
        steps.pop()()


def _is_there(patch: Patch) -> bool:
    try:
        _owner(patch.module, patch.name)
    except (AttributeError, ImportError):
        return False
    return True
