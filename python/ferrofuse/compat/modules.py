"""Lets `import` find `nvfuser_direct` and `nvfuser` in the folder `packages`."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, List, Optional

from .patches import Undo

NAMES = ("nvfuser_direct", "nvfuser")
FOLDER = Path(__file__).parent / "packages"


class Finder:
    """Finds our modules before installed ones of the same names."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[ModuleSpec]:
        """The spec of a module if it is one of ours. Submodules are found in its folder."""
        return PathFinder.find_spec(name, [str(FOLDER)]) if name in NAMES else None


def install(undo: List[Undo]) -> None:
    """Lets `import` find the modules.

    Raises:
        RuntimeError: when a module with such a name is imported already.
    """
    for name in NAMES:
        if name in sys.modules:
            place = getattr(sys.modules[name], "__file__", None) or "an unknown file"
            raise RuntimeError(f"install() must come before `import {name}`: another is imported already, from {place}")
    finder: Any = Finder()
    undo.append(_forget)
    undo.append(lambda: sys.meta_path.remove(finder))
    sys.meta_path.insert(0, finder)


def _forget() -> None:
    """Drops the modules, so that the next import finds the installed ones."""
    for name in [name for name in sys.modules if name.split(".")[0] in NAMES]:
        del sys.modules[name]
    for folder in [folder for folder in sys.path_importer_cache if folder.startswith(str(FOLDER))]:
        del sys.path_importer_cache[folder]
