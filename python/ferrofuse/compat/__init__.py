"""Lets programs that import nvFuser run on ferrofuse.

    import ferrofuse.compat

    ferrofuse.compat.install()              # `import nvfuser_direct` finds ferrofuse
    ferrofuse.compat.install(device="cpu")  # and Lightning Thunder's nvFuser executor takes CPU tensors
    ferrofuse.compat.uninstall()            # undoes all of it

`modules` finds `nvfuser_direct`, `patches` replaces and restores attributes, and `thunder` lists those of Thunder.
"""

from typing import Any, List, Optional

from ..tracebacks import public
from . import modules, patches

# The defaults that nvFuser's users expect.
OPTIONS = [
    patches.Attribute("ferrofuse.nvfuser.options", "without_arrays", lambda: "torch"),
    patches.Attribute("ferrofuse.nvfuser.options", "module", lambda: "nvfuser_direct"),
]

_installed: Optional[List[patches.Undo]] = None


@public
def install(device: Any = None) -> None:
    """Lets `import nvfuser_direct` find ferrofuse; calls without arrays then return torch's tensors.

    With `device="cpu"` it imports Lightning Thunder, whose nvFuser executor then takes CPU tensors.

    Raises:
        RuntimeError: if it is installed already, if another nvFuser is imported, or if names of Thunder have moved.
        ImportError: with `device="cpu"`, when Thunder cannot be imported.
        NotImplementedError: for another device.
    """
    global _installed
    if _installed is not None:
        raise RuntimeError("ferrofuse.compat is installed already: call uninstall() before another install()")
    if device is not None and str(device) != "cpu":
        raise NotImplementedError(f"device must be None or 'cpu', but is {device!r}: Thunder on GPUs is not supported yet")
    undo: List[patches.Undo] = []
    try:
        modules.install(undo)
        patches.apply(OPTIONS, undo)
        if device is not None:
            from . import thunder

            thunder.install(undo)
    except BaseException:
        patches.undo(undo)
        raise
    _installed = undo


@public
def uninstall() -> None:
    """Undoes `install`: restores the attributes, and forgets the module `nvfuser_direct`.

    Raises:
        RuntimeError: when nothing is installed.
    """
    global _installed
    if _installed is None:
        raise RuntimeError("ferrofuse.compat is not installed: there is nothing to undo")
    undo, _installed = _installed, None
    patches.undo(undo)


__all__ = ["install", "uninstall"]
