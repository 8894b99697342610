"""nvFuser's module under its own name, on ferrofuse: `import nvfuser_direct` finds it after
`ferrofuse.compat.install()`."""

from ferrofuse import *  # noqa: F403
from ferrofuse import __getattr__, pytorch_utils  # noqa: F401  missing names raise the reason

from .nvfuser_direct_version import __version__, version  # noqa: F401
