"""nvFuser's module by its own name, on ferrofuse: what `ferrofuse.compat.install()` lets `import nvfuser_direct` find."""

from ferrofuse import *  # noqa: F403
from ferrofuse import __getattr__, pytorch_utils  # noqa: F401  names that are not there say why

from .nvfuser_direct_version import __version__, version  # noqa: F401
